//===- IncrementalModel.cpp - derives the programs of a model -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "IncrementalModel.h"
#include "../Simplify/DeadOps.h"
#include "ModelDeriver.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Sdpa.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include <tuple>

using namespace anec;

//===----------------------------------------------------------------------===//
// Values of the position
//===----------------------------------------------------------------------===//

bool PositionValue::operator==(const PositionValue &other) const {
  if (kind != other.kind || type != other.type || window != other.window)
    return false;
  return !rope || equalConstants(rope->constants(), other.rope->constants());
}

llvm::StringRef PositionValue::name() const {
  switch (kind) {
  case Index:
    return "index";
  case Mask:
    return "mask";
  case BlockMask:
    return "block_mask";
  case Cosines:
    return "cosines";
  case Sines:
    return "sines";
  }
  llvm_unreachable("a kind");
}

//===----------------------------------------------------------------------===//
// Layers and bodies
//===----------------------------------------------------------------------===//

bool IncrementalModel::Key::operator<(const Key &other) const {
  auto tied = [](const Key &key) {
    std::vector<int64_t> numbers = {key.count, key.context};
    for (PositionAxis axis : key.axes)
      numbers.push_back(axis ? int64_t(*axis) : -1);
    return std::tuple(llvm::StringRef(key.function->name), numbers,
                      llvm::StringRef(key.model));
  };
  return tied(*this) < tied(other);
}

std::string IncrementalModel::uniqueName(const std::string &wanted) const {
  std::string name = wanted;
  for (unsigned suffix = 1; module.findFunction(name); ++suffix)
    name = wanted + "_" + std::to_string(suffix);
  return name;
}

bool IncrementalModel::usesPositions(const Op &op) {
  if (op.is(ops::Sdpa) || op.is(ops::Rope))
    return true;
  bool calls = op.def().has(trait::Call);
  if (!calls && !op.is(ops::Repeat))
    return false;
  const Function *applied =
      module.findFunction(calls ? op.get(param::callee) : op.get(param::body));
  if (auto known = positionUsers.find(applied); known != positionUsers.end())
    return known->second;
  bool uses = llvm::any_of(
      applied->body(), [&](const Op &inner) { return usesPositions(inner); });
  return positionUsers[applied] = uses;
}

/// Adds the parameters of `from` to `to`, at `count` positions.
static void addParameters(const Function &from, Function &to,
                          llvm::ArrayRef<PositionAxis> axes, int64_t count,
                          FunctionDeriver &deriver) {
  for (auto [param, axis] : llvm::zip_equal(from.parameters(), axes)) {
    TensorType type = param->type;
    if (axis)
      type.shape[*axis] = count;
    Value *added = to.addParameter(type, param->name, param->role());
    added->declared = param->declared;
    deriver.set(param.get(), added, axis);
  }
}

/// Puts the values of the position before the slices, and the caches last.
static void orderParameters(Function &to, size_t originals, size_t sliced,
                            const FunctionDeriver &deriver) {
  llvm::SmallVector<unsigned, 8> order;
  for (size_t i = 0; i < originals - sliced; ++i)
    order.push_back(unsigned(i));
  for (const Value *value : deriver.valueParameters)
    order.push_back(value->index());
  for (size_t i = originals - sliced; i < originals; ++i)
    order.push_back(unsigned(i));
  for (const Value *cache : deriver.cacheParameters)
    order.push_back(cache->index());
  to.orderParameters(order);
}

/// The results of `from`, then the new rows of the caches.
static void setResults(const Function &from, Function &to,
                       llvm::ArrayRef<Value *> results,
                       const FunctionDeriver &deriver) {
  llvm::SmallVector<Value *, 8> values(results);
  std::vector<std::string> names = from.resultNames().vec();
  NameSet taken;
  for (llvm::StringRef name : names)
    taken.unique(name);
  for (auto [rows, cache] : llvm::zip_equal(deriver.rows, deriver.caches)) {
    values.push_back(rows);
    llvm::StringRef stem = cache.name;
    stem.consume_back("_cache");
    names.push_back(taken.unique((stem + "_new").str()).str());
  }
  llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
  to.setResults(values, views);
}

const DerivedFunction &
IncrementalModel::derive(const Function &function,
                         llvm::ArrayRef<PositionAxis> axes, int64_t count,
                         size_t sliced) {
  bool isBody = function.kind == FunctionKind::Host;
  Key key{&function,
          {axes.begin(), axes.end()},
          count,
          anyContext,
          isBody ? model : std::string()};
  if (auto known = derived.find(key); known != derived.end())
    return known->second;
  key.context = program.starts ? startOfText : program.context;
  if (auto known = derived.find(key); known != derived.end())
    return known->second;

  auto made =
      std::make_unique<Function>(function.kind, function.name, function.range);
  made->opset = function.opset;
  made->setRole(isBody ? FunctionRole::Body : FunctionRole::Decode,
                isBody ? model : function.of().str());
  FunctionDeriver deriver(*this, *made);
  addParameters(function, *made, axes, count, deriver);
  for (const Op &op : function.body())
    if (!deriver.derive(op, count))
      return derived[key];
  DerivedFunction result;
  llvm::SmallVector<Value *, 4> results;
  for (const Value *value : function.resultValues()) {
    results.push_back(deriver.valueOf(value));
    result.results.push_back(deriver.axisOf(value));
  }
  setResults(function, *made, results, deriver);
  orderParameters(*made, function.parameters().size(), sliced, deriver);
  removeDeadOps(*made);
  result.values = std::move(deriver.values);
  result.caches = std::move(deriver.caches);
  bool attends = !result.caches.empty() ||
                 llvm::any_of(result.values, [](const PositionValue &value) {
                   return value.kind == PositionValue::Mask;
                 });
  bool starts = attends && program.starts;
  std::string name =
      function.name + (starts ? ".start" : ".decode") + std::to_string(count);
  if (!attends)
    key.context = anyContext;
  else if (!starts)
    name += ".c" + std::to_string(program.context);
  made->name = uniqueName(name);
  result.function = made.get();
  module.functions.push_back(std::move(made));
  ctx.count("functions");
  return derived[key] = std::move(result);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {

/// The ops of a model that its logits depend on, and those of them that are
/// computed for the wanted positions alone.
struct LogitsCone {
  LogitsCone(const Function &model, const Value &logits,
             IncrementalModel &owner) {
    llvm::DenseSet<const Value *> needed = {&logits}, leading;
    for (const Op &op : llvm::reverse(model.body())) {
      bool isNeeded = false, leads = owner.usesPositions(op);
      for (const Value *result : op.resultValues()) {
        isNeeded |= needed.contains(result);
        leads |= leading.contains(result);
      }
      if (!isNeeded)
        continue;
      ops.insert(&op);
      if (!leads)
        tail.insert(&op);
      for (const Value *operand : op.operandValues())
        if (operand) {
          needed.insert(operand);
          if (leads)
            leading.insert(operand);
        }
    }
  }
  llvm::DenseSet<const Op *> ops, tail;
};

} // namespace

bool IncrementalModel::derive(const Function &function, const Value &tokens,
                              const Value &logits,
                              const DecodeProgram &wanted) {
  program = wanted;
  model = function.of().str();
  modelPositions = tokens.type.shape.back();
  auto made = std::make_unique<Function>(FunctionKind::Host, function.name,
                                         function.range);
  made->setRole(program.role, model);
  ModelDeriver deriver(*this, *made);
  deriver.addInputs(tokens);
  LogitsCone cone(function, logits, *this);
  for (const Op &op : function.body())
    if (cone.ops.contains(&op) &&
        !deriver.derive(op, cone.tail.contains(&op) ? program.wanted
                                                    : program.columns()))
      return false;
  if (!deriver.axisOf(&logits)) {
    ctx.diags.report(function.range, diag::LogitsNeeded, model,
                     "its logits do not depend on its tokens");
    return false;
  }
  deriver.updateStates();
  made->setResults({deriver.valueOf(&logits)}, {"logits"}, {ValueRole::Logits});
  removeDeadOps(*made);
  made->name =
      uniqueName(function.name + "." +
                 (program.starts ? "start" : spelling(program.role).str()) +
                 std::to_string(program.block) +
                 (program.read > 1 ? "x" + std::to_string(program.read) : "") +
                 ".c" + std::to_string(program.context));
  module.functions.push_back(std::move(made));
  ctx.count("programs");
  return true;
}
