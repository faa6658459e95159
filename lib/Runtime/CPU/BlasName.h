//===- BlasName.h - the library that computes products ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_BLASNAME_H
#define ANEC_LIB_RUNTIME_CPU_BLASNAME_H

#include <string>

namespace anec::cpu {

/// The library that blasProducts() calls, which need not be there: it is looked
/// for at the first product.
std::string nameOfBlas();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_BLASNAME_H
