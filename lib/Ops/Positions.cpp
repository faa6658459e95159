//===- Positions.cpp - position rules that several rows have --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Positions.h"
#include "lib/IR/ParamNames.h"

using namespace anec;

std::optional<unsigned> PositionFlow::align() {
  std::optional<unsigned> fromEnd;
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    if (!op.operand(slot) || !in[slot])
      continue;
    unsigned distance = rank(slot) - 1 - *in[slot];
    if (fromEnd && *fromEnd != distance)
      return std::nullopt;
    fromEnd = distance;
  }
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (fromEnd && op.operand(slot) && !in[slot] && *fromEnd < rank(slot)) {
      unsigned axis = rank(slot) - 1 - *fromEnd;
      if (shape(slot)[axis] != 1)
        varying.push_back({slot, axis});
    }
  return fromEnd;
}

//===----------------------------------------------------------------------===//
// Elements and shapes
//===----------------------------------------------------------------------===//

bool positions::elementwise(PositionFlow &f) {
  std::optional<unsigned> fromEnd = f.align();
  if (!fromEnd)
    return f.fail(relates);
  return f.keep(f.op.result()->type.rank() - 1 - *fromEnd);
}

bool positions::same(PositionFlow &f) { return f.keep(f.in[0]); }

bool positions::reshape(PositionFlow &f) {
  const Shape &from = f.shape(0), &to = f.op.result()->type.shape;
  unsigned axis = *f.in[0];
  int64_t before = 1, reached = 1;
  for (unsigned i = 0; i < axis; ++i)
    before *= from[i];
  for (unsigned i = 0; i < to.size(); ++i) {
    if (reached == before && to[i] == from[axis])
      return f.keep(i);
    reached *= to[i];
  }
  return f.fail("joins the positions with other axes");
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

bool positions::alongAxis(PositionFlow &f) {
  if (PositionFlow::normalized(f.op.get(param::axis), f.rank(0)) == *f.in[0])
    return f.fail(along);
  return same(f);
}

bool positions::alongAxes(PositionFlow &f) {
  for (int64_t axis : f.op.get(param::axes))
    if (PositionFlow::normalized(axis, f.rank(0)) == *f.in[0])
      return f.fail(along);
  return same(f);
}

/// The axis of the result of a reduction of `axes`.
static bool reduced(PositionFlow &f, llvm::ArrayRef<int64_t> axes) {
  unsigned before = 0;
  for (int64_t axis : axes) {
    unsigned at = PositionFlow::normalized(axis, f.rank(0));
    if (at == *f.in[0])
      return f.fail("combines the positions");
    before += at < *f.in[0];
  }
  return f.keep(*f.in[0] - (f.op.get(param::keepDims) ? 0 : before));
}

bool positions::reduction(PositionFlow &f) {
  return f.op.constant(param::axes) ? reduced(f, f.op.get(param::axes))
                                    : reduced(f, f.op.get(param::axis));
}

bool positions::beforeLast(PositionFlow &f, unsigned count) {
  return *f.in[0] + count >= f.rank(0) ? f.fail(along) : same(f);
}

bool positions::perChannel(PositionFlow &f) {
  return *f.in[0] == 1 ? f.fail(along) : same(f);
}

//===----------------------------------------------------------------------===//
// Refused
//===----------------------------------------------------------------------===//

bool positions::neighbors(PositionFlow &f) { return f.fail(joinsNeighbors); }
bool positions::combined(PositionFlow &f) {
  return f.fail("combines positions");
}
bool positions::moved(PositionFlow &f) { return f.fail(takesPart); }
bool positions::apart(PositionFlow &f) {
  return f.fail("has no form for single positions");
}

//===----------------------------------------------------------------------===//
// The rule of a row
//===----------------------------------------------------------------------===//

/// The row's own, or that of its traits.
static PositionRule ruleOf(const OpDef &def) {
  if (def.positions.find)
    return def.positions;
  if (def.has(trait::Elementwise))
    return positions::ofSeveral(positions::elementwise);
  if (def.has(trait::Reduction))
    return {positions::reduction};
  if (def.has(trait::AlongAxis))
    return {positions::alongAxis};
  if (def.has(trait::Renames))
    return {positions::reshape};
  return {positions::apart}; // its operands are constants
}

bool anec::findPositionAxis(PositionFlow &flow) {
  PositionRule rule = ruleOf(flow.op.def());
  if (!rule.ofSeveral)
    for (unsigned slot = 0; slot < flow.op.numOperands(); ++slot)
      if (flow.in[slot].has_value() != (slot == 0))
        return flow.fail(positions::relates);
  return rule.find(flow);
}
