//===- Compile.h - anec FILE ------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COMPILE_H
#define ANEC_TOOLS_ANEC_COMPILE_H

namespace anec {

struct Target;

/// Does what the flags of compiling say, for `target`: its exit code.
int runCompile(const Target &target);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COMPILE_H
