//===- Bits.cpp - operations on bits --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// MIL has no operations on bits: they become arithmetic with int32.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::onnx;

static Val numberConstant(Emitter &e, double value) {
  return e.scalar(DType::Int32, value);
}

/// Bit `index` of integers, which division that rounds down takes from negative
/// ones as well.
static Val bitOf(Emitter &e, Val x, unsigned index) {
  Val shifted =
      index == 0 ? x
                 : e.binary(ops::FloorDiv, x, numberConstant(e, 1ull << index));
  return e.binary(ops::Mod, shifted, numberConstant(e, 2));
}

/// Combines each pair of bits, which are 0 or 1, with `combine`.
template <typename Combine>
static void combineBits(Node &node, Combine combine) {
  Emitter &e = node.e;
  Val x = node.in(0), y = node.in(1);
  if (node.failed())
    return;
  DType dtype = x.dtype();
  Val wideX = e.cast(x, DType::Int32), wideY = e.cast(y, DType::Int32), sum;
  unsigned bits = bitWidth(dtype);
  for (unsigned i = 0; i != bits; ++i) {
    bool isSign = i + 1 == bits && isSigned(dtype);
    // What halving a negative number often enough gives is its sign, too.
    Val xBit = i == 31
                   ? e.cast(e.make(ops::Less, {wideX, numberConstant(e, 0)}),
                            DType::Int32)
                   : bitOf(e, wideX, i);
    Val yBit = i == 31
                   ? e.cast(e.make(ops::Less, {wideY, numberConstant(e, 0)}),
                            DType::Int32)
                   : bitOf(e, wideY, i);
    double weight = double(1ull << i) * (isSign ? -1 : 1);
    Val part = e.mul(combine(e, xBit, yBit), numberConstant(e, weight));
    sum = sum ? e.add(sum, part) : part;
  }
  node.out(e.cast(sum, dtype));
}

static void bitwiseAnd(Node &node) {
  combineBits(node, [](Emitter &e, Val x, Val y) { return e.mul(x, y); });
}

static void bitwiseOr(Node &node) {
  combineBits(node, [](Emitter &e, Val x, Val y) {
    return e.binary(ops::Maximum, x, y);
  });
}

static void bitwiseXor(Node &node) {
  combineBits(node, [](Emitter &e, Val x, Val y) {
    return e.unary(ops::Abs, e.sub(x, y));
  });
}

/// -1 - x, or the largest number minus x.
static void bitwiseNot(Node &node) {
  Emitter &e = node.e;
  DType declared = node.raw(0).dtype();
  Val x = node.in(0);
  if (node.failed())
    return;
  if (declared == DType::UInt32 || declared == DType::UInt64)
    return node.refuse("results that int32 cannot hold");
  double all =
      isSigned(x.dtype()) ? -1 : double((1ull << bitWidth(x.dtype())) - 1);
  Val wide = e.cast(x, DType::Int32);
  node.out(e.cast(e.sub(numberConstant(e, all), wide), x.dtype()));
}

static constexpr OpRow bitTable[] = {
    {"BitwiseAnd", bitwiseAnd, 18, "integers of 64 bits have 32"},
    {"BitwiseNot", bitwiseNot, 18, "integers of 64 bits have 32"},
    {"BitwiseOr", bitwiseOr, 18, "integers of 64 bits have 32"},
    {"BitwiseXor", bitwiseXor, 18, "integers of 64 bits have 32"},
};

llvm::ArrayRef<OpRow> onnx::bitRows() { return bitTable; }
