//===- Blanks.h - text as blanks --------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_BLANKS_H
#define ANEC_LIB_SUPPORT_BLANKS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// The bits of ASCII text as spaces and tabs, which parsers pass over: what a
/// program says of itself where no parser can refuse it.
std::string asBlanks(llvm::StringRef text);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_BLANKS_H
