//===- Examples.h - example inputs of programs in fp16 ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_EXAMPLES_H
#define ANEC_LIB_API_EXAMPLES_H

#include "anec/API/Compile.h"

namespace anec {

/// Runs the source on the examples of `options`, if `narrow` is to know them.
/// Returns false after an error.
[[nodiscard]] bool measureExamples(const Source &source,
                                   CompileOptions &options, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_API_EXAMPLES_H
