//===- Print.h - values as Python prints them -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_PRINT_H
#define ANEC_LIB_TEXT_JINJA_PRINT_H

#include "Evaluator.h"

namespace anec::jinja {

/// repr() of a float.
std::string floatText(double number);
/// repr() of a str, or ascii() of it.
std::string textRepr(llvm::StringRef text, bool isAscii);
/// pprint.pformat().
std::string prettyText(Evaluator &eval, const Value &value);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_PRINT_H
