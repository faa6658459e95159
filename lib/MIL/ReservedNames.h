//===- ReservedNames.h - words that are no names in MIL ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_RESERVEDNAMES_H
#define ANEC_LIB_MIL_RESERVEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace anec::mil {

/// Whether a reader of MIL may not take `name` as the name of a value, an op or
/// a function. anec prints it with a `_` behind it, and reads it either way.
bool isReservedName(llvm::StringRef name);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_RESERVEDNAMES_H
