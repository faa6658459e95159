//===- ProgramFlags.h - flags of commands that take a program ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H
#define ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H

#include "../FixFlag.h"
#include "../NumberFlag.h"
#include "../PartFlag.h"
#include "../ShapeFlag.h"
#include "anec/MIL/ModelDescription.h"
#include "anec/MIL/Reader.h"
#include "anec/Package/WeightBinding.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// A MIL program and the function of it to run.
struct LoadedProgram {
  std::unique_ptr<Module> module;
  const Function *function = nullptr;
  ModelDescription description;

  /// Null when the program says nothing about the function.
  const FunctionDescription *functionDescription() const {
    return description.find(function->name);
  }
};

/// Which program, and which function of it.
struct ProgramFlags {
  llvm::cl::opt<std::string> program{llvm::cl::Positional};
  llvm::cl::opt<std::string> function{
      "function", llvm::cl::value_desc("NAME"),
      llvm::cl::desc("The function, if there are several (default: that of a "
                     "Core ML package)")};
  WholeFlag<int64_t> instance{
      "instance", llvm::cl::value_desc("N"),
      llvm::cl::desc("The instance of a repeated layer, for a kernel of a "
                     "package: x.anepkg/kernels/attention.mil")};
  PartFlag part;
  ShapeFlag shapes{"The shape of an input with unknown extents (default: that "
                   "of its .npy file, or the program's default)"};
  FixFlag fixed;
  /// `fixed` is of the model that the program was made of.
  bool fixesReference = false;
  /// No element of a weight is read.
  bool looksAtNoElements = false;

  /// The error in the flags; empty when they are valid.
  std::string check() const;
  /// Whether the program is a package.
  bool isPackage() const;
  /// Reads the program and finds the function. Inputs of unknown extents have
  /// the shapes of --shape, or else of the .npy files in `inputs`. With
  /// `onlyToLook`, weights need no values. Returns nothing, with the reason
  /// reported, on failure.
  [[nodiscard]] std::optional<LoadedProgram>
  load(llvm::ArrayRef<std::string> inputs, bool onlyToLook,
       Diagnostics &diags) const;
};

/// The inputs that a program is run on.
struct InputFlags {
  llvm::cl::list<std::string> inputs{
      "input", llvm::cl::value_desc("NAME=SOURCE"),
      llvm::cl::desc("An input: a .npy file, random:SEED, zeros, ones, or "
                     "bytes:FILE")};
  llvm::cl::list<std::string> states{
      "state", llvm::cl::value_desc("NAME=SOURCE"),
      llvm::cl::desc(
          "The initial contents of a state, as for --input (default: zeros)")};

  /// The error in the flags; empty when they are valid.
  std::string check() const;
};

/// Where a package's weights come from.
struct WeightFlags {
  /// `description` is the text of --weights in --help.
  explicit WeightFlags(
      llvm::StringRef description =
          "The weights of a package: a .safetensors or .gguf file, a .bin file "
          "of llama2.c, or a folder of .safetensors or .npy files (default: "
          "those in the package)")
      : weights("weights", llvm::cl::value_desc("FILE|FOLDER"),
                llvm::cl::desc(description)) {}

  llvm::cl::opt<std::string> weights;
  llvm::cl::opt<std::string> adapter{
      "adapter", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Adapters beside the weights: a .safetensors file")};
  llvm::cl::opt<std::string> mapping{
      "weight-map", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc(
          "A JSON object that maps names of weights to names in --weights")};
  WholeFlag<uint64_t> seed{
      "init", llvm::cl::value_desc("SEED"),
      llvm::cl::desc("Initialize the weights that --weights lacks with random "
                     "values from SEED")};

  /// The weights, drawn by the threads of `executor`.
  WeightOptions options(std::shared_ptr<Executor> executor) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H
