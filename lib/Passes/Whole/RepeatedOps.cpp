//===- RepeatedOps.cpp - parts of a function that compute alike -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RepeatedOps.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

using namespace anec;

/// A constant with more elements than this is not made an argument.
static constexpr int64_t mostElements = 4096;
/// A layer saves at least this number of ops: fewer are not worth the calls.
static constexpr size_t fewestSaved = 8;
/// Bounds of the time that large programs take: the longest layer, in ops, and
/// the most starts that are tried for one length.
static constexpr size_t longestPeriod = 3000, mostStarts = 256;
/// An op that is compared with another costs as many steps as this number of
/// colors.
static constexpr size_t stepsOfOp = 50;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static size_t colorOf(const Op &op) {
  llvm::hash_code code = llvm::hash_value(&op.def());
  for (const Value *operand : op.operandValues()) {
    code = llvm::hash_combine(code, operand != nullptr);
    if (operand)
      code = llvm::hash_combine(
          code, unsigned(operand->type.dtype),
          llvm::hash_combine_range(operand->type.shape.begin(),
                                   operand->type.shape.end()));
  }
  for (const ConstantRef &constant : op.constants())
    code = llvm::hash_combine(code, constant ? constant->hash() : 0);
  // Blocks are different for each op.
  if (!blocksOf(op).empty())
    code = llvm::hash_combine(code, &op);
  return size_t(code);
}

LayerOrder::LayerOrder(Function &function) {
  std::vector<Op *> later;
  for (Op &op : function.body()) {
    bool isActive = false, isWeighted = op.is(ops::Weight);
    for (const Value *operand : op.operandValues()) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      isActive |= operand && (!def || active.contains(def));
      isWeighted |= def && weighted.contains(def);
    }
    if (isWeighted)
      weighted.insert(&op);
    if (!isActive)
      continue;
    active.insert(&op);
    (isWeighted ? later : ordered).push_back(&op);
  }
  llvm::append_range(ordered, later);
  users.push_back(0);
  for (const Op *op : ordered) {
    colored.push_back(colorOf(*op));
    users.push_back(users.back() +
                    llvm::any_of(op->operandValues(), [&](const Value *value) {
                      const Op *def = value ? value->definingOp() : nullptr;
                      return def && !dependsOnInputs(*def) &&
                             dependsOnWeights(*def);
                    }));
  }
}

void LayerOrder::addWithParameters(Op &op, llvm::DenseSet<const Op *> &added,
                                   std::vector<Op *> &ops) const {
  // Ops, and the next operand of each to look at.
  std::vector<std::pair<Op *, unsigned>> stack = {{&op, 0}};
  while (!stack.empty()) {
    auto &[top, next] = stack.back();
    if (next == top->numOperands()) {
      if (added.insert(top).second)
        ops.push_back(top);
      stack.pop_back();
      continue;
    }
    const Value *operand = top->operand(next++);
    Op *def = operand ? operand->definingOp() : nullptr;
    if (def && !dependsOnInputs(*def) && !added.contains(def))
      stack.push_back({def, 0});
  }
}

std::vector<Op *> LayerOrder::withParameters(size_t begin, size_t end) const {
  std::vector<Op *> result;
  llvm::DenseSet<const Op *> added;
  for (Op *op : llvm::ArrayRef(ordered).slice(begin, end - begin))
    addWithParameters(*op, added, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {

/// A part and the places of its ops in it.
struct Part {
  std::vector<Op *> ops;
  llvm::DenseMap<const Op *, unsigned> places;

  explicit Part(std::vector<Op *> given) : ops(std::move(given)) {
    for (auto [place, op] : llvm::enumerate(ops))
      places[op] = unsigned(place);
  }
  bool defines(const Value *value) const {
    return value->definingOp() && places.contains(value->definingOp());
  }
};

} // namespace

/// Whether the constants of two ops allow one layer for both.
static bool fit(const Op &a, const Op &b) {
  if (a.is(ops::Weight)) {
    llvm::SmallVector<ConstantRef, 4> renamed(a.constants());
    int slot = ops::Weight.constantSlot(param::name);
    renamed[size_t(slot)] = b.constants()[size_t(slot)];
    return a.get(param::name) != b.get(param::name) &&
           equalConstants(renamed, b.constants());
  }
  return equalConstants(a.constants(), b.constants()) ||
         (a.is(ops::Const) && !isPartOfPackedWeight(*a.result()) &&
          isFloat(a.result()->type.dtype) &&
          a.result()->type.numElements() <= mostElements);
}

/// Whether the operands are the same ops of the parts, or come from outside.
static bool fitOperands(const Part &left, const Op &a, const Part &right,
                        const Op &b) {
  for (unsigned slot = 0; slot < a.numOperands(); ++slot) {
    const Value *x = a.operand(slot), *y = b.operand(slot);
    if (!x != !y)
      return false;
    if (!x)
      continue;
    bool isLocal = left.defines(x);
    if (isLocal != right.defines(y) || x->type != y->type)
      return false;
    if (isLocal && (left.places.lookup(x->definingOp()) !=
                        right.places.lookup(y->definingOp()) ||
                    x->index() != y->index()))
      return false;
  }
  return true;
}

static bool areAlike(const Part &left, const Part &right) {
  if (left.ops.size() != right.ops.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(left.ops, right.ops)) {
    if (x == y)
      continue;
    if (!x->is(y->def()) || x->numOperands() != y->numOperands() ||
        x->numResults() != y->numResults() || !fit(*x, *y) ||
        !fitOperands(left, *x, right, *y))
      return false;
    for (unsigned i = 0; i < x->numResults(); ++i)
      if (x->result(i)->type != y->result(i)->type)
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The layer of parts
//===----------------------------------------------------------------------===//

namespace {

/// Makes the layer of parts that are alike.
class LayerOfParts {
public:
  LayerOfParts(const LayerOrder &order, std::vector<Part> given)
      : order(order), parts(std::move(given)) {}

  /// Nothing when the parts cannot be instances of one layer.
  std::optional<RepeatedOps> make();

private:
  bool setKinds();
  bool ownsWeights() const;
  void addArguments();
  void addResults();
  bool isUsedOutside(const Value &value, const Part &part) const;

  const LayerOrder &order;
  std::vector<Part> parts;
  RepeatedOps made;
};

} // namespace

bool LayerOfParts::setKinds() {
  bool hasWeights = false;
  for (size_t place = 0; place < parts[0].ops.size(); ++place) {
    llvm::SmallPtrSet<const Op *, 16> different;
    bool isEqual = true;
    const Op &first = *parts[0].ops[place];
    for (const Part &part : parts) {
      different.insert(part.ops[place]);
      isEqual &=
          equalConstants(first.constants(), part.ops[place]->constants());
    }
    bool isShared = different.size() == 1 && parts.size() > 1;
    PartOp kind = PartOp::Copied;
    if (first.is(ops::Const)) {
      kind = isEqual ? PartOp::Copied : PartOp::Constant;
    } else if (isShared) {
      kind = PartOp::Shared;
    } else if (first.is(ops::Weight)) {
      if (different.size() != parts.size())
        return false;
      kind = PartOp::Weight;
      made.hasInstances = true;
    }
    hasWeights |= first.is(ops::Weight);
    made.kinds.push_back(kind);
  }
  // Parts that share all weights are calls of one layer with these.
  if (!made.hasInstances)
    std::replace(made.kinds.begin(), made.kinds.end(), PartOp::Shared,
                 PartOp::Copied);
  return hasWeights;
}

bool LayerOfParts::isUsedOutside(const Value &value, const Part &part) const {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse())
    if (!use->owner() || !part.places.contains(use->owner()))
      return true;
  return false;
}

/// Whether nothing else uses the weights of the instances, and they have names
/// that can be listed.
bool LayerOfParts::ownsWeights() const {
  for (const Part &part : parts)
    for (auto [kind, op] : llvm::zip_equal(made.kinds, part.ops)) {
      if (kind == PartOp::Weight && !canBeInstance(op->get(param::name)))
        return false;
      bool isOwn = kind == PartOp::Weight ||
                   (kind == PartOp::Copied && made.hasInstances &&
                    !order.dependsOnInputs(*op) && order.dependsOnWeights(*op));
      if (isOwn && llvm::any_of(op->resultValues(), [&](const Value *value) {
            return isUsedOutside(*value, part);
          }))
        return false;
    }
  return true;
}

/// Adds an argument for each value that ops of the layer take from outside.
void LayerOfParts::addArguments() {
  std::map<std::vector<Value *>, size_t> known;
  for (auto [place, first] : llvm::enumerate(parts[0].ops)) {
    if (made.kinds[place] != PartOp::Copied)
      continue;
    for (unsigned slot = 0; slot < first->numOperands(); ++slot) {
      const Value *operand = first->operand(slot);
      if (!operand)
        continue;
      auto it = operand->definingOp()
                    ? parts[0].places.find(operand->definingOp())
                    : parts[0].places.end();
      if (it != parts[0].places.end() &&
          (made.kinds[it->second] == PartOp::Copied ||
           made.kinds[it->second] == PartOp::Weight))
        continue;
      std::vector<Value *> values;
      for (const Part &part : parts)
        values.push_back(part.ops[place]->operand(slot));
      auto [argument, isNew] = known.try_emplace(values, made.arguments.size());
      made.argumentOf[{first, slot}] = unsigned(argument->second);
      if (isNew)
        made.arguments.push_back(std::move(values));
    }
  }
}

void LayerOfParts::addResults() {
  for (auto [place, first] : llvm::enumerate(parts[0].ops)) {
    if (!order.dependsOnInputs(*first))
      continue;
    for (unsigned index = 0; index < first->numResults(); ++index) {
      std::vector<Value *> values;
      bool isUsed = false;
      for (const Part &part : parts) {
        values.push_back(part.ops[place]->result(index));
        isUsed |= isUsedOutside(*values.back(), part);
      }
      if (isUsed)
        made.results.push_back(std::move(values));
    }
  }
}

std::optional<RepeatedOps> LayerOfParts::make() {
  if (!setKinds() || !ownsWeights())
    return std::nullopt;
  addArguments();
  addResults();
  for (Part &part : parts)
    made.parts.push_back(std::move(part.ops));
  return std::move(made);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {

/// Ops `begin` to `end` are like those `period` before them.
struct Candidate {
  size_t begin, end, period;
  size_t count() const { return (end - begin) / period; }
  size_t saved() const { return (count() - 1) * period; }
};

class RepeatSearch {
public:
  RepeatSearch(const LayerOrder &order, size_t begin, size_t end,
               size_t &budget)
      : order(order), begin(begin), end(end), budget(budget) {}
  std::optional<RepeatedOps> find();

private:
  std::vector<Candidate> candidates();
  std::optional<RepeatedOps> best(const Candidate &candidate);
  std::optional<RepeatedOps> from(size_t start, const Candidate &candidate);
  void spend(size_t steps) { budget -= std::min(budget, steps); }

  const LayerOrder &order;
  size_t begin, end;
  size_t &budget;
};

} // namespace

/// Those that could save the most ops first, and of these the shortest layers.
std::vector<Candidate> RepeatSearch::candidates() {
  std::vector<Candidate> found;
  llvm::ArrayRef<size_t> colors = order.colors();
  size_t longest = std::min((end - begin) / 2, longestPeriod);
  for (size_t period = 1; period <= longest && budget; ++period) {
    spend(end - begin);
    size_t start = begin;
    for (size_t i = begin; i + period <= end; ++i) {
      if (i + period < end && colors[i] == colors[i + period])
        continue;
      Candidate candidate{start, i + period, period};
      if (i - start >= period && candidate.saved() >= fewestSaved &&
          order.useWeights(start, start + period))
        found.push_back(candidate);
      start = i + 1;
    }
  }
  llvm::stable_sort(found, [](const Candidate &a, const Candidate &b) {
    return a.saved() > b.saved();
  });
  return found;
}

/// The longest chain of parts of which the first begins at `start` or a number
/// of periods later.
std::optional<RepeatedOps> RepeatSearch::from(size_t start,
                                              const Candidate &candidate) {
  std::vector<Part> longest, current;
  size_t longestBegin = 0, currentBegin = 0;
  auto finish = [&] {
    if (current.size() > longest.size()) {
      longest = std::move(current);
      longestBegin = currentBegin;
    }
    current.clear();
  };
  for (size_t at = start; at + candidate.period <= candidate.end && budget;
       at += candidate.period) {
    Part part(order.withParameters(at, at + candidate.period));
    spend(part.ops.size() * stepsOfOp);
    if (!current.empty() && !areAlike(current.front(), part))
      finish();
    if (current.empty())
      currentBegin = at;
    current.push_back(std::move(part));
  }
  finish();
  if (longest.size() < 2 ||
      (longest.size() - 1) * candidate.period < fewestSaved)
    return std::nullopt;
  std::optional<RepeatedOps> made =
      LayerOfParts(order, std::move(longest)).make();
  if (made) {
    made->begin = longestBegin;
    made->period = candidate.period;
  }
  return made;
}

/// Of the places where the first part can begin, the one with the fewest values
/// between parts, then the one with the most parts.
std::optional<RepeatedOps> RepeatSearch::best(const Candidate &candidate) {
  std::optional<RepeatedOps> best;
  auto cost = [](const RepeatedOps &ops) {
    return std::pair(ops.arguments.size() + ops.results.size(),
                     -int64_t(ops.count()));
  };
  size_t starts = std::min(candidate.period, mostStarts);
  for (size_t start = candidate.begin;
       start < candidate.begin + starts && budget; ++start) {
    std::optional<RepeatedOps> made = from(start, candidate);
    if (made && (!best || cost(*made) < cost(*best)))
      best = std::move(made);
  }
  return best;
}

std::optional<RepeatedOps> RepeatSearch::find() {
  // The first ones save the most, unless their parts turn out to differ.
  std::optional<RepeatedOps> found;
  auto saved = [](const RepeatedOps &ops) {
    return (ops.count() - 1) * ops.period;
  };
  for (const Candidate &candidate : candidates()) {
    if (!budget || (found && candidate.saved() <= saved(*found)))
      break;
    std::optional<RepeatedOps> made = best(candidate);
    if (made && (!found || saved(*made) > saved(*found)))
      found = std::move(made);
  }
  return found;
}

std::optional<RepeatedOps> anec::findRepeatedOps(const LayerOrder &order,
                                                 size_t begin, size_t end,
                                                 size_t &budget) {
  return RepeatSearch(order, begin, end, budget).find();
}
