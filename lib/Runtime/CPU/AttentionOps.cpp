//===- AttentionOps.cpp - ops that are attention together -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AttentionOps.h"
#include "Schedule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::cpu;

/// Fewer rows than this are left to products that read the keys once.
static constexpr int64_t fewestRows = 16;

namespace {

class Matcher {
public:
  explicit Matcher(Numerics numerics) : numerics(numerics) {}

  bool match(const Op &last);
  AttentionOps found;

private:
  const Op *maker(const Value *value) const;
  bool matchValues(const Op *values);
  bool matchScores(AttentionPart &part, const Value *value) const;
  bool orderParts();
  bool fits() const;
  bool fits(const AttentionPart &part) const;

  Numerics numerics;
};

} // namespace

static const Shape &shapeOf(const Op *op) { return op->result()->type.shape; }
static int64_t fromEnd(const Shape &shape, size_t axis) {
  return shape[shape.size() - axis];
}

int64_t AttentionOps::rows() const {
  return fromEnd(shapeOf(parts[0].scores), 2);
}
int64_t AttentionOps::queries() const { return fromEnd(shapeOf(softmax), 2); }
int64_t AttentionOps::products() const {
  return parts[0].scores->result()->type.numElements() /
         (rows() * parts[0].keys());
}

llvm::SmallVector<const Op *, 12> AttentionOps::all() const {
  llvm::SmallVector<const Op *, 12> ops;
  auto add = [&](const Op *op) {
    if (op)
      ops.push_back(op);
  };
  for (const AttentionPart &part : parts) {
    add(part.scores);
    add(part.bound);
  }
  add(concat);
  add(softmax);
  for (const AttentionPart &part : parts) {
    add(part.slice);
    add(part.values);
  }
  add(sum);
  return ops;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The op that computes `value`, which may be renamed in between, if nothing
/// else reads it under any name.
const Op *Matcher::maker(const Value *value) const {
  while (value->hasOneUse()) {
    const Op *op = value->definingOp();
    if (!op || !isAlias(*op, numerics))
      return op;
    value = op->operand(0u);
  }
  return nullptr;
}

static bool isAlongLast(int64_t axis, const Op &op) {
  return axis == -1 || axis == int64_t(shapeOf(&op).size()) - 1;
}

/// v probs^T, where probs are weights or some columns of them.
bool Matcher::matchValues(const Op *values) {
  if (!values || !values->is(ops::Matmul) || !values->get(param::transposeY))
    return false;
  AttentionPart part;
  part.values = values;
  const Value *probs = values->operand(1u);
  const Op *op = maker(probs);
  if (op && op->is(ops::SliceBySize)) {
    if (!op->constant(param::begin))
      return false;
    part.slice = op;
    op = op->operand(0u)->definingOp();
  }
  if (!op || !op->is(ops::Softmax) || !isAlongLast(op->get(param::axis), *op) ||
      (found.softmax && op != found.softmax))
    return false;
  found.softmax = op;
  found.parts.push_back(part);
  return true;
}

/// min(q^T k, mask), or q^T k
bool Matcher::matchScores(AttentionPart &part, const Value *value) const {
  const Op *op = maker(value);
  if (op && op->is(ops::Minimum)) {
    part.bound = op;
    for (unsigned slot : {0u, 1u}) {
      const Op *scores = maker(op->operand(slot));
      if (!scores || !scores->is(ops::Matmul))
        continue;
      part.mask = op->operand(1 - slot);
      part.scores = scores;
      return op->operand(0u) != op->operand(1u) &&
             op->operand(slot)->type.shape == shapeOf(op);
    }
    return false;
  }
  part.scores = op;
  return op && op->is(ops::Matmul);
}

/// The slices are the operands of the concat, from the first one on.
bool Matcher::orderParts() {
  const Op &concat = *found.concat;
  if (!isAlongLast(concat.get(param::axis), concat) ||
      concat.get(param::interleave) || concat.numOperands() != 2)
    return false;
  auto beginOf = [](const AttentionPart &part) {
    const Shape &shape = part.slice->operand(0u)->type.shape;
    int64_t begin = part.slice->get(param::begin).back();
    return begin < 0 ? begin + shape.back() : begin;
  };
  if (beginOf(found.parts[0]) != 0)
    std::swap(found.parts[0], found.parts[1]);
  int64_t begin = 0;
  for (unsigned i = 0; i < 2; ++i) {
    AttentionPart &part = found.parts[i];
    Shape expected = shapeOf(found.softmax);
    expected.back() = concat.operand(i)->type.shape.back();
    if (beginOf(part) != begin || shapeOf(part.slice) != expected ||
        !matchScores(part, concat.operand(i)))
      return false;
    begin += expected.back();
  }
  return true;
}

bool Matcher::match(const Op &last) {
  if (last.is(ops::Matmul)) {
    return matchValues(&last) && !found.parts[0].slice &&
           matchScores(found.parts[0], found.softmax->operand(0u)) && fits();
  }
  if (!last.is(ops::Add))
    return false;
  found.sum = &last;
  for (const Value *operand : last.operandValues()) {
    const Op *values = operand->definingOp();
    if (!operand->hasOneUse() || !matchValues(values) ||
        !found.parts.back().slice || shapeOf(values) != shapeOf(&last))
      return false;
  }
  // The two slices are all that reads the weights.
  const Operand *use = found.softmax->result()->firstUse();
  if (!use->nextUse() || use->nextUse()->nextUse())
    return false;
  found.concat = maker(found.softmax->operand(0u));
  return found.concat && found.concat->is(ops::Concat) && orderParts() &&
         fits();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Whether the part has as many products and rows as all, without matrices that
/// several products share.
bool Matcher::fits(const AttentionPart &part) const {
  const Shape &scores = shapeOf(part.scores), &out = shapeOf(part.values);
  const Value *q = part.scores->operand(0u), *k = part.scores->operand(1u),
              *v = part.values->operand(0u), *probs = part.values->operand(1u);
  for (const Value *value : {q, k, v, probs})
    if (value->type.rank() < 2)
      return false;
  if (scores.size() < 2 || out.size() < 2 || part.keys() == 0)
    return false;
  int64_t rows = found.rows(), keys = part.keys(), count = found.products();
  auto elements = [](const Value *value) { return value->type.numElements(); };
  int64_t depth = part.scores->get(param::transposeX)
                      ? fromEnd(q->type.shape, 2)
                      : q->type.shape.back();
  int64_t width = fromEnd(out, 2);
  if (fromEnd(scores, 2) != rows || out.back() != rows ||
      elements(part.scores->result()) != count * rows * keys ||
      elements(part.values->result()) != count * width * rows ||
      elements(q) != count * depth * rows ||
      elements(k) != count * depth * keys ||
      elements(v) != count * width * keys ||
      elements(probs) != count * rows * keys ||
      fromEnd(probs->type.shape, 2) != rows)
    return false;
  if (!part.mask)
    return true;
  const Shape &mask = part.mask->type.shape, &bound = shapeOf(part.bound);
  int64_t all = part.mask->type.numElements(), queries = found.queries();
  if (mask.empty() || mask.back() != keys || bound.back() != keys)
    return false;
  return all == keys || (all == queries * keys && fromEnd(mask, 2) == queries &&
                         fromEnd(bound, 2) == queries);
}

bool Matcher::fits() const {
  for (const Op *op : found.all()) {
    if (!isFloat(op->result()->type.dtype) ||
        op->result()->type.numElements() == 0)
      return false;
  }
  const Shape &probs = shapeOf(found.softmax);
  if (probs.size() < 2 || shapeOf(found.parts[0].scores).size() < 2)
    return false;
  int64_t rows = found.rows(), keys = 0;
  for (auto [i, part] : llvm::enumerate(found.parts)) {
    keys += part.keys();
    if (found.concat &&
        found.concat->operand(unsigned(i))->type.shape.back() != part.keys())
      return false;
  }
  return probs.back() == keys && rows >= fewestRows &&
         rows % found.queries() == 0 &&
         found.softmax->result()->type.numElements() ==
             found.products() * rows * probs.back() &&
         llvm::all_of(found.parts,
                      [&](const AttentionPart &part) { return fits(part); });
}

std::optional<AttentionOps> cpu::attentionBefore(const Op &last,
                                                 Numerics numerics) {
  Matcher matcher(numerics);
  if (!matcher.match(last))
    return std::nullopt;
  return std::move(matcher.found);
}
