//===- BuiltWith.h - what a tool was built with -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_BUILTWITH_H
#define ANEC_TOOLS_BUILTWITH_H

#include <string>

namespace anec {

/// Lines of --version about this tool alone, each with a newline. Each tool
/// defines it.
std::string builtWith();

} // namespace anec

#endif // ANEC_TOOLS_BUILTWITH_H
