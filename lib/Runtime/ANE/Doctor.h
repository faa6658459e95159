//===- Doctor.h - prints the engine's interface -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_DOCTOR_H
#define ANEC_LIB_RUNTIME_ANE_DOCTOR_H

#include "anec/Runtime/ANE/AneBackend.h"

namespace anec::ane {

/// Writes which parts of the engine's interface are present. Returns false,
/// with the missing parts reported, when programs cannot be run by the path of
/// `options`.
[[nodiscard]] bool writeInspection(const AneOptions &options, bool json,
                                   llvm::raw_ostream &out, Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_DOCTOR_H
