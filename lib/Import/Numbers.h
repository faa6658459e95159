//===- Numbers.h - numbers as programs write them ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_NUMBERS_H
#define ANEC_LIB_IMPORT_NUMBERS_H

#include <string>

namespace anec {

/// The shortest decimal that reads back as `number`, with a point or an
/// exponent.
std::string spellNumber(double number);

} // namespace anec

#endif // ANEC_LIB_IMPORT_NUMBERS_H
