//===- VerifyRepeats.cpp - how often ops run ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Everything that reads a schedule goes through its repeats, one iteration
/// after another, and a plan has a step for every op of every iteration. A few
/// lines could ask for more of them than any machine has memory for.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/IR.h"
#include "lib/IR/Diags.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Verifier.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;

/// Of a module's largest function: of a model with a thousand layers, each of a
/// thousand ops.
static constexpr uint64_t mostOps = 1'000'000;
static constexpr unsigned maxDepth = 64;

namespace {

/// A host function's repeats, and what a run of it amounts to.
struct Repeats {
  llvm::SmallVector<const Op *, 1> ops;
  llvm::SmallVector<const Function *, 1> users; ///< functions that repeat it
  size_t open = 0;  ///< repeats whose bodies are not known to end
  uint64_t run = 0; ///< ops, with those of its repeats; saturates
  unsigned depth = 0;
};

class RepeatVerifier {
public:
  RepeatVerifier(const Module &module, uint64_t maxOps, Diagnostics &diags)
      : module(module), maxOps(maxOps), diags(diags) {}
  bool verify();

private:
  const Function *bodyOf(const Op &repeat) const {
    return functions.lookup(repeat.get(param::body));
  }
  bool count(const Function &function);
  bool reportEndless();

  const Module &module;
  uint64_t maxOps;
  Diagnostics &diags;
  llvm::StringMap<const Function *> functions;
  llvm::DenseMap<const Function *, Repeats> repeats;
};

} // namespace

/// Counts the ops of a run of `function`, whose repeats end.
bool RepeatVerifier::count(const Function &function) {
  Repeats &counted = repeats[&function];
  for (const Op &op : function.body()) {
    const Function *body = op.def().has(trait::Repeat) ? bodyOf(op) : nullptr;
    if (!body) {
      ++counted.run;
      continue;
    }
    const Repeats &inner = repeats[body];
    counted.depth = std::max(counted.depth, inner.depth + 1);
    if (counted.depth > maxDepth) {
      diags.report(op.range(), diag::DeepRepeat, body->name, maxDepth);
      return false;
    }
    // An empty body takes time too.
    uint64_t turns = uint64_t(op.get(param::to)) - op.get(param::from);
    counted.run = llvm::SaturatingMultiplyAdd(
        turns, llvm::SaturatingAdd(inner.run, uint64_t(1)), counted.run);
    if (counted.run <= maxOps)
      continue;
    diags.report(op.range(), diag::TooManyOps, function.name,
                 counted.run == UINT64_MAX ? "more than 2^64"
                                           : std::to_string(counted.run),
                 maxOps);
    return false;
  }
  return true;
}

/// Reports a `repeat` whose body is, directly or indirectly, the function that
/// contains it: it would never end.
bool RepeatVerifier::reportEndless() {
  llvm::DenseSet<const Function *> seen;
  for (const auto &function : module.functions) {
    const Function *at = function.get();
    while (repeats[at].open != 0) {
      const Op *repeat = nullptr;
      for (const Op *op : repeats[at].ops)
        if (repeats[bodyOf(*op)].open != 0)
          repeat = op;
      if (!seen.insert(at).second) {
        diags.report(repeat->range(), diag::EndlessRepeat,
                     repeat->get(param::body));
        return false;
      }
      at = bodyOf(*repeat);
    }
  }
  return true;
}

bool RepeatVerifier::verify() {
  for (const auto &function : module.functions)
    functions[function->name] = function.get();
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.def().has(trait::Repeat))
        if (const Function *body = bodyOf(op)) {
          repeats[function.get()].ops.push_back(&op);
          repeats[body].users.push_back(function.get());
        }
  llvm::SmallVector<const Function *> ending;
  for (const auto &function : module.functions) {
    Repeats &own = repeats[function.get()];
    if ((own.open = own.ops.size()) == 0)
      ending.push_back(function.get());
  }
  // A function ends when all bodies that it repeats end.
  while (!ending.empty()) {
    const Function *function = ending.pop_back_val();
    if (!count(*function))
      return false;
    for (const Function *user : repeats[function].users)
      if (--repeats[user].open == 0)
        ending.push_back(user);
  }
  return reportEndless();
}

bool anec::verifyRepeats(const Module &module, Diagnostics &diags) {
  return RepeatVerifier(module, UINT64_MAX, diags).verify();
}

bool anec::verifyRuns(const Module &module, Diagnostics &diags) {
  return RepeatVerifier(module, mostOps, diags).verify();
}
