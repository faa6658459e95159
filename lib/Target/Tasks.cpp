//===- Tasks.cpp - the tasks that a program is split into -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Numbers were read off the recorded programs that are not held out (see
/// RuleAccuracy.cpp), and off no others.
///
//===----------------------------------------------------------------------===//

#include "lib/Target/Tasks.h"
#include "Rules/Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Target/Chip.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

static bool isProduct(const Op &op) {
  return isOneOf(op,
                 {&ops::Conv, &ops::ConvTranspose, &ops::Einsum, &ops::Linear,
                  &ops::Matmul, &ops::ScaledDotProductAttention});
}

/// Whether `op` takes no task by itself: constants, and other shapes for the
/// same elements.
static bool isFree(const Op &op) {
  return op.def().has(trait::Stored) || op.def().has(trait::Constexpr) ||
         isOneOf(op, {&ops::ExpandDims, &ops::Flatten2d, &ops::Identity,
                      &ops::Reshape, &ops::Squeeze});
}

static bool isBinary(const Op &op) {
  return op.def().has(trait::Elementwise) && op.numOperands() >= 2 &&
         op.operand(0u) && op.operand(1u);
}

/// The only op that uses the result of `op`; null for none or several.
static const Op *onlyUser(const Op &op) {
  const Operand *use = op.result()->firstUse();
  return use && !use->nextUse() ? use->owner() : nullptr;
}

/// The product whose task includes `op`: a bias that varies along the last axis
/// or a scalar factor, then an activation. Null for none.
static const Op *fusedProduct(const Op &op) {
  bool isActivation = isOneOf(op, {&ops::Gelu, &ops::Relu, &ops::Silu});
  bool isBias = op.is(ops::Add), isScale = op.is(ops::Mul);
  if (!isActivation && !isBias && !isScale)
    return nullptr;
  const Op *before = op.operand(0u)->definingOp();
  if (!before || before->numResults() != 1 || onlyUser(*before) != &op)
    return nullptr;
  if (!isActivation) {
    const Value *constant = op.operand(1u);
    int64_t most = isBias ? extentFromEnd(op.result()->type, 0) : 1;
    if (!isConstant(constant) || constant->type.numElements() > most)
      return nullptr;
  }
  if (isProduct(*before))
    return before;
  return isActivation && before->is(ops::Add) ? fusedProduct(*before) : nullptr;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {

class TaskCounter {
public:
  explicit TaskCounter(const Target &target)
      : isM1(target.chips.intersects({Chip::M1})) {}
  unsigned tasksOf(const Op &op);

private:
  unsigned ofProduct(const Op &op);
  unsigned ofBinary(const Op &op);
  bool takesStaging(const Value *value);

  bool isM1;
  llvm::DenseSet<const Value *> staged;
};

} // namespace

/// Whether a task copies `value` to where products read it. Results of products
/// and of `softmax` are there, and what was copied for another product.
bool TaskCounter::takesStaging(const Value *value) {
  if (const Op *op = value->definingOp())
    if (isProduct(*op) || fusedProduct(*op) || op->is(ops::Softmax))
      return false;
  return staged.insert(value).second;
}

unsigned TaskCounter::ofProduct(const Op &op) {
  if (!isOneOf(op, {&ops::Linear, &ops::Matmul}))
    return 1;
  const TensorType &type = op.result()->type;
  int64_t rows = extentFromEnd(type, 1), columns = extentFromEnd(type, 0);
  bool isMatmul = op.is(ops::Matmul);
  int64_t inner =
      isMatmul ? contraction(op) : extentFromEnd(op.operand(0u)->type, 0);
  bool transposesX = isMatmul && op.get(param::transposeX);
  bool transposesY = isMatmul && op.get(param::transposeY);
  bool isConstantY = isConstant(op.operand(1u));
  if (int64_t batch = type.numElements() / std::max<int64_t>(1, rows * columns);
      batch > 1) {
    if (isM1)
      return unsigned(batch * (llvm::divideCeil(rows, 16) + 2)) +
             (transposesX || transposesY);
    return (inner % 32 ? 5 : 2) + (transposesY && !isConstantY);
  }
  if (isConstantY) {
    // Such a product is split into parts of 2^19 elements of the constant.
    if (rows >= 256 && inner * columns >= 1 << 22)
      return 1 + unsigned(inner * columns >> 19);
    bool isColumn = transposesX && rows == 1;
    return 1 + (!isColumn && takesStaging(op.operand(0u))) +
           (isM1 && rows >= 16 && rows <= 32 && inner >= 2048);
  }
  unsigned tasks = 1 + transposesY;
  if (rows > 16)
    tasks += takesStaging(op.operand(0u));
  return isM1 ? tasks + unsigned(llvm::divideCeil(rows, 128)) - 1 : tasks;
}

unsigned TaskCounter::ofBinary(const Op &op) {
  const Value *x = op.operand(0u), *y = op.operand(1u);
  bool hasScalar = scalarConstant(x) || scalarConstant(y);
  if (op.is(ops::RealDiv))
    return hasScalar ? 1 : 2;
  if (op.is(ops::Pow))
    return 3;
  if (hasScalar)
    return 1;
  bool ofProducts = llvm::any_of(op.operandValues(), [](const Value *value) {
    const Op *op = value ? value->definingOp() : nullptr;
    return op && (isProduct(*op) || fusedProduct(*op));
  });
  bool isPlain = x->type.shape == y->type.shape && !isConstant(x) &&
                 !isConstant(y) && !ofProducts;
  return isPlain ? 1 : 2;
}

unsigned TaskCounter::tasksOf(const Op &op) {
  struct Row {
    const OpDef *def;
    unsigned tasks;
  };
  static const Row rows[] = {
      {&ops::Equal, 3},        {&ops::Floor, 4},    {&ops::FloorDiv, 6},
      {&ops::Greater, 3},      {&ops::Less, 3},     {&ops::LessEqual, 3},
      {&ops::GreaterEqual, 3}, {&ops::NotEqual, 3}, {&ops::Select, 5},
  };
  if (isFree(op) || fusedProduct(op))
    return 0;
  if (isProduct(op))
    return ofProduct(op);
  for (const Row &row : rows)
    if (op.is(*row.def))
      return row.tasks;
  if (op.is(ops::Softmax) || op.is(ops::LayerNorm)) {
    const TensorType &type = op.result()->type;
    int64_t height = extentFromEnd(type, 1), width = extentFromEnd(type, 0);
    bool isDeep = type.numElements() > height * width;
    if (op.is(ops::Softmax))
      return isDeep ? 6 : 5;
    bool hasBatch = type.rank() > 0 && type.shape.front() > 1;
    return height > 128 || hasBatch ? 5 : 3;
  }
  return isBinary(op) ? ofBinary(op) : 1;
}

unsigned anec::countTasks(const Function &function, const Target &target) {
  TaskCounter counter(target);
  unsigned tasks = 0;
  for (const Op &op : function.body())
    tasks += counter.tasksOf(op);
  return tasks;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

uint64_t anec::elementBytes(const Op &op) {
  if (isFree(op) || isProduct(op) || fusedProduct(op))
    return 0;
  uint64_t bytes = 0;
  for (const Value *result : op.resultValues())
    bytes += result->type.numBytes();
  // Of what it moves, an op reads as much as it writes: of a slice, one part.
  if (op.def().has(trait::DataMovement))
    return 2 * bytes;
  llvm::SmallVector<const Value *, 4> seen;
  for (const Value *operand : op.operandValues())
    if (operand && !isConstant(operand) && !llvm::is_contained(seen, operand)) {
      seen.push_back(operand);
      bytes += operand->type.numBytes();
    }
  return bytes;
}
