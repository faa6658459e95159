//===- Logic.cpp - comparisons, booleans and choices ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Integers of fewer bits and booleans are compared as int32.
static void compare(Node &n, const OpDef &def) {
  Val x = n.in(0), y = n.in(1);
  DType wide = Emitter::wideOf(x);
  n.out(n.e.make(def, {n.e.cast(x, wide), n.e.cast(y, wide)}));
}

static void readEqual(Node &n) { compare(n, ops::Equal); }
static void readGreater(Node &n) { compare(n, ops::Greater); }
static void readGreaterOrEqual(Node &n) { compare(n, ops::GreaterEqual); }
static void readLess(Node &n) { compare(n, ops::Less); }
static void readLessOrEqual(Node &n) { compare(n, ops::LessEqual); }

static void readIsNaN(Node &n) {
  Val x = n.in(0);
  n.out(n.e.make(ops::NotEqual, {x, x}));
}

/// Whether x is beyond the largest finite number.
static void readIsInf(Node &n) {
  Val x = n.in(0);
  double largest = x.dtype() == DType::FP16
                       ? 65504.0
                       : double(std::numeric_limits<float>::max());
  Val high = n.e.make(ops::Greater, {x, n.e.scalar(x.dtype(), largest)});
  Val low = n.e.make(ops::Less, {x, n.e.scalar(x.dtype(), -largest)});
  bool positive = n.attr("detect_positive", 1) != 0;
  bool negative = n.attr("detect_negative", 1) != 0;
  if (positive && negative)
    return n.out(n.e.make(ops::LogicalOr, {high, low}));
  if (positive || negative)
    return n.out(positive ? high : low);
  n.out(n.e.make(ops::LogicalAnd, {high, low}));
}

//===----------------------------------------------------------------------===//
// Booleans
//===----------------------------------------------------------------------===//

static void readAnd(Node &n) {
  n.out(n.e.make(ops::LogicalAnd, {n.in(0), n.in(1)}));
}
static void readOr(Node &n) {
  n.out(n.e.make(ops::LogicalOr, {n.in(0), n.in(1)}));
}
static void readXor(Node &n) {
  n.out(n.e.make(ops::LogicalXor, {n.in(0), n.in(1)}));
}
static void readNot(Node &n) { n.out(n.e.make(ops::LogicalNot, {n.in(0)})); }

static void readWhere(Node &n) { n.out(n.e.select(n.in(0), n.in(1), n.in(2))); }

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// x * 2^y, without the bits that do not fit, or x / 2^y rounded down.
static void readBitShift(Node &n) {
  StringRef direction = n.attrText("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return n.fail("`direction` of `BitShift` must be `LEFT` or `RIGHT`");
  Val x = n.in(0), y = n.in(1);
  if (!x || !y)
    return;
  Val wide = n.e.cast(x, DType::Int32);
  Val power = n.e.make(
      ops::Pow, {n.e.scalar(DType::Int32, 2), n.e.cast(y, DType::Int32)});
  if (direction == "RIGHT")
    return n.out(n.e.cast(n.e.make(ops::FloorDiv, {wide, power}), x.dtype()));
  Val shifted = n.e.mul(wide, power);
  unsigned bits = x.dtype() == DType::UInt8    ? 8
                  : x.dtype() == DType::UInt16 ? 16
                                               : 0;
  if (bits)
    shifted = n.e.make(ops::Mod,
                       {shifted, n.e.scalar(DType::Int32, double(1 << bits))});
  n.out(n.e.cast(shifted, x.dtype()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow rows[] = {
    {.name = "And", .read = readAnd},
    {.name = "BitShift",
     .read = readBitShift,
     .since = 11,
     .limits = "results of more than 8 or 16 bits must fit in int32"},
    {.name = "Equal", .read = readEqual},
    {.name = "Greater", .read = readGreater},
    {.name = "GreaterOrEqual", .read = readGreaterOrEqual, .since = 12},
    {.name = "IsInf", .read = readIsInf, .since = 10},
    {.name = "IsNaN", .read = readIsNaN, .since = 9},
    {.name = "Less", .read = readLess},
    {.name = "LessOrEqual", .read = readLessOrEqual, .since = 12},
    {.name = "Not", .read = readNot},
    {.name = "Or", .read = readOr},
    {.name = "Where", .read = readWhere, .since = 9},
    {.name = "Xor", .read = readXor},
};

llvm::ArrayRef<OpRow> onnx::logicRows() { return rows; }
