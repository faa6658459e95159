//===- Rule.h - what a target refuses, and who says so ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A rule is something that a program must not do on some chip: a row with a
/// predicate, and with where it is known from and how well. The rows stand by
/// family in lib/Target; docs/rules.md is made of them. `anec check` reports
/// rules that a program breaks, `legalize` rewrites what breaks them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_RULE_H
#define ANEC_TARGET_RULE_H

#include "anec/IR/IR.h"
#include "anec/MIL/Outline.h"
#include "anec/Target/OSRange.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// What happens to a program that breaks a rule.
enum class Impact : uint8_t {
  Error,            ///< it is refused, or fails when it runs
  SilentCorruption, ///< it runs, and its results are wrong
  Warning,          ///< it may be refused, or be less accurate
  Performance,      ///< it is slow
};
/// `error`, `silent-corruption`, `warning`, `performance`.
llvm::StringRef spelling(Impact impact);
/// Breaches are reported so; what is only slow is remarked upon.
constexpr Severity severity(Impact impact) {
  return impact <= Impact::SilentCorruption ? Severity::Error
         : impact == Impact::Warning        ? Severity::Warning
                                            : Severity::Remark;
}
/// Wrong results are as bad as none.
constexpr bool isError(Impact impact) {
  return severity(impact) == Severity::Error;
}

/// What the compiler does to make a rule hold.
enum class Rewrite : uint8_t {
  None,
#define OP_REWRITE(NAME, FUNCTION, SPELLING) NAME,
#define PASS_REWRITE(NAME, SPELLING) NAME,
#define OTHER_REWRITE(NAME, SPELLING) NAME,
#include "anec/Target/Rewrites.def"
};
/// `concat-tree`, ...; empty for `None`.
llvm::StringRef spelling(Rewrite rewrite);

/// What a rule finds wrong with an op, in words; nothing when it is right.
using Verdict = std::optional<std::string>;
/// How a rule about more than one op says where and what.
using ReportBreach = llvm::function_ref<void(SourceRange, std::string)>;

struct Rule {
  llvm::StringLiteral id;
  llvm::StringLiteral family;
  /// One line: what must hold.
  llvm::StringLiteral summary;
  ChipSet chips = ChipSet::all();
  /// From the first version of macOS that it was seen on, to the last unless it
  /// may still hold; empty when no source says.
  OSRange macOS = {};
  Impact impact = Impact::Error;
  /// Who found it, on what, and when that was written or read (year-month).
  llvm::StringLiteral source;
  llvm::StringLiteral date;
  Confidence confidence = Confidence::Medium;
  /// Who says otherwise.
  llvm::StringLiteral conflict = "";
  /// What to do instead.
  llvm::StringLiteral advice;
  /// What breaking it was seen to do, or may do, beyond failing: `ane-run
  /// probe` tries such rules last.
  llvm::StringLiteral danger = "";
  /// Why no program can show whether it holds; empty for nearly all.
  llvm::StringLiteral unprobed = "";
  /// What makes it hold.
  Rewrite rewrite = Rewrite::None;

  // The predicate: one of these.
  Verdict (*ofOp)(const Op &op, const Target &target) = nullptr;
  void (*ofFunction)(const Function &function, const Target &target,
                     ReportBreach report) = nullptr;
  void (*ofText)(const MILOutline &text, const Target &target,
                 ReportBreach report) = nullptr;

  /// What a breach is reported as, and what when the user denies it.
  diag::Definition reported = {severity(impact), id, "{0}"};
  diag::Definition denied = {Severity::Error, id, "{0}"};

  bool appliesTo(const Target &target) const {
    return chips.intersects(target.chips);
  }
};

namespace rules {
#define RULE(NAME) extern const Rule NAME;
#include "anec/Target/Rules.def"
} // namespace rules

/// All rules, sorted by name.
llvm::ArrayRef<const Rule *> allRules();
/// Null when there is no such rule.
const Rule *findRule(llvm::StringRef id);

} // namespace anec

#endif // ANEC_TARGET_RULE_H
