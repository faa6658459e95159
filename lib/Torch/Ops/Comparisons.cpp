//===- Comparisons.cpp - comparisons, logic and choices -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

template <const OpDef &Def>
static void compare(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self"), y = n.item("other");
  ScalarType type = promote({x, y});
  Val left = n.cast(x, type), right = n.cast(y, type);
  DType wide = Emitter::wideOf(left);
  n.out(e.make(Def, {e.cast(left, wide), e.cast(right, wide)}));
}

static Val truth(Node &n, StringRef parameter) {
  return n.cast(n.item(parameter), ScalarType::Bool);
}

template <const OpDef &Def>
static void logical(Node &n) {
  n.out(n.e.make(Def, {truth(n, "self"), truth(n, "other")}));
}

static void logicalNot(Node &n) {
  n.out(n.e.make(ops::LogicalNot, {truth(n, "self")}));
}

static void choose(Node &n) {
  Emitter &e = n.e;
  Item yes = n.item("self"), no = n.item("other");
  ScalarType type = promote({yes, no});
  Val condition = truth(n, "condition");
  Val left = n.cast(yes, type), right = n.cast(no, type);
  n.out(n.cast(e.select(condition, left, right), type, n.outType()));
}

static void maskedFill(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  Val mask = truth(n, "mask"), value = n.cast(n.item("value"), x.type);
  n.out(e.select(mask, value, e.native(x.val)));
}

static void isNaN(Node &n) {
  Item x = n.item("self");
  if (!isFloating(x.type))
    return n.out(n.e.filled(DType::Bool, x.val.shape(), 0));
  Val value = n.e.native(x.val);
  n.out(n.e.make(ops::NotEqual, {value, value}));
}

template <bool IsFinite>
static void isInfinite(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  if (!isFloating(x.type))
    return n.out(e.filled(DType::Bool, x.val.shape(), IsFinite));
  Val size = e.unary(ops::Abs, e.native(x.val));
  // NaN is neither.
  n.out(e.make(IsFinite ? ops::Less : ops::Equal,
               {size, e.scalar(size.dtype(), INFINITY)}));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow comparisonTable[] = {
    {"aten.eq.Scalar", compare<ops::Equal>},
    {"aten.eq.Tensor", compare<ops::Equal>},
    {"aten.ge.Scalar", compare<ops::GreaterEqual>},
    {"aten.ge.Tensor", compare<ops::GreaterEqual>},
    {"aten.gt.Scalar", compare<ops::Greater>},
    {"aten.gt.Tensor", compare<ops::Greater>},
    {"aten.isfinite.default", isInfinite<true>},
    {"aten.isinf.default", isInfinite<false>},
    {"aten.isnan.default", isNaN},
    {"aten.le.Scalar", compare<ops::LessEqual>},
    {"aten.le.Tensor", compare<ops::LessEqual>},
    {"aten.logical_and.default", logical<ops::LogicalAnd>},
    {"aten.logical_not.default", logicalNot},
    {"aten.logical_or.default", logical<ops::LogicalOr>},
    {"aten.logical_xor.default", logical<ops::LogicalXor>},
    {"aten.lt.Scalar", compare<ops::Less>},
    {"aten.lt.Tensor", compare<ops::Less>},
    {"aten.masked_fill.Scalar", maskedFill},
    {"aten.masked_fill.Tensor", maskedFill},
    {"aten.ne.Scalar", compare<ops::NotEqual>},
    {"aten.ne.Tensor", compare<ops::NotEqual>},
    {"aten.where.Scalar", choose},
    {"aten.where.ScalarOther", choose},
    {"aten.where.ScalarSelf", choose},
    {"aten.where.self", choose},
};

llvm::ArrayRef<OpRow> torch::comparisonRows() { return comparisonTable; }
