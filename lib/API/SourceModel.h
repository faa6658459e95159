//===- SourceModel.h - programs that others wrote, trained ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The way of a program that others wrote through a training: with
/// CompileOptions::objective, it is read with weights that are trained and
/// becomes a model; with WeightOptions::source, it is read with the weights
/// that came out.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_SOURCEMODEL_H
#define ANEC_LIB_API_SOURCEMODEL_H

#include "anec/API/Compile.h"

namespace anec {

/// Reads a source as `options` want its weights: sets their `sourceWeights`.
/// Returns null, with the reason reported, on failure; that a file of weights
/// has none of the source is one.
[[nodiscard]] std::unique_ptr<Module> readForCompiling(const Source &source,
                                                       CompileOptions &options,
                                                       Diagnostics &diags);

/// Makes a model of a module that was read by `readForCompiling` with an
/// `objective`: in fp16, unless `precision` says otherwise, with its loss.
/// Returns false, with the reason reported, on failure.
[[nodiscard]] bool makeModel(Module &module, const CompileOptions &options,
                             Diagnostics &diags,
                             std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_LIB_API_SOURCEMODEL_H
