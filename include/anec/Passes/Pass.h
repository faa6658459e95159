//===- Pass.h - the row that defines a pass ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A pass is a function that changes a function or a module, and a row with its
/// name, description and counters. It has no state, prints nothing, and leaves
/// verification to the pass manager.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_PASS_H
#define ANEC_PASSES_PASS_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Target/Check.h"
#include <array>

namespace anec {

class OpenedModule;
struct PassDef;
struct DecodePrograms;
class ExampleRanges;
struct PassManagerOptions;

/// A counter of a pass.
struct StatDef {
  llvm::StringLiteral name = "";
  llvm::StringLiteral summary = "";
};
constexpr unsigned maxStats = 4;

/// The context of a running pass: its options, counters and diagnostics.
class PassContext {
public:
  PassContext(const PassDef &pass, const PassManagerOptions &options,
              Diagnostics &diags);

  /// Adds to the counter `stat` of the pass's row.
  void count(llvm::StringRef stat, uint64_t amount = 1);
  /// The value of counter `stat`, an index in the pass's row.
  uint64_t total(unsigned stat) const { return counts[stat]; }

  /// Whether to rewrite programs that break `rule`: it applies to the target,
  /// and the user does not allow breaking it. Rules with low confidence are
  /// ignored unless the user denies breaking them: a rewrite has a cost, and
  /// the rule may not hold.
  bool isRewrittenFor(const Rule &rule) const;

  /// Reports the reason for a decision, if remarks were requested.
  template <typename... Params, typename... Args>
  void remark(SourceRange range, diag::Kind<Params...> kind,
              const Args &...args) {
    if (remarks)
      diags.report(range, kind, args...);
  }

  const PassDef &pass;
  /// The chip to compile for; `targetChosen` when the user chose it.
  const Target &target;
  const bool targetChosen;
  const Assumptions &assumptions;
  const DecodePrograms &decode;
  const bool takesMixedTypes;
  const ExampleRanges *examples; ///< may be null
  Diagnostics &diags;

private:
  bool remarks;
  std::array<uint64_t, maxStats> counts = {};
};

/// What a pass needs of a program besides the rules of the verifier. The pass
/// manager checks it before the pass runs.
enum class Need : uint8_t {
  None,
  /// No host function calls the function: the pass changes its parameters or
  /// results.
  NotCalled,
  /// All functions have bodies.
  Bodies,
};

struct PassDef {
  /// Also the name of the flag, the source file and the test.
  llvm::StringLiteral name = "";
  /// One line, imperative.
  llvm::StringLiteral summary = "";
  /// An example of its effect, as `before ==> after`.
  llvm::StringLiteral description = "";
  std::array<StatDef, maxStats> stats = {};
  /// The allowed relative change of results, computed in double precision: 0
  /// for pure data movement, 1e-9 for reordered arithmetic, more only for
  /// passes that round values into constants.
  double tolerance = 1e-9;
  /// The pass changes parameters and results of functions, so that results
  /// before and after cannot be compared.
  bool changesInterface = false;
  Need needs = Need::None;
  /// Returns true when it changed `function`. Errors are reported to the
  /// context.
  bool (*run)(Function &function, PassContext &ctx) = nullptr;
  /// Replaces `run` for a pass that adds, removes or reads several functions,
  /// including host functions.
  bool (*runOnModule)(Module &module, PassContext &ctx) = nullptr;
  /// Replaces `run` for a pass that moves ops between kernels: it gets the
  /// module with its kernels open, which the pass manager opens before the
  /// first of successive such passes and closes after the last. A pass has
  /// exactly one of the three.
  bool (*runOnOpened)(OpenedModule &opened, PassContext &ctx) = nullptr;
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
