//===- NeutralKeys.h - keys of config.json without effect -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_NEUTRALKEYS_H
#define ANEC_LIB_IMPORT_NEUTRALKEYS_H

#include "llvm/Support/JSON.h"

namespace anec {

/// Whether `key` with this value has no effect on what a model computes when it
/// is run: a key for training or for programs around the model, or the value
/// that says that a model lacks a part.
bool isNeutral(llvm::StringRef key, const llvm::json::Value &value);
/// The only value of `key` that isNeutral accepts, for messages; empty for keys
/// that it does not know.
llvm::StringRef onlyKnownValue(llvm::StringRef key);

} // namespace anec

#endif // ANEC_LIB_IMPORT_NEUTRALKEYS_H
