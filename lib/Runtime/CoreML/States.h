//===- States.h - reads and writes states of a model ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_STATES_H
#define ANEC_LIB_RUNTIME_COREML_STATES_H

#include "LoadedModel.h"

namespace anec::coreml {

/// Copies contiguous elements to the state `name`, and back. Returns false,
/// with the reason reported, when Core ML has no such array.
[[nodiscard]] bool writeState(id<MlState> state, llvm::StringRef name,
                              llvm::ArrayRef<uint8_t> elements,
                              Diagnostics &diags);
[[nodiscard]] bool readState(id<MlState> state, llvm::StringRef name,
                             llvm::MutableArrayRef<uint8_t> elements,
                             Diagnostics &diags);

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_STATES_H
