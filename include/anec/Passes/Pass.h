//===- Pass.h - the row that defines a pass --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A pass is a function from a function, or from a module, to the same one,
/// changed, and a row that says what it is called and what it counts. It keeps
/// no state, prints nothing, and leaves verification to the pass manager.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_PASS_H
#define ANEC_PASSES_PASS_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Target/Check.h"
#include <array>

namespace anec {

struct PassDef;
struct PassManagerOptions;

/// Something a pass counts.
struct StatDef {
  llvm::StringLiteral name = "";
  llvm::StringLiteral summary = "";
};
constexpr unsigned maxStats = 4;

/// What a running pass has at hand.
class PassContext {
public:
  PassContext(const PassDef &pass, const PassManagerOptions &options,
              Diagnostics &diags);

  /// Adds to the pass's counter called `stat`.
  void count(llvm::StringRef stat, uint64_t amount = 1);
  uint64_t total(unsigned stat) const { return counts[stat]; }

  /// Whether a program that breaks `rule` is to be rewritten. What one report
  /// stands for against others is left, unless the user denies it: the rewrite
  /// costs something, and the rule may not hold.
  bool isRewrittenFor(const Rule &rule) const;

  /// Says why something was decided, when that is asked for.
  template <typename... Params, typename... Args>
  void remark(SourceRange range, diag::Kind<Params...> kind,
              const Args &...args) {
    if (remarks)
      diags.report(range, kind, args...);
  }

  const PassDef &pass;
  /// The chip to compile for.
  const Target &target;
  const bool targetChosen;
  const Assumptions &assumptions;
  Diagnostics &diags;

private:
  bool remarks;
  std::array<uint64_t, maxStats> counts = {};
};

struct PassDef {
  /// The flag, the file and the test are named so too.
  llvm::StringLiteral name = "";
  /// One line, imperative.
  llvm::StringLiteral summary = "";
  /// What it does to what, as `before ==> after`.
  llvm::StringLiteral description = "";
  std::array<StatDef, maxStats> stats = {};
  /// How far results may move relative to before, computed in double
  /// precision: 0 for pure data movement, 1e-9 for reordered arithmetic, more
  /// only where values get rounded into constants.
  double tolerance = 1e-9;
  /// It gives functions other parameters and results than they had, so that
  /// results before and after cannot be compared.
  bool changesInterface = false;
  /// True when it changed `function`. Errors go to the context.
  bool (*run)(Function &function, PassContext &ctx) = nullptr;
  /// In place of `run`, for a pass that adds, removes or looks at several
  /// functions, those of the host among them.
  bool (*runOnModule)(Module &module, PassContext &ctx) = nullptr;
};

namespace passes {
#define PASS(NAME) extern const PassDef NAME;
#include "anec/Passes/Passes.def"
#undef PASS
} // namespace passes

/// All passes, sorted by name.
llvm::ArrayRef<const PassDef *> allPasses();
/// Null when there is no such pass.
const PassDef *findPass(llvm::StringRef name);

} // namespace anec

#endif // ANEC_PASSES_PASS_H
