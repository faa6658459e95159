//===- StatefulModel.h - texts in the states of a program -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The text model of a program that keeps a text in states, as those that
/// `anec --decode --cache=state` writes. Each function reads a block:
///
///   tokens: int32[block], position: int32[1], and maybe wanted: int32[1]
///   -> logits: float[ids, block or 1]
///
/// and has states whose last axis is the positions of a text. Inputs are known
/// by this order, whatever their names.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_STATEFULMODEL_H
#define ANEC_GENERATE_STATEFULMODEL_H

#include "anec/Generate/TextModel.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// The model of one sequence as generation sees it. All functions of `module`
/// must be of the form above, with equal states; they are loaded when they are
/// first needed. On a backend that binds memory they share their states;
/// otherwise what one has is copied to the next. Returns null, with the reason
/// reported for the file `path`, when a function has another form. `backend`
/// must outlive the model.
[[nodiscard]] std::unique_ptr<TextModel>
openStatefulModel(std::unique_ptr<Module> module, llvm::StringRef path,
                  Backend &backend, const LoadOptions &load,
                  Diagnostics &diags);

} // namespace anec

#endif // ANEC_GENERATE_STATEFULMODEL_H
