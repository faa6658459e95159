//===- OpenTextModel.h - the language model of a package --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_OPENTEXTMODEL_H
#define ANEC_GENERATE_OPENTEXTMODEL_H

#include "anec/Generate/TextModel.h"
#include "anec/Runtime/Session.h"

namespace anec {

/// The language model in the package of `session`. A package that was compiled
/// with `--decode` reads each token once; `entry` names its model. Of another
/// one, it is the entry called `entry` or, without a name, the only one that
/// takes tokens and gives logits, and each token takes a run of the whole
/// model. Returns null, with the reason reported, when there is none, or
/// several. `session` must outlive the model.
[[nodiscard]] std::unique_ptr<TextModel>
openTextModel(Session &session, llvm::StringRef entry, Diagnostics &diags);

} // namespace anec

#endif // ANEC_GENERATE_OPENTEXTMODEL_H
