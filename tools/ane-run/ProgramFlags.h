//===- ProgramFlags.h - flags of commands that take a program ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H
#define ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H

#include "Commands.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// Which program, and which function of it.
struct ProgramFlags {
  llvm::cl::opt<std::string> program{llvm::cl::Positional};
  llvm::cl::opt<std::string> function{
      "function", llvm::cl::value_desc("NAME"),
      llvm::cl::desc("Which function, when there are several")};
  llvm::cl::list<std::string> shapes{
      "shape", llvm::cl::value_desc("NAME=1x3x64"),
      llvm::cl::desc("The shape of an input with unknown extents (default: "
                     "that of its .npy file, or the program's default)")};

  /// What is wrong with them; empty when nothing is.
  std::string check() const;
  /// The values of --shape, which have been checked.
  std::vector<InputShape> wantedShapes() const;
};

/// What it is run on.
struct InputFlags {
  llvm::cl::list<std::string> inputs{
      "input", llvm::cl::value_desc("NAME=SOURCE"),
      llvm::cl::desc("An input: a .npy file, random:SEED, zeros, ones, or "
                     "bytes:FILE")};
  llvm::cl::list<std::string> states{
      "state", llvm::cl::value_desc("NAME=SOURCE"),
      llvm::cl::desc("What a state holds before, as for --input (default: "
                     "zeros)")};

  /// What is wrong with them; empty when nothing is.
  std::string check() const;
};

/// Where a package's weights come from.
struct WeightFlags {
  /// `description` is what --help says of --weights.
  explicit WeightFlags(
      llvm::StringRef description =
          "A package's weights: a .safetensors file or a folder of .npy "
          "(default: those in the package)")
      : weights("weights", llvm::cl::value_desc("FILE|FOLDER"),
                llvm::cl::desc(description)) {}

  llvm::cl::opt<std::string> weights;
  llvm::cl::opt<std::string> mapping{
      "weight-map", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Names of weights -> names in --weights")};
  llvm::cl::opt<uint64_t> seed{
      "init", llvm::cl::value_desc("SEED"),
      llvm::cl::desc("Draw the weights that --weights lacks")};

  WeightOptions options() const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROGRAMFLAGS_H
