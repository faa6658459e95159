//===- ReferenceFlags.cpp - flags for a model to compare with -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ReferenceFlags.h"

using namespace anec;

std::string ReferenceFlags::check() const {
  if (isGiven() && file.empty())
    return "--reference takes a file";
  if (isGiven() && sourceFormat(file).stage == SourceStage::Package)
    return "--reference takes a model, and " + file +
           " is compiled; give what it was compiled from";
  if (!defines.defines.empty() &&
      (!isGiven() || sourceFormat(file).stage != SourceStage::Program))
    return "--define is for a .tdsl program in --reference";
  return defines.check();
}

std::optional<LoadedReference>
ReferenceFlags::load(const LoadedProgram &program, const ProgramFlags &flags,
                     llvm::ArrayRef<std::string> inputs,
                     const WeightOptions &weights, Diagnostics &diags) const {
  CompileOptions options;
  options.weights = weights;
  options.defines = defines.pairs();
  options.shapes = flags.shapes.values();
  options.values = flags.fixed.values();
  return loadReference(file.getValue(), std::move(options), flags.function,
                       *program.function, inputs, diags);
}
