//===- FusedStep.cpp - several ops, tile by tile --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The result is viewed as [rows, columns], where columns is its last axis, or
/// the last one with more than one element. A
/// tile is some rows; every op of the step runs on a tile before the next one,
/// so that values inside the step stay in the first-level cache. An operand is
/// read as a whole tile when it has the result's shape; one that is broadcast,
/// in runs of rows for which it has one element, or as many elements in a row.
///
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Quantization.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

/// About as many elements as the first-level cache holds with a few operands.
static constexpr size_t tileElements = 2048;

namespace {

/// Where an operand of a tile comes from.
struct Source {
  const float *base = nullptr; ///< null: a scratch tile
  unsigned scratch = 0;
  bool whole = true;  ///< in the layout of the result
  BroadcastRows rows; ///< when not whole
  size_t columnStride() const { return whole ? 1 : rows.columnStride; }
  /// Whether `row` + `count` continues the elements of the `count` rows before
  /// it.
  bool continues(size_t row, size_t count, size_t columns) const {
    size_t between = columnStride() * count * columns;
    return whole || rows.offsets[row + count] == rows.offsets[row] + between;
  }
};

struct TileOp {
  TileKernel kernel;
  Rounding rounding = Rounding::None;
  Source in[2];
  float *out = nullptr; ///< null: a scratch tile
  unsigned scratch = 0;
};

struct Program {
  size_t rows = 1, columns = 1;
  unsigned scratchTiles = 0;
  std::vector<TileOp> ops;
};

} // namespace

/// An operand that broadcasts to `result`.
static Source broadcastSource(const float *base, llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> result) {
  Source source;
  source.base = base;
  source.whole = false;
  source.rows = broadcastRows(shape, result);
  return source;
}

/// The shape by which an operand broadcasts: one value per channel is along the
/// second axis, and scales of int8 are along theirs.
static Shape broadcastShape(const Op &op, unsigned slot) {
  Shape shape = op.operand(slot)->type.shape;
  unsigned rank = op.result()->type.rank();
  if (slot != 1 || shape.empty())
    return shape;
  if (op.is(ops::Prelu))
    shape.append(rank - 2, 1);
  if (op.is(ops::Quantize) || op.is(ops::Dequantize)) {
    int64_t axis = op.get(param::axis);
    shape.append(rank - 1 - size_t(axis < 0 ? axis + rank : axis), 1);
  }
  return shape;
}

/// The second operand, if it is one number that is known on loading.
static std::optional<float> secondNumber(const Op &op, StepContext &ctx) {
  const Value *second = op.operand(1u);
  if (second->type.numElements() != 1 || !ctx.schedule.isConstant(second))
    return std::nullopt;
  return *ctx.storage.floats(second);
}

/// The exponent of a power, if it is known on loading and is 2 or 3.
static unsigned smallExponent(const Op &op, StepContext &ctx) {
  float value = op.is(ops::Pow) ? secondNumber(op, ctx).value_or(0) : 0;
  return value == 2 || value == 3 ? unsigned(value) : 0;
}

/// Whether `op` divides by a number with whose reciprocal it can multiply: a
/// power of two, where the product has the same bits, or one before an erf that
/// takes the quotient as it is, which has larger errors itself.
static bool multipliesByReciprocal(const Op &op, StepContext &ctx) {
  float value = op.is(ops::RealDiv) ? secondNumber(op, ctx).value_or(0) : 0;
  if (!std::isnormal(value) || !std::isnormal(1 / value))
    return false;
  int exponent = 0;
  const Value *result = op.result();
  const Op *user = result->hasOneUse() ? result->firstUse()->owner() : nullptr;
  return std::abs(std::frexp(value, &exponent)) == 0.5f ||
         (user && user->is(ops::Erf) && ctx.rounding(result) == Rounding::None);
}

/// The shape without its last `count` axes, which have one element.
static llvm::ArrayRef<int64_t> without(llvm::ArrayRef<int64_t> shape,
                                       size_t count) {
  return shape.drop_back(std::min(count, shape.size()));
}

/// How many last axes of the step's results have one element, and do not
/// matter. A row is no longer than a tile.
static size_t lastUnitAxes(const Step &step) {
  llvm::ArrayRef<int64_t> shape = step.ops.front()->result()->type.shape;
  bool hasRows = llvm::any_of(step.ops, [](const Op *op) {
    return tileKernel(*op)->kind == TileKernel::Kind::Softmax;
  });
  size_t count = 0;
  while (!hasRows && count + 1 < shape.size() &&
         shape[shape.size() - 1 - count] == 1 &&
         shape[shape.size() - 2 - count] <= int64_t(tileElements))
    ++count;
  return count;
}

static Program compileTiles(const Step &step, StepContext &ctx) {
  Program program;
  const Value *first = step.ops.front()->result();
  size_t unitAxes = lastUnitAxes(step);
  llvm::ArrayRef<int64_t> whole = first->type.shape;
  llvm::ArrayRef<int64_t> shape = without(whole, unitAxes);
  program.columns = shape.empty() ? 1 : size_t(shape.back());
  program.rows = program.columns == 0
                     ? 0
                     : size_t(first->type.numElements()) / program.columns;

  // Scratch tiles are released after the last use.
  llvm::DenseMap<const Value *, unsigned> scratch, uses;
  for (const Op *op : step.ops)
    for (const Value *operand : op->operandValues())
      ++uses[operand];
  llvm::SmallVector<unsigned, 4> freeTiles;
  auto takeTile = [&] {
    if (freeTiles.empty())
      return program.scratchTiles++;
    return freeTiles.pop_back_val();
  };

  for (const Op *op : step.ops) {
    TileOp tile;
    tile.kernel = *tileKernel(*op);
    tile.rounding = ctx.rounding(op->result());
    unsigned operands = tile.kernel.kind == TileKernel::Kind::Binary ? 2 : 1;
    for (unsigned slot = 0; slot < operands; ++slot) {
      const Value *operand = op->operand(slot);
      Source &source = tile.in[slot];
      if (ctx.schedule.internal.contains(operand)) {
        source.scratch = scratch.lookup(operand);
      } else if (operand->type.shape == Shape(whole)) {
        source.base = ctx.storage.floats(operand);
      } else {
        source = broadcastSource(ctx.storage.floats(operand),
                                 without(broadcastShape(*op, slot), unitAxes),
                                 shape);
      }
    }
    if (ctx.schedule.internal.contains(op->result())) {
      tile.scratch = scratch[op->result()] = takeTile();
      // An unused result needs its tile only during this op.
      if (uses.lookup(op->result()) == 0)
        freeTiles.push_back(tile.scratch);
    } else {
      tile.out = ctx.storage.floats(op->result());
    }
    if (unsigned exponent = smallExponent(*op, ctx)) {
      // x * x, or x * x * x with the square between in a tile of its own.
      TileOp square = tile;
      square.kernel = {TileKernel::Kind::Unary, Unary::Square};
      if (exponent == 2) {
        tile = std::move(square);
      } else {
        square.out = nullptr;
        square.scratch = takeTile();
        square.rounding = Rounding::None;
        tile.kernel = {TileKernel::Kind::Binary, Unary::Copy, Binary::Mul};
        tile.in[1] = {nullptr, square.scratch};
        freeTiles.push_back(square.scratch);
        program.ops.push_back(std::move(square));
      }
    }
    // Adding -0 leaves the sign of zeros.
    if (multipliesByReciprocal(*op, ctx))
      tile.kernel = {TileKernel::Kind::Unary, Unary::Affine, Binary::Add,
                     1 / *secondNumber(*op, ctx), -0.0f};
    // Released only now, so that no kernel writes to a tile that it reads.
    for (unsigned slot = 0; slot < operands; ++slot) {
      const Value *operand = op->operand(slot);
      if (--uses[operand] == 0 && ctx.schedule.internal.contains(operand))
        freeTiles.push_back(scratch.lookup(operand));
    }
    program.ops.push_back(std::move(tile));
  }
  return program;
}

namespace {

/// Runs a program on some rows with one worker's scratch.
class TileRunner {
public:
  TileRunner(const Program &program, size_t begin, size_t end, float *scratch,
             size_t scratchStride)
      : columns(program.columns), begin(begin), count((end - begin) * columns),
        rows(end - begin), scratch(scratch), scratchStride(scratchStride) {}

  void run(const TileOp &op) const {
    float *out = op.out ? op.out + begin * columns
                        : scratch + op.scratch * scratchStride;
    if (op.kernel.kind == TileKernel::Kind::Unary)
      return runUnary(op, out);
    if (op.kernel.kind == TileKernel::Kind::Softmax)
      return runSoftmax(op, out);
    if (op.in[0].whole && op.in[1].whole)
      return binary(op.kernel.binary, count, tile(op.in[0]), 1, tile(op.in[1]),
                    1, out, op.rounding);
    for (size_t row = 0, next = 0; row < rows; row = next) {
      do
        ++next;
      while (next < rows &&
             op.in[0].continues(begin + row, next - row, columns) &&
             op.in[1].continues(begin + row, next - row, columns));
      binary(op.kernel.binary, (next - row) * columns, at(op.in[0], row),
             op.in[0].columnStride(), at(op.in[1], row),
             op.in[1].columnStride(), out + row * columns, op.rounding);
    }
  }

private:
  const float *tile(const Source &source) const {
    return source.base ? source.base + begin * columns
                       : scratch + source.scratch * scratchStride;
  }
  const float *at(const Source &source, size_t row) const {
    return source.whole ? tile(source) + row * columns
                        : source.base + source.rows.offsets[begin + row];
  }
  void runUnary(const TileOp &op, float *out) const {
    unary(op.kernel.unary, count, tile(op.in[0]), out, op.rounding, op.kernel.p,
          op.kernel.q);
  }

  void runSoftmax(const TileOp &op, float *out) const {
    if (op.in[0].whole)
      return softmaxRows(rows, columns, tile(op.in[0]), out, op.rounding);
    for (size_t row = 0; row < rows; ++row)
      softmaxRow(columns, at(op.in[0], row), out + row * columns, op.rounding);
  }

  size_t columns, begin, count, rows;
  float *scratch;
  size_t scratchStride;
};

} // namespace

StepFn cpu::makeFused(const Step &step, StepContext &ctx) {
  Program program = compileTiles(step, ctx);
  if (program.rows == 0)
    return [] {};
  size_t rowsPerTile =
      std::max<size_t>(1, tileElements / std::max<size_t>(program.columns, 1));
  size_t tiles = (program.rows + rowsPerTile - 1) / rowsPerTile;
  size_t stride = rowsPerTile * program.columns;
  return [program = std::move(program), rowsPerTile, tiles, stride,
          &pool = ctx.pool] {
    auto runTiles = [&](size_t begin, size_t end, unsigned worker) {
      float *scratch = pool.scratch(worker, program.scratchTiles * stride);
      for (size_t tile = begin; tile < end; ++tile) {
        size_t row = tile * rowsPerTile;
        TileRunner runner(program, row,
                          std::min(row + rowsPerTile, program.rows), scratch,
                          stride);
        for (const TileOp &op : program.ops)
          runner.run(op);
      }
    };
    // Waking another thread costs more than a few small tiles.
    if (tiles < 4)
      return runTiles(0, tiles, pool.currentWorker());
    pool.parallelRanges(tiles, 1, runTiles);
  };
}
