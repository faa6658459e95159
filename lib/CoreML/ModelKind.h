//===- ModelKind.h - types of Core ML models --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_MODELKIND_H
#define ANEC_LIB_COREML_MODELKIND_H

#include "llvm/ADT/StringRef.h"

namespace anec::coreml {

/// A type of models, which is a field of the message `Model`.
struct ModelKind {
  int field;
  llvm::StringLiteral name;
  /// What such a model is, and the way out; none where anec reads it.
  llvm::StringLiteral reason = "";

  bool isProgram() const;
  bool isPipeline() const;
  bool isSuppression() const;
};

/// Null for fields that are no types.
const ModelKind *findModelKind(int field);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_MODELKIND_H
