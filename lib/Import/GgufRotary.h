//===- GgufRotary.h - rotary embedding in GGUF files ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_GGUFROTARY_H
#define ANEC_LIB_IMPORT_GGUFROTARY_H

#include "GgufConfig.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Where the rotary embedding is read from.
struct RotarySource {
  const GgufFile &file;
  const ArraySource &arrays;
  llvm::StringRef architecture;
  int64_t width;     ///< of a head
  int64_t positions; ///< of the model
  /// The value of a key of the architecture, which counts as read; null when it
  /// is missing.
  llvm::function_ref<const GgufValue *(llvm::StringRef key)> find;
  /// Leaves a key to be refused.
  llvm::function_ref<void(llvm::StringRef key)> leave;
};

/// Writes theta, the channels that are rotated, and the scaling to `config`.
void writeRotary(const RotarySource &source, GgufConfig &config);

/// A value as JSON; for lists, text that is for messages.
llvm::json::Value jsonOf(const GgufValue &value);

} // namespace anec

#endif // ANEC_LIB_IMPORT_GGUFROTARY_H
