//===- Check.h - anec check and anec explain -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_CHECK_H
#define ANEC_TOOLS_ANEC_CHECK_H

#include "anec/Target/Check.h"
#include "anec/anec.h"

namespace anec {

enum class CheckFormat { Text, Json, Sarif };

/// Checks programs, and those of packages, prints what is found, and returns whether there was no
/// error. MIL is checked as it is, a program as it would be compiled.
bool checkFiles(llvm::ArrayRef<std::string> paths,
                const CompileOptions &options, const Assumptions &assumptions,
                CheckFormat format, llvm::raw_ostream &out, Diagnostics &diags);

/// Prints the story of a rule.
void explainRule(const Rule &rule, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_CHECK_H
