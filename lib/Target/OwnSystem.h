//===- OwnSystem.h - the system of this machine -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_OWNSYSTEM_H
#define ANEC_LIB_TARGET_OWNSYSTEM_H

#include <string>

namespace anec {

/// The version of macOS of this machine, such as `26.5.1`; empty on other
/// systems.
std::string ownMacOS();

} // namespace anec

#endif // ANEC_LIB_TARGET_OWNSYSTEM_H
