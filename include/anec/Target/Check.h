//===- Check.h - check programs against rules -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_CHECK_H
#define ANEC_TARGET_CHECK_H

#include "anec/Target/Rule.h"
#include <vector>

namespace anec {

/// What the user assumes: rules to ignore (`allowed`), and rules to treat as
/// errors whatever their impact (`denied`).
struct Assumptions {
  std::vector<const Rule *> allowed, denied;
  /// The macOS that the program will run on; nothing for any.
  std::optional<OSVersion> macOS;
  /// The framework that will compile the program.
  EnginePath path = EnginePath::InMemory;

  /// Whether to ignore `rule`, which the user does not deny: the user allows
  /// breaking it, or it does not apply to `macOS` or `path`.
  bool allows(const Rule &rule) const;
  bool denies(const Rule &rule) const;
  /// Whether programs for `target` have to keep `rule`: it is about its chips
  /// and not ignored, or the user denies breaking it, on whatever chip.
  bool demands(const Rule &rule, const Target &target) const;
  /// The severity of breaking `rule`.
  Severity severityOf(const Rule &rule) const;
  bool isError(const Rule &rule) const {
    return severityOf(rule) == Severity::Error;
  }
};

/// Parses `RULE=allow` or `RULE=deny` and adds it to `assumptions`. Returns
/// false, with an error reported, for other forms and unknown rules.
[[nodiscard]] bool parseAssumption(llvm::StringRef text,
                                   Assumptions &assumptions,
                                   Diagnostics &diags);

/// A place where a program breaks a rule.
struct Finding {
  const Rule *rule;
  SourceRange range;
  std::string what;
  /// What a dump of Core ML's compiler has recorded of the op; empty for none.
  std::string recorded = "";
  /// The targets whose rule it is, in the order in which they were checked.
  std::vector<const Target *> targets = {};
  /// The other places of the same fact, in the order of the text.
  std::vector<SourceRange> also = {};
};

/// Adds findings in the same programs for another target: what is found for
/// both is one finding. Both are in the order of the text, and so is the
/// result.
void mergeFindings(std::vector<Finding> &findings, std::vector<Finding> added);

/// Checks the text, and the module parsed from it; either can be null. Rules
/// about text also apply to programs that cannot be parsed. Returns the
/// findings in the order of the text.
std::vector<Finding> checkProgram(const MILOutline *text, const Module *module,
                                  const Target &target,
                                  const Assumptions &assumptions = {});

/// Checks only the rules about ops and functions, and appends to `findings`.
void checkFunction(const Function &function, const Target &target,
                   const Assumptions &assumptions,
                   std::vector<Finding> &findings);

/// The places of `finding` beside the first, and of `others`.
std::vector<SourceRange> otherPlaces(const Finding &finding,
                                     llvm::ArrayRef<const Finding *> others);

/// `line 5, 7, b.mil:3, ...`, or for files without lines the ops: the first
/// places of `ranges`, after `first`.
std::string listPlaces(llvm::ArrayRef<SourceRange> ranges, SourceRange first,
                       const Diagnostics &diags);

/// Reports a finding as a diagnostic with the rule's id. Notes have the rule,
/// its source and its advice, and the places of `others`, which break the same
/// rule for the same targets. Of several `targets` that are checked, a note
/// names those that the finding is for, if it is not for all.
void reportFinding(const Finding &finding, const Assumptions &assumptions,
                   Diagnostics &diags,
                   llvm::ArrayRef<const Finding *> others = {},
                   llvm::ArrayRef<const Target *> targets = {});

/// `m1, m2`.
std::string listTargets(llvm::ArrayRef<const Target *> targets);

} // namespace anec

#endif // ANEC_TARGET_CHECK_H
