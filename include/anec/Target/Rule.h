//===- Rule.h - rules of targets and their sources --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A rule is something that a program must not do on some chips: a row with a
/// predicate, the source of the rule, and how far it can be trusted. The rows
/// are in lib/Target/Rules, one file per family; docs/reference/rules.md is
/// generated from them. `anec check` reports the rules that a program breaks,
/// and `legalize` rewrites ops that break rules.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_RULE_H
#define ANEC_TARGET_RULE_H

#include "anec/IR/IR.h"
#include "anec/MIL/Outline.h"
#include "anec/Support/Words.h"
#include "anec/Target/EnginePath.h"
#include "anec/Target/OSRange.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

struct OpsAroundEngine;

/// What happens to a program that breaks a rule.
/// - `Error`: it is refused, or fails at run time
/// - `SilentCorruption`: it runs, and its results are wrong
/// - `Warning`: it can be refused, or be less accurate
/// - `Layout`: it runs, if the caller's buffers are as it says
/// - `Performance`: it is slow
ANEC_ENUM(Impact, (Error, "error"), (SilentCorruption, "silent-corruption"),
          (Warning, "warning"), (Layout, "layout"),
          (Performance, "performance"))

/// How the compiler makes a rule hold.
enum class Rewrite : uint8_t {
  None,
#define OP_REWRITE(NAME, FUNCTION, SPELLING) NAME,
#define PASS_REWRITE(NAME, SPELLING) NAME,
#define OTHER_REWRITE(NAME, SPELLING) NAME,
#include "anec/Target/Rewrites.def"
};
/// `concat-tree`, ...; empty for `None`.
llvm::StringRef spelling(Rewrite rewrite);

/// When the compiler applies the rewrite of a rule; always when the user denies
/// the rule.
enum class RewriteWhen : uint8_t {
  Trusted, ///< if the confidence is not low, for any target
  Chosen,  ///< if the user chose the target, because other chips need none
};

/// How an op breaks a rule, in words; nothing when it does not.
using Verdict = std::optional<std::string>;
/// Called by a rule about functions or text for each place that breaks it.
using ReportBreach = llvm::function_ref<void(SourceRange, std::string)>;

struct Rule {
  llvm::StringLiteral id;
  llvm::StringLiteral family;
  /// What must hold, in one line.
  llvm::StringLiteral summary;
  ChipSet chips = ChipSet::all();
  /// The versions of macOS that it was observed on, open-ended when it can
  /// still hold; empty when no source says.
  OSRange macOS = {};
  /// The frameworks whose compilers it is about.
  PathSet paths = PathSet::all();
  /// Core ML itself refuses what breaks it, wherever it would run.
  bool ofCoreML = false;
  /// A program that breaks it at several ops has one finding.
  bool isOneFact = false;
  /// It is about light work, such as looking up embeddings, that Core ML does
  /// on the processor: before the engine begins and after it ends, that costs
  /// no move, and breaks no rule.
  bool isFineAtEnds = false;
  /// Whether an op that breaks it is no finding for Core ML, by what is around
  /// the op; and which ops these are, in words.
  bool (*isFineForCoreML)(const Op &op,
                          const OpsAroundEngine &around) = nullptr;
  llvm::StringLiteral fineForCoreML = "";
  /// A rule that says as much and more of a package that breaks both.
  const Rule *saidBy = nullptr;
  Impact impact = Impact::Error;
  /// Who found it and on which system, and when that was written or read
  /// (year-month).
  llvm::StringLiteral source;
  llvm::StringLiteral date;
  Confidence confidence = Confidence::Medium;
  /// A source that contradicts it; empty for none.
  llvm::StringLiteral conflict = "";
  /// The recorded trial in which an engine's compiler refused the ops that it
  /// is about; empty for none.
  llvm::StringLiteral trial = "";
  /// What to do instead.
  llvm::StringLiteral advice;
  /// What breaking it is known or likely to do beyond failing; `ane-run probe`
  /// tries such rules last. Empty for none.
  llvm::StringLiteral danger = "";
  /// Why no program can test whether it holds; empty for nearly all rules.
  llvm::StringLiteral unprobed = "";
  /// The rewrite that makes it hold.
  Rewrite rewrite = Rewrite::None;
  RewriteWhen rewriteWhen = RewriteWhen::Trusted;

  // The predicate: exactly one is set.
  Verdict (*ofOp)(const Op &op, const Target &target) = nullptr;
  void (*ofFunction)(const Function &function, const Target &target,
                     ReportBreach report) = nullptr;
  void (*ofText)(const MILOutline &text, const Target &target,
                 ReportBreach report) = nullptr;

  /// Whether another source contradicts the only one, of low confidence.
  constexpr bool isDoubtful() const {
    return confidence == Confidence::Low && !conflict.empty();
  }
  /// Whether Core ML runs elsewhere what breaks the rule.
  constexpr bool keepsOffEngine() const {
    return impact == Impact::Error && !ofCoreML;
  }
  /// The severity of breaking the rule. Silent corruption is an error, too.
  /// What the caller has to do, what is slow, and warnings that are doubtful
  /// are remarks. Core ML runs elsewhere what the engine's compiler refuses.
  constexpr Severity severity(EnginePath path) const {
    if (path == EnginePath::CoreML && keepsOffEngine())
      return Severity::Warning;
    if (impact <= Impact::SilentCorruption)
      return Severity::Error;
    return impact == Impact::Warning && !isDoubtful() ? Severity::Warning
                                                      : Severity::Remark;
  }

  /// The diagnostics for a broken rule: by default, through Core ML, and when
  /// the user denies it.
  diag::Definition reported = {severity(EnginePath::InMemory), id, "{0}"};
  diag::Definition reportedOnCoreML = {severity(EnginePath::CoreML), id, "{0}"};
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
