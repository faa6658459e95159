//===- ProbeSetting.h - settings of the programs of rules -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBESETTING_H
#define ANEC_PROBE_PROBESETTING_H

#include "llvm/ADT/StringRef.h"

namespace anec {

/// How the programs of a rule are run: with values for which a broken rule
/// changes the outputs.
struct ProbeSetting {
  llvm::StringLiteral rule = "";
  /// Inputs are drawn uniformly from `low` to `high`, weights from
  /// -`weightScale` to `weightScale`.
  double low = -2, high = 2;
  double weightScale = 0.05;
  /// Outputs are wrong when the norm of the difference is more than `relative`
  /// times that of the reference; or, where `absolute` is given, when an
  /// element is off by more than that.
  double relative = 0.05;
  double absolute = 0;
  /// See ProgramText: for rules that anec keeps in every program by the way it
  /// binds inputs and outputs.
  bool asDeclared = false;
  /// For rules about speed: the ratio of times from which a program is slower,
  /// and whether the times are those of compiling.
  double slowerFrom = 1.1;
  bool ofCompiling = false;
};

ProbeSetting probeSetting(llvm::StringRef rule);

} // namespace anec

#endif // ANEC_PROBE_PROBESETTING_H
