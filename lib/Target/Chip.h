//===- Chip.h - the names of chips ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The chips that rows of targets and rules name. Apart from Target.h, which
/// most files include: a new chip rebuilds only these rows.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_CHIP_H
#define ANEC_LIB_TARGET_CHIP_H

#include "anec/Target/Target.h"

namespace anec {

/// By age; at most 32.
enum class Chip : uint8_t { M1, M2, M3, M3Ultra, M4, M5, M6 };

} // namespace anec

#endif // ANEC_LIB_TARGET_CHIP_H
