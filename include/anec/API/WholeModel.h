//===- WholeModel.h - compiles a model to one program -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiles all of a model to a program, host part included, for Core ML:
///
///   options.passes.passes = anec::wholeModelPasses(options);
///   auto program = anec::compileWholeModel(std::move(module), options,
///                                          description, diags);
///   if (!program ||
///       !program->writeCoreML("llama.mlpackage", {}, &description, diags))
///     diags.print(llvm::errs());
///
/// A model that is not trained is a function from its inputs to its results;
/// without its loss, if it has logits. With `CompileOptions::decode`, a model
/// of language has a function for each block, with its caches as states:
///
///   tokens: int32[block], position: int32[1] -> logits: fp16[ids, block]
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_WHOLEMODEL_H
#define ANEC_API_WHOLEMODEL_H

#include "anec/API/Compile.h"
#include "anec/MIL/ModelDescription.h"

namespace anec {

/// The passes that make kernels of whole models, and compile these.
std::vector<const PassDef *> wholeModelPasses(const CompileOptions &options);

/// Compiles the models of `module` by the passes of `options`. The functions
/// are `main`, or `decode1`, `prefill64`, ... of a model that decodes;
/// `description` gets the default one, and what inputs and outputs are. Returns
/// nothing, with the reason reported, on failure.
[[nodiscard]] std::optional<CompiledProgram>
compileWholeModel(std::unique_ptr<Module> module, const CompileOptions &options,
                  ModelDescription &description, Diagnostics &diags,
                  std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_API_WHOLEMODEL_H
