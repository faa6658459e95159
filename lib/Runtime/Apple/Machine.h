//===- Machine.h - the names of this machine --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_MACHINE_H
#define ANEC_LIB_RUNTIME_APPLE_MACHINE_H

#include <string>

namespace anec::apple {

/// The chip, such as `Apple M4`, and the system with its version; `not known`
/// where there is no such name.
std::string chipName();
std::string systemName();

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_MACHINE_H
