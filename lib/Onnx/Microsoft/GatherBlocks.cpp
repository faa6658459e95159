//===- GatherBlocks.cpp - entries of a table of few bits ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The embeddings of language models whose weights onnxruntime quantised.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Rows/Constexpr.h"
#include <vector>

using namespace anec;
using namespace anec::onnx;

/// Zero points of uint8 with two numbers in each byte along the last axis, the
/// first in the low bits; `last` is the extent of that axis.
static ConstantRef pairsApart(const Constant &bytes, int64_t last) {
  Shape shape = bytes.type().shape;
  int64_t stride = shape.back();
  shape.back() = last;
  std::vector<double> numbers;
  for (int64_t row = 0; row != bytes.numElements() / stride; ++row)
    for (int64_t column = 0; column != last; ++column) {
      uint8_t byte = bytes.bytes()[size_t(row * stride + column / 2)];
      numbers.push_back(column % 2 == 0 ? byte & 15 : byte >> 4);
    }
  return Constant::fromDoubles({DType::UInt4, shape}, numbers);
}

namespace {
/// A table, scales of blocks along `axis`, and their zero points.
struct BlockTable {
  ConstantRef numbers = nullptr, scales = nullptr, zeros = nullptr;
  int64_t axis = 0, block = 0;
};
} // namespace

/// Whether the inputs have the types and the attributes the values that the
/// operator defines; reports an error.
static bool checkTable(Node &node, const BlockTable &table) {
  DType dtype = table.numbers->dtype();
  if (dtype != DType::UInt8 && dtype != DType::UInt4 && dtype != DType::Int4)
    node.fail("the table must be of uint8, uint4 or int4");
  else if (table.zeros && table.zeros->dtype() != dtype)
    node.fail("the zero points must be of the type of the table");
  else if (table.numbers->numElements() == 0)
    node.fail("the table has no elements");
  else if (table.block < 16)
    node.fail("`block_size` must be at least 16");
  return !node.failed();
}

/// Missing after an error.
static BlockTable readTable(Node &node) {
  BlockTable table;
  table.numbers = node.known(0);
  table.scales = node.known(2);
  table.zeros = node.has(3) ? node.known(3) : nullptr;
  table.block = node.attr("block_size", 128);
  int64_t bits = node.attr("bits", 4);
  if (node.failed() || !table.numbers || !table.scales ||
      !checkTable(node, table))
    return BlockTable();
  int64_t rank = int64_t(table.numbers->type().shape.size());
  table.axis = node.normalized(node.attr("quantize_axis", 1), rank);
  if (node.failed())
    return BlockTable();
  if (bits != 4 && bits != 8) {
    node.refuse("numbers of " + llvm::Twine(bits) + " bits");
    return BlockTable();
  }
  bool isPacked = table.numbers->dtype() == DType::UInt8 && bits == 4;
  if (isPacked && table.axis != rank - 1) {
    node.fail("pairs of numbers lie along the last axis, which must be "
              "`quantize_axis`");
    return BlockTable();
  }
  if (isPacked) {
    Shape shape = table.numbers->type().shape;
    shape.back() *= 2;
    table.numbers =
        Constant::copy({DType::UInt4, shape}, table.numbers->bytes());
  }
  Shape blocks = table.numbers->type().shape;
  int64_t &count = blocks[size_t(table.axis)];
  count = (count + table.block - 1) / table.block;
  if (table.scales->type().shape != blocks) {
    node.fail("the scales must have one for each block");
    return BlockTable();
  }
  if (!table.zeros) {
    DType dtype = table.numbers->dtype();
    double middle = node.raw(0).dtype() != DType::UInt8 ? 0
                    : bits == 4                         ? 8
                                                        : 128;
    table.zeros = Constant::fromDoubles(
        {dtype, blocks},
        std::vector<double>(size_t(table.scales->numElements()), middle));
    return table;
  }
  Shape packed = blocks;
  packed.back() = (packed.back() + 1) / 2;
  if (isPacked && table.zeros->type().shape == packed)
    table.zeros = pairsApart(*table.zeros, blocks.back());
  if (table.zeros->type().shape != blocks) {
    node.fail("the zero points must have one for each block");
    return BlockTable();
  }
  return table;
}

/// (number - zero point) * scale, packed where blocks are whole.
static Val unpackedTable(Node &node, const BlockTable &table) {
  Emitter &e = node.e;
  Val scale = e.native(e.constant(table.scales));
  const Shape &shape = table.numbers->type().shape;
  if (shape[size_t(table.axis)] % table.block == 0)
    return e.make(ops::ConstexprBlockwiseShiftScale,
                  {e.constant(table.numbers), scale, e.constant(table.zeros)});
  if (!node.affords(shape))
    return {};
  // Indices of the axes before, along and behind the blocks.
  int64_t extent = shape[size_t(table.axis)], inner = 1;
  for (size_t axis = size_t(table.axis) + 1; axis != shape.size(); ++axis)
    inner *= shape[axis];
  int64_t count = table.scales->type().shape[size_t(table.axis)];
  std::vector<double> elements;
  for (int64_t i = 0; i != table.numbers->numElements(); ++i) {
    int64_t along = i / inner % extent, outer = i / inner / extent;
    int64_t at = (outer * count + along / table.block) * inner + i % inner;
    elements.push_back(
        (table.numbers->doubleAt(i) - table.zeros->doubleAt(at)) *
        table.scales->doubleAt(at));
  }
  return e.constant(Constant::fromDoubles({scale.dtype(), shape}, elements));
}

static void gatherBlockQuantized(Node &node) {
  Emitter &e = node.e;
  Val indices = node.in(1);
  BlockTable table = readTable(node);
  if (node.failed() || !table.numbers)
    return;
  int64_t axis = node.normalized(node.attr("gather_axis", 0),
                                 int64_t(table.numbers->type().shape.size()));
  if (node.failed())
    return;
  if (axis == table.axis)
    return node.fail("`gather_axis` must not be `quantize_axis`");
  Val weight = unpackedTable(node, table);
  if (weight)
    node.out(e.gather(weight, indices, axis));
}

static constexpr OpRow microsoftGatherTable[] = {
    {"GatherBlockQuantized", gatherBlockQuantized, 1,
     "the table must be known"},
};

llvm::ArrayRef<OpRow> onnx::microsoftGatherRows() {
  return microsoftGatherTable;
}
