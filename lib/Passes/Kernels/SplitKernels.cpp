//===- SplitKernels.cpp - split kernels beyond the target's limits --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A program with too many ops overflows the compiler's stack, and one with too
/// many bytes of weights is refused. The size of a kernel is known only after
/// lowering, so a copy is lowered; when it exceeds a limit, the kernel is split
/// in two between ops, where the fewest bytes pass from one to the other. This
/// repeats until all fit.
///
//===----------------------------------------------------------------------===//

#include "TileResults.h"
#include "anec/Ops/Report.h"
#include "anec/Passes/PassManager.h"
#include "lib/IR/Clone.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

/// Why `kernel` has to be split; empty when it does not.
static std::string reasonToCut(const Function &kernel, PassContext &ctx) {
  Module trial;
  auto copy = std::make_unique<Function>(FunctionKind::Kernel, kernel.name,
                                         kernel.range);
  ValueMap map;
  cloneBody(kernel, *copy, map);
  trial.functions.push_back(std::move(copy));
  PassManagerOptions options;
  options.passes = defaultPipeline().vec();
  options.target = &ctx.target;
  options.assumptions = ctx.assumptions;
  options.verifyEach = false;
  // Errors are reported by the final lowering.
  Diagnostics unheard;
  if (!runPasses(trial, options, unheard))
    return "";
  FunctionReport report = makeReport(*trial.functions.front());
  // Packing slices, reshapes and lays out each input, and joins outputs alike.
  unsigned ports = unsigned(kernel.parameters().size()) + kernel.numResults();
  unsigned most = report.ops + 3 * ports;
  unsigned limit = ctx.target.limits.opsPerProgram;
  if (most > limit && !ctx.assumptions.allows(rules::OpLimit))
    return "it has " + std::to_string(most) + " ops, more than the target's " +
           std::to_string(limit);
  uint64_t bytes = ctx.target.limits.weightBytes;
  if (report.weightBytes > bytes && !ctx.assumptions.allows(rules::WeightLimit))
    return "its weights have " + std::to_string(report.weightBytes) +
           " bytes, more than the target's " + std::to_string(bytes);
  return "";
}

/// For each number of ops in front, the bytes that pass from these to the rest.
static std::vector<uint64_t> bytesAcross(llvm::ArrayRef<Op *> ops) {
  llvm::DenseMap<const Op *, size_t> places;
  for (auto [place, op] : llvm::enumerate(ops))
    places[op] = place;
  // A value passes every cut between its op and its last user.
  std::vector<uint64_t> changes(ops.size() + 1);
  for (auto [place, op] : llvm::enumerate(ops))
    for (const Value *result : op->resultValues()) {
      size_t last = place;
      for (Operand *use = result->firstUse(); use; use = use->nextUse())
        if (auto it = places.find(use->owner()); it != places.end())
          last = std::max(last, it->second);
      changes[place + 1] += result->type.numBytes();
      changes[last + 1] -= result->type.numBytes();
    }
  for (size_t count = 1; count < changes.size(); ++count)
    changes[count] += changes[count - 1];
  return changes;
}

/// Where to cut: near the middle, where the fewest bytes cross.
static size_t bestCut(llvm::ArrayRef<Op *> ops) {
  std::vector<uint64_t> bytes = bytesAcross(ops);
  size_t middle = ops.size() / 2, best = middle;
  for (size_t away = 1; away <= ops.size() / 6; ++away)
    for (size_t count : {middle - away, middle + away})
      if (bytes[count] < bytes[best])
        best = count;
  return best;
}

/// Only fp16 tensors pass between kernels: `rest` recomputes other values of
/// `first` that it uses.
static void computeOthersIn(OpenedBody &body, int rest,
                            llvm::ArrayRef<Op *> first) {
  for (Op *op : llvm::reverse(first)) {
    bool isUsed = false, isUsedElsewhere = false;
    for (const Value *result : op->resultValues())
      for (Operand *use = result->firstUse(); use; use = use->nextUse()) {
        bool inRest = use->owner() && body.groupOf(use->owner()) == rest;
        (inRest ? isUsed : isUsedElsewhere) = true;
      }
    bool passes = llvm::all_of(op->resultValues(), [](const Value *result) {
      return result->type.dtype == DType::FP16;
    });
    if (passes || !isUsed)
      continue;
    if (isUsedElsewhere)
      body.computeIn(*op, rest);
    else
      body.assign(op, rest);
  }
}

/// The kernels that were split, by the names of their parts.
using Wholes = llvm::StringMap<std::string>;

/// `a.part3` after `a.part2`, which comes after `a`.
static std::string nameOfRest(llvm::StringRef name, Wholes &wholes,
                              llvm::StringSet<> &taken) {
  auto cut = wholes.find(name);
  std::string whole = cut == wholes.end() ? name.str() : cut->second;
  std::string result;
  for (unsigned part = 2; result.empty() || taken.contains(result); ++part)
    result = whole + ".part" + std::to_string(part);
  taken.insert(result);
  wholes[result] = whole;
  return result;
}

/// Splits each kernel beyond a limit once.
static bool cutOnce(Module &module, PassContext &ctx, Wholes &wholes,
                    llvm::StringSet<> &fitting) {
  llvm::StringMap<std::string> reasons;
  llvm::StringSet<> withWeights, names;
  for (const auto &function : module.functions) {
    names.insert(function->name);
    if (function->kind != FunctionKind::Kernel || function->isDeclaration())
      continue;
    if (llvm::any_of(function->body(),
                     [](const Op &op) { return op.is(ops::Weight); }))
      withWeights.insert(function->name);
    if (fitting.contains(function->name))
      continue;
    // A single op cannot be split.
    std::string reason = reasonToCut(*function, ctx);
    if (reason.empty())
      fitting.insert(function->name);
    else if (llvm::count_if(function->body(), [](const Op &op) {
               return !isRematerialized(op);
             }) > 1)
      reasons[function->name] = reason;
  }
  if (reasons.empty())
    return false;
  OpenedModule opened(module);
  bool changed = false;
  // The same kernel is split in the same way at every call.
  llvm::StringMap<std::string> rests;
  for (OpenedBody &body : opened.bodies()) {
    unsigned groups = body.numGroups();
    for (unsigned number = 0; number < groups; ++number) {
      std::string name = body.group(number).name;
      bool passesWeights = !withWeights.contains(name);
      body.group(number).weightsAreInputs = passesWeights;
      auto reason = reasons.find(name);
      if (reason == reasons.end())
        continue;
      std::vector<Op *> ops = body.ops(number);
      std::string &restName = rests[name];
      if (restName.empty()) {
        restName = nameOfRest(name, wholes, names);
        ctx.remark(ops.front()->range(), diag::KernelCut, name, reason->second);
      }
      int rest = body.addPart(int(number), restName);
      body.group(rest).weightsAreInputs = passesWeights;
      size_t cut = bestCut(ops);
      for (Op *op : llvm::ArrayRef(ops).drop_front(cut))
        body.assign(op, rest);
      computeOthersIn(body, rest, llvm::ArrayRef(ops).take_front(cut));
      ctx.count("cuts");
      changed = true;
    }
  }
  opened.close();
  return changed;
}

/// Splits results beyond the channels of the target.
static bool tileAllResults(Module &module, PassContext &ctx) {
  if (!hasResultsToTile(module, ctx))
    return false;
  llvm::StringSet<> withWeights;
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Kernel &&
        llvm::any_of(function->body(),
                     [](const Op &op) { return op.is(ops::Weight); }))
      withWeights.insert(function->name);
  OpenedModule opened(module);
  for (OpenedBody &body : opened.bodies()) {
    for (unsigned number = 0; number < body.numGroups(); ++number)
      body.group(int(number)).weightsAreInputs =
          !withWeights.contains(body.group(int(number)).name);
    ctx.count("tiled", tileResults(body, ctx));
  }
  opened.close();
  return true;
}

static bool splitKernels(Module &module, PassContext &ctx) {
  constexpr unsigned maxRounds = 16; // halving: no kernel needs that many
  bool changed = tileAllResults(module, ctx);
  Wholes wholes;
  llvm::StringSet<> fitting; // kernels known to be within the limits
  for (unsigned round = 0;
       round < maxRounds && cutOnce(module, ctx, wholes, fitting); ++round)
    changed = true;
  return changed;
}

constinit const PassDef passes::SplitKernels = {
    .name = "split-kernels",
    .summary = "Split kernels that exceed the target's limits for a program",
    .description =
        "%y = call @k(%x), with 500 ops in @k\n"
        "  ==>  %h = call @k(%x); %y = call @k.part2(%h)\n"
        "\n"
        "%y = call @k(%x), with more channels in %y than a value can have\n"
        "  ==>  %a, %b = call @k(%x); %y = concat(%a, %b)",
    .stats = {{{"cuts", "calls split in two"},
               {"tiled", "products with a result in parts"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnModule = splitKernels,
};
