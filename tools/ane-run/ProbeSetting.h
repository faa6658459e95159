//===- ProbeSetting.h - what the programs of a rule are given --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBESETTING_H
#define ANEC_TOOLS_ANE_RUN_PROBESETTING_H

#include "llvm/ADT/StringRef.h"

namespace anec {

/// How a rule's programs are run: with values that show a difference where
/// there is one.
struct ProbeSetting {
  llvm::StringLiteral rule = "";
  /// Inputs are drawn evenly from there, weights from -scale to scale.
  double low = -2, high = 2;
  double weightScale = 0.05;
  /// Results are wrong when the norm of the difference is more than that of the
  /// reference times `relative`; or, where `absolute` is given, when an element
  /// is further off than that.
  double relative = 0.05;
  double absolute = 0;
  /// See ProgramText: for rules that anec's own way of binding keeps for all
  /// programs.
  bool asDeclared = false;
  /// Of rules about speed: what counts as slower, and whether compiling is what
  /// takes long.
  double slowerFrom = 1.1;
  bool ofCompiling = false;
};

ProbeSetting probeSetting(llvm::StringRef rule);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBESETTING_H
