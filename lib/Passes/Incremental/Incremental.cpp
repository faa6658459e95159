//===- Incremental.cpp - programs that prefill and decode -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A model computes the logits of all positions of a text. From it, this pass
/// derives programs that compute those of a block of new positions, from the
/// keys and values of earlier ones, which are states:
///
///   host @m(%tokens: int32[S], ...) -> (%loss, %logits)
///   ==> host @m.decode1.c256(%tokens: int32[1], %position,
///           %k_cache: state<[.., 256]>, %v_cache: ...) -> (%logits)
///
/// Positions may see earlier ones through causal `sdpa` alone.
/// docs/use/decoding.md describes what is derived.
///
//===----------------------------------------------------------------------===//

#include "IncrementalModel.h"
#include "anec/Passes/DecodePrograms.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace anec;

std::vector<int64_t> anec::defaultLadder(int64_t context) {
  std::vector<int64_t> ladder;
  for (int64_t rung = 256; rung < context; rung *= 2)
    ladder.push_back(rung);
  ladder.push_back(context);
  return ladder;
}

//===----------------------------------------------------------------------===//
// The programs
//===----------------------------------------------------------------------===//

/// Constants of masks and programs grow with the context: at this one, a
/// program has 2^24 positions in a constant, and thousands of ops.
static constexpr int64_t maxContext = int64_t(1) << 24;

/// The programs to derive of a model of `positions`. Returns nothing, with the
/// reason reported, when there are none.
static std::optional<std::vector<DecodeProgram>>
listPrograms(const DecodePrograms &wanted, int64_t positions, SourceRange range,
             Diagnostics &diags) {
  auto fail = [&](const std::string &text) {
    diags.report(range, diag::BadDecodePrograms, text);
    return std::nullopt;
  };
  int64_t context = wanted.context != 0 ? wanted.context : positions;
  int64_t texts = wanted.batch;
  if (texts < 1 || texts > maxBatch)
    return fail("a batch has 1 to " + std::to_string(maxBatch) + " texts");
  if (context < 1 || context > maxContext)
    return fail("a context has 1 to " + std::to_string(maxContext) +
                " positions");
  std::set<int64_t> ladder(wanted.ladder.begin(), wanted.ladder.end());
  if (ladder.empty() && !wanted.hasOneContext)
    for (int64_t rung : defaultLadder(context))
      ladder.insert(rung);
  ladder.insert(context);
  if (*ladder.begin() < 1 || *ladder.rbegin() > context)
    return fail("the contexts of the ladder are 1 to " +
                std::to_string(context) + ", the largest");
  // Logits of every position make a prefill of the same size needless.
  std::set<int64_t> blocks(wanted.blocks.begin(), wanted.blocks.end());
  std::set<int64_t> prefills(wanted.prefills.begin(), wanted.prefills.end());
  constexpr int64_t usualPrefill = 64;
  if (prefills.empty() && context >= usualPrefill)
    prefills.insert(usualPrefill);
  for (const std::set<int64_t> *sizes : {&blocks, &prefills})
    if (!sizes->empty() && (*sizes->begin() < 1 || *sizes->rbegin() > context))
      return fail("blocks and prefills have 1 to " + std::to_string(context) +
                  " positions, the context");
  if (blocks.empty())
    return fail("at least one block has to be given");
  std::vector<DecodeProgram> programs;
  for (int64_t rung : ladder) {
    for (int64_t block : blocks)
      if (block <= rung)
        programs.push_back(
            {FunctionRole::Decode, rung, block, texts * block, texts, texts});
    for (int64_t block : prefills)
      if (block <= rung && (texts > 1 || !blocks.contains(block))) {
        programs.push_back({FunctionRole::Prefill, rung, block, 1, texts, 1});
        if (block == 1 || wanted.hasOneContext)
          continue;
        programs.push_back(programs.back());
        programs.back().starts = true;
      }
  }
  return programs;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// What is derived of a model.
struct Source {
  const Value *tokens = nullptr, *logits = nullptr;
};
} // namespace

/// The parameters that `logits` depends on.
static std::vector<const Value *> inputsOf(const Function &model,
                                           const Value &logits) {
  llvm::DenseSet<const Value *> needed = {&logits};
  for (const Op &op : llvm::reverse(model.body()))
    if (llvm::any_of(op.resultValues(), [&](const Value *result) {
          return needed.contains(result);
        }))
      for (const Value *operand : op.operandValues())
        if (operand)
          needed.insert(operand);
  std::vector<const Value *> inputs;
  for (const auto &param : model.parameters())
    if (needed.contains(param.get()))
      inputs.push_back(param.get());
  return inputs;
}

/// Returns nothing, with the reason reported, for a model that is none of
/// language.
static std::optional<Source> sourceOf(const Function &model,
                                      Diagnostics &diags) {
  std::optional<unsigned> result = model.resultOf(ValueRole::Logits);
  if (!result) {
    diags.report(model.range, diag::LogitsNeeded, model.name,
                 "it computes no single loss, such as `cross_entropy`, from "
                 "logits");
    return std::nullopt;
  }
  Source source{nullptr, model.result(*result)};
  std::vector<const Value *> inputs = inputsOf(model, *source.logits);
  auto fail = [&](const Value *input, const std::string &why) {
    diags.report(input ? input->range() : model.range, diag::TokensNeeded,
                 model.name, why);
    return std::nullopt;
  };
  if (inputs.empty())
    return fail(nullptr, "its logits depend on no input");
  for (const Value *input : inputs)
    if (input->type.dtype != DType::Int32 || input->type.isScalar())
      return fail(input, "its input `" + input->name + "` is `" +
                             input->type.str() + "`");
  if (inputs.size() > 1)
    return fail(inputs[1], "its logits depend on `" + inputs[0]->name +
                               "` and `" + inputs[1]->name + "`");
  if (inputs[0]->type.shape.back() < 2)
    return fail(inputs[0], "`" + inputs[0]->name +
                               "` has one position, which no axis shows");
  source.tokens = inputs[0];
  return source;
}

/// Removes the functions that no entry applies.
static void removeUnused(Module &module) {
  for (bool changed = true; changed;) {
    llvm::StringSet<> used;
    for (const auto &function : module.functions)
      for (const Op &op : function->body()) {
        if (op.is(ops::Repeat))
          used.insert(op.get(param::body));
        else if (op.def().has(trait::Call))
          used.insert(op.get(param::callee));
      }
    size_t before = module.functions.size();
    llvm::erase_if(module.functions, [&](const auto &function) {
      return !function->isEntry() && !used.contains(function->name);
    });
    changed = module.functions.size() != before;
  }
}

static bool incremental(Module &module, PassContext &ctx) {
  std::vector<const Function *> models;
  for (const auto &function : module.functions)
    if (function->isEntry() && (function->role == FunctionRole::Infer ||
                                function->resultOf(ValueRole::Logits)))
      models.push_back(function.get());
  if (models.empty()) {
    ctx.diags.report(module.functions.empty() ? SourceRange()
                                              : module.functions[0]->range,
                     diag::NothingToDecode);
    return false;
  }
  IncrementalModel deriver(module, ctx);
  bool ok = true;
  for (const Function *model : models) {
    std::optional<Source> source = sourceOf(*model, ctx.diags);
    std::optional<std::vector<DecodeProgram>> programs;
    if (source)
      programs = listPrograms(ctx.decode, source->tokens->type.shape.back(),
                              model->range, ctx.diags);
    ok &= programs.has_value();
    if (programs)
      for (const DecodeProgram &program : *programs)
        // One report of what cannot be decoded is enough.
        if (!deriver.derive(*model, *source->tokens, *source->logits,
                            program)) {
          ok = false;
          break;
        }
  }
  if (!ok)
    return false;
  ctx.count("models", models.size());
  llvm::erase_if(module.functions, [&](const auto &function) {
    return llvm::is_contained(models, function.get());
  });
  removeUnused(module);
  return true;
}

constinit const PassDef passes::Incremental = {
    .name = "incremental",
    .summary = "Derive programs that prefill and decode texts with cached keys "
               "and values",
    .description =
        "host @m(%tokens: int32[256]) -> (%logits) {role = infer}\n"
        "  ==>  host @m.decode1.c256(%tokens: int32[1], %position: int32 {role "
        "= position}, %k_cache: state<fp16[12, 12, 64, 256]>, %v_cache: "
        "state<...>) -> (%logits) {role = decode, of = \"m\"}\n"
        "layer @attention(%x: fp16[768, 256]) -> (%y)\n"
        "  ==>  layer @attention.decode1.c256(%x: fp16[768, 1], %cosines, "
        "%sines, %mask, %k_cache, %v_cache) -> (%y, %k_new, %v_new)",
    .stats = {{{"models", "models that are decoded"},
               {"programs", "programs derived"},
               {"functions", "layers and bodies derived"}}},
    .tolerance = 0,
    .changesInterface = true,
    .needs = Need::Bodies,
    .runOnModule = incremental,
};
