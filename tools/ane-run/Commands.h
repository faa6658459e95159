//===- Commands.h - what ane-run does --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_COMMANDS_H
#define ANEC_TOOLS_ANE_RUN_COMMANDS_H

#include "BackendChoice.h"
#include "anec/MIL/Reader.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// A MIL program and the function of it to run.
struct LoadedProgram {
  std::unique_ptr<Module> module;
  const Function *function = nullptr;
};

/// Reads the program at `path`, with `shapes` for inputs of unknown extents,
/// and picks `wanted`, or its only function. With `onlyToLook`, its weight
/// files need not be there.
std::optional<LoadedProgram> loadProgram(llvm::StringRef path,
                                         llvm::StringRef wanted,
                                         std::vector<InputShape> shapes,
                                         bool onlyToLook, Diagnostics &diags);

struct RunOptions {
  BackendChoice backend;
  LoadOptions load;
  std::vector<std::string> inputs;
  std::vector<std::string> states;
  std::string outputDir;
  /// Also evaluate the program in double precision and print the error.
  bool compare = false;
  /// Print what the emulated engine got wrong.
  bool reportHazards = false;
};
/// Runs once and prints what came out; writes every output, and what every
/// state holds then, to `outputDir` if there is one.
bool runOnce(const LoadedProgram &program, const RunOptions &options,
             llvm::raw_ostream &out, Diagnostics &diags);

struct BenchOptions {
  BackendChoice backend;
  LoadOptions load;
  std::vector<std::string> inputs;
  std::vector<std::string> states;
  unsigned iterations = 100;
  unsigned warmup = 10;
  bool json = false;
  /// Also print what each step of the program took.
  bool profile = false;
};
/// Times runs and prints median, minimum and 95th percentile.
bool bench(const LoadedProgram &program, const BenchOptions &options,
           llvm::raw_ostream &out, Diagnostics &diags);

/// Prints inputs, outputs, ops, floating-point operations and bytes.
void printInfo(const LoadedProgram &program, bool json, llvm::raw_ostream &out);

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

struct PackageRunOptions {
  BackendChoice backend;
  LoadOptions load;
  WeightOptions weights;
  /// The entry; empty for the one that trains when there are gradients to write
  /// or to time, and the forward otherwise.
  std::string entry;
  std::vector<std::string> inputs;
  std::string outputDir;
  /// A folder, or a .safetensors file; empty for no gradients.
  std::string gradients;
  unsigned iterations = 10, warmup = 2;
  bool json = false, profile = false;
};
/// Runs a package's entry once.
bool runPackage(llvm::StringRef path, const PackageRunOptions &options,
                llvm::raw_ostream &out, Diagnostics &diags);
/// Times an entry: forward, backward, and host ops among both.
bool benchPackage(llvm::StringRef path, const PackageRunOptions &options,
                  llvm::raw_ostream &out, Diagnostics &diags);
/// Prints a package's kernels, and what each takes, gives and costs.
bool printPackageInfo(llvm::StringRef path, bool json, llvm::raw_ostream &out,
                      Diagnostics &diags);

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

struct TokenizeOptions {
  std::string tokenizer; ///< as openTokenizer takes it
  std::string output;    ///< a file for ids of 16 bits; empty to print them
  bool decode = false;   ///< from ids to text
};
/// Prints the ids of the text at `path`, or writes them to a file of tokens.
bool tokenize(llvm::StringRef path, const TokenizeOptions &options,
              llvm::raw_ostream &out, Diagnostics &diags);

/// Writes arrays to `folder`/NAME.npy.
bool writeOutputs(llvm::ArrayRef<Port> ports,
                  llvm::ArrayRef<ConstantRef> values, llvm::StringRef folder,
                  Diagnostics &diags);
/// Shape, smallest, largest and mean of an array, for a look at the result.
void printSummary(const Port &port, const Constant &value,
                  llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_COMMANDS_H
