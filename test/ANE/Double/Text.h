//===- Text.h - what the double's compiler takes ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_TEXT_H
#define ANEC_TEST_ANE_TEXT_H

#include <string>

namespace ane_double {

/// What is published to be refused in how MIL text is written; empty when the
/// text has nothing of it. Looks at the text alone, and knows nothing of anec's
/// reader, printer or rules.
std::string refusalOf(const std::string &text);
/// Whether ANE_DOUBLE_TAKES, `build-info,inline-axes`, has the rule: it is not
/// to be refused.
bool isTaken(const std::string &rule);

} // namespace ane_double

#endif // ANEC_TEST_ANE_TEXT_H
