//===- PortParts.cpp - inputs and outputs without copies ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PortParts.h"
#include "Schedule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Slice.h"

using namespace anec;
using namespace anec::cpu;

/// The part of an array of `shape`, seen as a matrix, that begins at `begin`
/// and has `size` along each axis; nothing when that is not a rectangle.
static std::optional<Region> rectangle(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> begin,
                                       llvm::ArrayRef<int64_t> size) {
  Region whole = matrixOf(shape), part;
  if (shape.size() < 2) {
    part = {begin.empty() ? 0 : begin[0], 0, whole.channels, 1};
    part.channels = size.empty() ? 1 : size[0];
    return part;
  }
  size_t last = shape.size() - 1;
  part.column = begin[last];
  part.columns = size[last];
  part.channels = 1;
  bool inside = false; // after the first axis with several elements
  for (size_t axis = 0; axis < last; ++axis) {
    if (inside && size[axis] != shape[axis])
      return std::nullopt;
    part.channel = part.channel * shape[axis] + begin[axis];
    part.channels *= size[axis];
    inside |= size[axis] != 1;
  }
  return part;
}

/// Calls `visit(op)` for every use of `value` or an alias; `op` is null for a
/// result of the function. Stops and returns false when `visit` returns false.
static bool visitUses(const Value *value, Numerics numerics,
                      llvm::function_ref<bool(const Op *)> visit) {
  for (const Operand *use = value->firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    bool renames =
        user && user->operand(0u) == value && isAlias(*user, numerics);
    if (renames ? !visitUses(user->result(), numerics, visit) : !visit(user))
      return false;
  }
  return true;
}

static bool overlap(const Region &lhs, const Region &rhs) {
  return lhs.channel < rhs.channel + rhs.channels &&
         rhs.channel < lhs.channel + lhs.channels &&
         lhs.column < rhs.column + rhs.columns &&
         rhs.column < lhs.column + lhs.columns;
}

void PortParts::addInput(const Value &param, unsigned port, Numerics numerics) {
  std::vector<PortPart> parts;
  // An emulated engine runs all slices and concats, like the engine.
  bool split =
      !isEmulated(numerics) && visitUses(&param, numerics, [&](const Op *user) {
        // The origin may be computed at run time.
        if (!user || !user->is(ops::SliceBySize) ||
            !user->constant(param::begin))
          return false;
        const Shape &shape = user->operand(0u)->type.shape;
        Shape begin = user->get(param::begin);
        for (auto [at, extent] : llvm::zip_equal(begin, shape))
          at += at < 0 ? extent : 0;
        auto region = rectangle(shape, begin, user->result()->type.shape);
        // In a renamed input, a slice is the same rectangle only if the columns
        // are the same.
        if (!region || matrixOf(shape) != matrixOf(param.type.shape))
          return false;
        // Memory of the caller's stands for one part, and no other.
        for (const PortPart &other : parts)
          if (overlap(other.region, *region))
            return false;
        parts.push_back({port, *region, user->result()});
        return true;
      });
  if (!split || parts.empty()) {
    inputs.push_back({port, matrixOf(param.type.shape), &param});
    return;
  }
  dissolved.insert(&param);
  for (const PortPart &part : parts)
    absorbed.insert(part.value->definingOp());
  inputs.insert(inputs.end(), parts.begin(), parts.end());
}

void PortParts::addOutput(const Value *result, unsigned port,
                          Numerics numerics) {
  Region whole = matrixOf(result->type.shape);
  const Value *value = result;
  while (value->definingOp() && value->hasOneUse() &&
         isAlias(*value->definingOp(), numerics))
    value = value->definingOp()->operand(0u);
  const Op *concat = value->definingOp();
  std::vector<PortPart> parts;
  if (!isEmulated(numerics) && concat && concat->is(ops::Concat) &&
      value->hasOneUse() && matrixOf(value->type.shape) == whole) {
    int64_t axis = concat->get(param::axis);
    axis += axis < 0 ? int64_t(value->type.rank()) : 0;
    Shape begin(value->type.rank(), 0);
    for (const Value *operand : concat->operandValues()) {
      auto region = rectangle(value->type.shape, begin, operand->type.shape);
      if (!region || concat->get(param::interleave))
        break;
      parts.push_back({port, *region, operand});
      begin[axis] += operand->type.shape[axis];
    }
    if (parts.size() != concat->numOperands())
      parts.clear();
  }
  if (parts.empty()) {
    outputs.push_back({port, whole, result});
    return;
  }
  absorbed.insert(concat);
  dissolved.insert(value);
  outputs.insert(outputs.end(), parts.begin(), parts.end());
}

PortParts::PortParts(const Function &function, Numerics numerics) {
  unsigned port = 0;
  for (const auto &param : function.parameters())
    if (param->holder == Holder::State)
      states.push_back(param.get());
    else
      addInput(*param, port++, numerics);
  for (unsigned index = 0; index < function.numResults(); ++index)
    addOutput(function.result(index), index, numerics);
}
