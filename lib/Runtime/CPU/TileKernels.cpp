//===- TileKernels.cpp - which vector kernel computes an op ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Rows/Softmax.h"
#include "llvm/Support/ErrorHandling.h"

using namespace anec;
using namespace anec::cpu;

namespace {
struct BinaryRow {
  const OpDef *op;
  Binary kernel;
};
/// Which constants of the op the kernel's p and q are.
enum class Constants : uint8_t { None, Alpha, AlphaBeta, Epsilon };
struct UnaryRow {
  const OpDef *op;
  Unary kernel;
  Constants constants = Constants::None;
};
} // namespace

static constexpr BinaryRow binaryRows[] = {
    {&ops::Add, Binary::Add},     {&ops::Sub, Binary::Sub},
    {&ops::Mul, Binary::Mul},     {&ops::RealDiv, Binary::Div},
    {&ops::Maximum, Binary::Max}, {&ops::Minimum, Binary::Min},
    {&ops::Pow, Binary::Pow},     {&ops::FloorDiv, Binary::FloorDiv},
    {&ops::Mod, Binary::Mod},     {&ops::Prelu, Binary::Prelu},
};
#define ROW(NAME, CONSTANTS) {&ops::NAME, Unary::NAME, Constants::CONSTANTS},
#define ROW_None(NAME) ROW(NAME, None)
#define ROW_Alpha(NAME) ROW(NAME, Alpha)
#define ROW_AlphaBeta(NAME) ROW(NAME, AlphaBeta)
#define ROW_Epsilon(NAME) ROW(NAME, Epsilon)
#define ROW_NoOp(NAME)
#define UNARY(NAME, CONSTANTS, EXPRESSION) ROW_##CONSTANTS(NAME)
static constexpr UnaryRow unaryRows[] = {
#include "UnaryKernels.def"
    {&ops::Cast, Unary::Copy},
    {&ops::LinearActivation, Unary::Affine, Constants::AlphaBeta},
};

static TileKernel unaryKernel(Unary kernel, double p = 0, double q = 0) {
  return {TileKernel::Kind::Unary, kernel, Binary::Add, float(p), float(q)};
}

static TileKernel unaryKernel(const Op &op, const UnaryRow &row) {
  switch (row.constants) {
  case Constants::None:
    return unaryKernel(row.kernel);
  case Constants::Alpha:
    return unaryKernel(row.kernel, op.get(param::alpha));
  case Constants::AlphaBeta:
    return unaryKernel(row.kernel, op.get(param::alpha), op.get(param::beta));
  case Constants::Epsilon:
    return unaryKernel(row.kernel, op.get(param::epsilon));
  }
  llvm_unreachable("no such constants");
}

static Unary geluKernel(GeluMode mode) {
  switch (mode) {
  case GeluMode::Exact:
    return Unary::GeluErf;
  case GeluMode::Tanh:
    return Unary::GeluTanh;
  case GeluMode::Sigmoid:
    return Unary::GeluSigmoid;
  }
  llvm_unreachable("a mode without a kernel");
}

/// Whether the int8 result of `op` is only turned back to floats: it is held as
/// floats then, so that both ops can be in one tile.
static bool isRoundTrip(const Op &op) {
  if (!op.is(ops::Quantize) || op.operand(param::zeroPoint) ||
      op.result()->type.dtype != DType::Int8 || !op.result()->hasUses())
    return false;
  for (const Operand *use = op.result()->firstUse(); use; use = use->nextUse())
    if (!use->owner() || !use->owner()->is(ops::Dequantize) ||
        use->owner()->operand(param::zeroPoint))
      return false;
  return true;
}

std::optional<TileKernel> cpu::tileKernel(const Op &op) {
  if (isRoundTrip(op))
    return TileKernel{TileKernel::Kind::Binary, Unary::Copy, Binary::Int8};
  if (op.is(ops::Dequantize)) {
    const Op *maker = op.operand(param::input)->definingOp();
    if (maker && isRoundTrip(*maker))
      return TileKernel{TileKernel::Kind::Binary, Unary::Copy, Binary::Mul};
    return std::nullopt;
  }
  if (op.numResults() != 1 || !isFloat(op.result()->type.dtype))
    return std::nullopt;
  for (const Value *operand : op.operandValues())
    if (!operand || !isFloat(operand->type.dtype))
      return std::nullopt;
  if (op.is(ops::Softmax)) {
    int64_t axis = op.get(param::axis), rank = op.result()->type.rank();
    if (axis != rank - 1 && axis != -1)
      return std::nullopt;
    return TileKernel{TileKernel::Kind::Softmax};
  }
  for (const BinaryRow &row : binaryRows)
    if (op.is(*row.op))
      return TileKernel{TileKernel::Kind::Binary, Unary::Copy, row.kernel};
  for (const UnaryRow &row : unaryRows)
    if (op.is(*row.op))
      return unaryKernel(op, row);
  if (op.is(ops::Gelu))
    return unaryKernel(geluKernel(op.get(param::geluMode)));
  if (op.is(ops::Relu6))
    return unaryKernel(Unary::Clip, 0, 6);
  return std::nullopt;
}
