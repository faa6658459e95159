//===- TileResults.cpp - results with more channels than a chip has -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TileResults.h"
#include "anec/IR/WeightView.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/MapVector.h"

using namespace anec;

static int64_t mostChannels(const PassContext &ctx) {
  return ctx.target.limits.channels.value;
}

/// A weight [rows, columns] @ x [columns, positions].
static bool isLargeProduct(const Op &op, const PassContext &ctx) {
  if (!op.is(ops::Matmul) || op.result()->type.rank() != 2 ||
      op.get(param::transposeX) ||
      op.result()->type.shape[0] <= mostChannels(ctx) ||
      ctx.assumptions.allows(rules::ChannelLimit))
    return false;
  const Op *weight = op.operand(0u)->definingOp();
  return weight && weight->is(ops::Weight) && op.operand(0u)->type.rank() == 2;
}

bool anec::hasResultsToTile(const Module &module, const PassContext &ctx) {
  return llvm::any_of(module.functions, [&](const auto &function) {
    return function->kind == FunctionKind::Kernel &&
           !function->isDeclaration() &&
           llvm::any_of(function->body(),
                        [&](const Op &op) { return isLargeProduct(op, ctx); });
  });
}

namespace {

/// A product, and the ops of its group that follow element by element.
class TiledProduct {
public:
  TiledProduct(OpenedBody &body, int group, Op &product)
      : body(body), group(group), builder(body.host()) {
    members.insert({product.result(), {}});
    ops.push_back(&product);
    for (Op *op : body.ops(group))
      if (follows(*op)) {
        members.insert({op->result(), {}});
        ops.push_back(op);
      }
  }

  void rewrite(int64_t limit);

private:
  /// Whether a part of the result of `op` is computed of parts of members and
  /// of what can be read in parts without an op.
  bool follows(const Op &op) const;
  Value *partOf(Value *value, int64_t begin, int64_t extent, size_t part);

  int64_t rows() const { return ops.front()->result()->type.shape[0]; }

  OpenedBody &body;
  int group;
  Builder builder;
  std::vector<Op *> ops;
  /// Their results, and the parts of each.
  llvm::MapVector<Value *, std::vector<Value *>> members;
};

} // namespace

bool TiledProduct::follows(const Op &op) const {
  if (!op.def().has(trait::Elementwise) || op.numResults() != 1 ||
      op.result()->type.shape != ops.front()->result()->type.shape)
    return false;
  bool isAfter = false;
  for (Value *operand : op.operandValues()) {
    if (!operand)
      continue;
    if (members.contains(operand)) {
      isAfter = true;
      continue;
    }
    const TensorType &type = operand->type;
    bool isSame = type.rank() < 2 || type.shape[0] == 1;
    const Op *source = operand->definingOp();
    if (!isSame && !(source && source->is(ops::Weight)))
      return false;
  }
  return isAfter;
}

/// `extent` rows of an operand, from `begin` on.
Value *TiledProduct::partOf(Value *value, int64_t begin, int64_t extent,
                            size_t part) {
  if (!value)
    return nullptr;
  if (auto member = members.find(value); member != members.end())
    return member->second[part];
  if (value->type.rank() < 2 || value->type.shape[0] != rows())
    return value;
  Shape from(value->type.rank(), 0), end = value->type.shape;
  from[0] = begin;
  end[0] = begin + extent;
  const Op &weight = *value->definingOp();
  return buildWeight(builder, weight, viewOf(weight).array.slice(from, end),
                     value->name);
}

void TiledProduct::rewrite(int64_t limit) {
  int64_t count = (rows() + limit - 1) / limit, begin = 0;
  for (int64_t part = 0; part < count; ++part) {
    int64_t extent = (rows() - begin) / (count - part);
    for (Op *op : ops) {
      builder.setInsertionPoint(op);
      builder.setRange(op->range());
      llvm::SmallVector<Value *, 4> operands;
      for (auto [slot, operand] : llvm::enumerate(op->operandValues()))
        operands.push_back(op == ops.front() && slot > 0
                               ? operand
                               : partOf(operand, begin, extent, size_t(part)));
      Op *made = builder.createWithSlots(op->def(), operands, op->constants(),
                                         {op->result()->name});
      body.assign(made, group);
      members[op->result()].push_back(made->result());
    }
    begin += extent;
  }
  // The host joins what is used outside.
  for (Op *op : llvm::reverse(ops)) {
    Value *whole = op->result();
    if (whole->firstUse()) {
      builder.setInsertionPoint(op);
      Value *joined = builder.build(
          ops::Concat, members[whole],
          {{param::axis, int64_t(0)}, {param::interleave, false}}, whole->name);
      body.replaceUses(*op, OpenedBody::onHost, joined);
      for (unsigned other = 0; other < body.numGroups(); ++other)
        body.replaceUses(*op, int(other), joined);
    }
    body.erase(*op);
  }
}

unsigned anec::tileResults(OpenedBody &body, PassContext &ctx) {
  unsigned count = 0, groups = body.numGroups();
  for (unsigned group = 0; group < groups; ++group)
    for (bool found = true; found;) {
      found = false;
      for (Op *op : body.ops(int(group)))
        if (isLargeProduct(*op, ctx)) {
          TiledProduct(body, int(group), *op).rewrite(mostChannels(ctx));
          found = true;
          ++count;
          break;
        }
    }
  return count;
}
