//===- Elementwise.cpp - arithmetic, comparisons and logic ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Elementwise.h"
#include "../Choice.h"
#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <const OpDef &Def>
static void unary(Node &node) {
  node.out(node.e.unary(Def, node.in(0)));
}

/// log(x), which is -inf at 0: without the number that MIL adds otherwise.
static void log(Node &node) {
  Val x = node.in(0);
  node.out(node.e.unary(
      ops::Log, x,
      {{param::epsilon, Constant::scalar(Emitter::wideOf(x), 0)}}));
}

static void negate(Node &node) { node.out(node.e.mul(node.in(0), -1)); }

static void reciprocal(Node &node) {
  Val x = node.in(0);
  node.out(node.e.div(node.e.scalar(Emitter::wideOf(x), 1), x));
}

/// Where x^2 is so large that 1 beside it does not count: log(2 x) then, and
/// x^2 may be infinite.
static Val largeOr(Emitter &e, Val size, Val other) {
  DType dtype = Emitter::wideOf(size);
  Val limit = e.scalar(dtype, dtype == DType::FP16 ? 128 : 1e4);
  Val isLarge = e.make(ops::Greater, {size, limit});
  return e.select(isLarge, e.add(e.log(size), std::log(2.0)), other);
}

/// sign(x) * log(1 + s), where s = |x| + x^2 / (1 + sqrt(x^2 + 1)).
static void asinh(Node &node) {
  Emitter &e = node.e;
  Val x = e.native(node.in(0)), size = e.unary(ops::Abs, x);
  Val square = e.mul(x, x);
  Val root = e.unary(ops::Sqrt, e.add(square, 1));
  Val sum = e.add(size, e.div(square, e.add(root, 1)));
  Val log = largeOr(e, size, e.logOf1Plus(sum));
  node.out(e.mul(e.unary(ops::Sign, x), log));
}

/// log(1 + s), where s = t + sqrt(t (t + 2)) and t = x - 1.
static void acosh(Node &node) {
  Emitter &e = node.e;
  Val x = e.native(node.in(0)), above = e.add(x, -1);
  Val root = e.unary(ops::Sqrt, e.mul(above, e.add(above, 2)));
  node.out(largeOr(e, x, e.logOf1Plus(e.add(above, root))));
}

static void logicalNot(Node &node) {
  node.out(node.e.make(ops::LogicalNot, {node.in(0)}));
}

static void isNaN(Node &node) {
  Val x = node.in(0);
  node.out(node.e.make(ops::NotEqual, {x, x}));
}

static void isInf(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  bool positive = node.attr("detect_positive", 1) != 0;
  bool negative = node.attr("detect_negative", 1) != 0;
  Val infinity = e.scalar(x.dtype(), INFINITY);
  if (!positive && !negative)
    return node.out(e.filled(DType::Bool, x.shape(), 0));
  Val size = positive && negative ? e.unary(ops::Abs, x)
             : positive           ? x
                                  : e.mul(x, -1);
  node.out(e.make(ops::Equal, {size, infinity}));
}

static void cast(Node &node, DType dtype) {
  Emitter &e = node.e;
  Val x = node.raw(0);
  ConstantRef known = e.known(x);
  if (!x)
    return;
  if (nativeType(dtype) == DType::Bool && x.dtype() != DType::Bool) {
    Val value = e.native(x);
    return node.out(
        e.make(ops::NotEqual, {e.cast(value, Emitter::wideOf(value)),
                               e.scalar(Emitter::wideOf(value), 0)}));
  }
  // Wide integers stay what they are, since shapes have large ones.
  if (known && dtype == DType::Int64 && x.dtype() == DType::Int64)
    return node.out(x);
  node.out(e.cast(x, nativeType(dtype)));
}

static void castTo(Node &node) {
  node.ignore("round_mode");
  node.ignore("saturate");
  auto element = proto::ElementType(node.attr("to", 0));
  std::optional<DType> dtype = dtypeOf(element);
  if (!dtype || isStoredOnly(*dtype))
    return node.refuse("elements of type " + spelling(element) +
                       " have no counterpart");
  cast(node, *dtype);
}

static void castLike(Node &node) {
  node.ignore("round_mode");
  node.ignore("saturate");
  DType dtype = node.raw(1).dtype();
  if (isStoredOnly(dtype))
    return node.refuse("elements of type " + anec::spelling(dtype) +
                       " have no counterpart");
  cast(node, dtype);
}

/// The bits as another type. Only of integers of the same width are they
/// computed: modulo the range of the type.
static void bitCast(Node &node) {
  Emitter &e = node.e;
  Val x = node.raw(0);
  auto element = proto::ElementType(node.attr("to", 0));
  std::optional<DType> dtype = dtypeOf(element);
  if (node.failed())
    return;
  if (!dtype)
    return node.refuse("elements of type " + spelling(element) +
                       " have no counterpart");
  if (bitWidth(*dtype) != bitWidth(x.dtype()))
    return node.fail("the types must have as many bits");
  if (x.dtype() == *dtype)
    return node.out(x);
  if (ConstantRef known = e.known(x);
      known && known->storedDType() == x.dtype())
    return node.out(
        e.constant(Constant::copy({*dtype, x.shape()}, known->bytes())));
  bool isNarrow = bitWidth(*dtype) < 32 && anec::isInteger(*dtype) &&
                  anec::isInteger(x.dtype());
  if (!isNarrow)
    return node.refuse("the bits of computed values");
  double range = double(1 << bitWidth(*dtype));
  double least = isSigned(*dtype) ? -range / 2 : 0;
  Val shifted = e.add(e.cast(x, DType::Int32), -least);
  shifted = e.binary(ops::Mod, shifted, e.scalar(DType::Int32, range));
  node.out(e.cast(e.add(shifted, least), *dtype));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// The second operand. Before version 7, an attribute says at which axis of the
/// first operand its shape begins.
static Val second(Node &node) {
  Val x = node.in(0), y = node.in(1);
  if (node.opset() >= 7 || !node.hasAttr("axis"))
    return y;
  int64_t axis = node.axis(0, x.rank());
  if (node.failed() || axis + y.rank() > x.rank())
    return y;
  Shape shape = y.shape();
  shape.resize(size_t(x.rank() - axis), 1);
  return node.e.reshape(y, shape);
}

template <const OpDef &Def>
static void binary(Node &node) {
  Val x = node.in(0), y = second(node);
  node.out(node.e.binary(Def, x, y));
}

/// The same of what integers of few bits overflow in: modulo their range.
template <const OpDef &Def>
static void arithmetic(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), y = second(node);
  if (x.dtype() == DType::Bool || Emitter::wideOf(x) != DType::Int32 ||
      x.dtype() == DType::Int32)
    return node.out(e.binary(Def, x, y));
  Val result = e.make(Def, {e.cast(x, DType::Int32), e.cast(y, DType::Int32)});
  double range = double(1 << bitWidth(x.dtype()));
  double least = isSigned(x.dtype()) ? -range / 2 : 0;
  result = e.add(result, -least);
  result = e.binary(ops::Mod, result, e.scalar(DType::Int32, range));
  node.out(e.cast(e.add(result, least), x.dtype()));
}

static bool isInteger(Val x) {
  return x.dtype() != DType::FP16 && x.dtype() != DType::FP32;
}

/// Of integers, rounded to 0.
static Val divided(Emitter &e, Val x, Val y) {
  if (!isInteger(x))
    return e.div(x, y);
  Val signX = e.unary(ops::Sign, x), signY = e.unary(ops::Sign, y);
  Val sizeX = e.unary(ops::Abs, x), sizeY = e.unary(ops::Abs, y);
  Val sign = e.mul(signX, signY);
  return e.mul(sign, e.binary(ops::FloorDiv, sizeX, sizeY));
}

static void divide(Node &node) {
  Val x = node.in(0), y = second(node);
  node.out(divided(node.e, x, y));
}

/// The remainder with the sign of the divisor, or with `fmod` of the dividend.
static void mod(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), y = node.in(1);
  if (node.attr("fmod", 0) == 0)
    return node.out(e.binary(ops::Mod, x, y));
  Val sizeX = e.unary(ops::Abs, x), sizeY = e.unary(ops::Abs, y);
  Val rest = e.binary(ops::Mod, sizeX, sizeY);
  node.out(e.mul(e.unary(ops::Sign, x), rest));
}

static void power(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), y = second(node);
  if (isInteger(x) && y && !isInteger(y))
    return node.out(
        e.cast(e.binary(ops::Pow, e.cast(x, y.dtype()), y), x.dtype()));
  node.out(e.binary(ops::Pow, x, y));
}

/// x * 2^count modulo 2^32, for a count below 32. No step leaves the range of
/// 32 bits: of x = q * 2^(31 - count) + r, the parity of q becomes the sign.
static Val shiftLeft32(Emitter &e, Val x, Val count) {
  Val zero = e.scalar(DType::Int32, 0), one = e.scalar(DType::Int32, 1);
  Val two = e.scalar(DType::Int32, 2), most = e.scalar(DType::Int32, 31);
  Val isNone = e.make(ops::Equal, {count, zero});
  count = e.select(isNone, one, count);
  Val others = e.sub(most, count), lower = e.sub(count, one);
  Val unit = e.binary(ops::Pow, two, others);
  Val quotient = e.binary(ops::FloorDiv, x, unit);
  Val rest = e.sub(x, e.mul(quotient, unit));
  Val sign = e.mul(e.binary(ops::Mod, quotient, two), unit);
  Val kept = e.sub(rest, sign), half = e.binary(ops::Pow, two, lower);
  Val shifted = e.mul(e.mul(kept, half), two);
  return e.select(isNone, x, shifted);
}

namespace {
ANEC_ENUM(ShiftTo, (Left, "LEFT"), (Right, "RIGHT"))
} // namespace

/// x * 2^y or x / 2^y rounded down, modulo the range of the type. Since version
/// 28, a shift by more bits than there are moves all of them out.
static void bitShift(Node &node) {
  Emitter &e = node.e;
  Val x = node.raw(0), y = node.in(1);
  bool left = choiceOf<ShiftTo>(node, "direction") == ShiftTo::Left;
  if (node.failed())
    return;
  DType dtype = nativeType(x.dtype());
  auto bits = int64_t(bitWidth(dtype));
  auto number = [&](double value) { return e.scalar(DType::Int32, value); };
  Val wide = e.cast(x, DType::Int32), count = e.cast(y, DType::Int32), inside;
  if (node.opset() >= 28) {
    Val least = e.make(ops::GreaterEqual, {count, number(0)});
    Val most = e.make(ops::Less, {count, number(double(bits))});
    inside = e.make(ops::LogicalAnd, {least, most});
    count = e.select(inside, count, number(0));
  }
  Val shifted;
  if (left && bits == 32) {
    shifted = shiftLeft32(e, wide, count);
  } else {
    Val factor = e.binary(ops::Pow, number(2), count);
    shifted = e.binary(left ? ops::Mul : ops::FloorDiv, wide, factor);
  }
  if (left && bits < 32) {
    double range = double(1 << bits), least = isSigned(dtype) ? -range / 2 : 0;
    shifted = e.add(shifted, -least);
    shifted = e.binary(ops::Mod, shifted, number(range));
    shifted = e.add(shifted, least);
  }
  if (inside) {
    Val sign = e.cast(e.make(ops::Less, {wide, number(0)}), DType::Int32);
    shifted =
        e.select(inside, shifted, left ? number(0) : e.mul(sign, number(-1)));
  }
  node.out(e.cast(shifted, dtype));
}

template <const OpDef &Def>
static void compare(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), y = second(node);
  DType wide = Emitter::wideOf(x);
  node.out(e.make(Def, {e.cast(x, wide), e.cast(y, wide)}));
}

template <const OpDef &Def>
static void logical(Node &node) {
  node.out(node.e.make(Def, {node.in(0), second(node)}));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

template <const OpDef &Def>
static Val folded(Node &node) {
  Val result = node.in(0);
  for (size_t i = 1; i < node.numInputs(); ++i)
    result = node.e.binary(Def, result, node.in(i));
  return result;
}

template <const OpDef &Def>
static void variadic(Node &node) {
  node.out(folded<Def>(node));
}

static void mean(Node &node) {
  Val sum = folded<ops::Add>(node);
  node.out(node.e.div(
      sum, node.e.scalar(Emitter::wideOf(sum), double(node.numInputs()))));
}

static void where(Node &node) {
  Val condition = node.in(0), yes = node.in(1), no = node.in(2);
  node.out(node.e.select(condition, yes, no));
}

static void clip(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  if (node.opset() < 11) {
    if (node.hasAttr("min"))
      x = e.binary(ops::Maximum, x,
                   e.scalar(x.dtype(), node.attrNumber("min", 0)));
    if (node.hasAttr("max"))
      x = e.binary(ops::Minimum, x,
                   e.scalar(x.dtype(), node.attrNumber("max", 0)));
    return node.out(x);
  }
  if (node.has(1))
    x = e.binary(ops::Maximum, x, node.in(1));
  if (node.has(2))
    x = e.binary(ops::Minimum, x, node.in(2));
  node.out(x);
}

static void identity(Node &node) { node.out(node.raw(0)); }

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow elementwiseTable[] = {
    {"Abs", unary<ops::Abs>},
    {"Acos", unary<ops::Acos>, 7},
    {"Acosh", acosh, 9},
    {"Add", arithmetic<ops::Add>},
    {"And", logical<ops::LogicalAnd>},
    {"Asin", unary<ops::Asin>, 7},
    {"Asinh", asinh, 9},
    {"Atan", unary<ops::Atan>, 7},
    {"Atanh", unary<ops::Atanh>, 9},
    {"BitCast", bitCast, 26,
     "of computed values, only between integers of 8 or 16 bits"},
    {"BitShift", bitShift, 11, "integers of 64 bits have 32"},
    {"Cast", castTo, 6, "not to strings, bfloat16 or 8-bit floats"},
    {"CastLike", castLike, 15},
    {"Ceil", unary<ops::Ceil>},
    {"Clip", clip, 1, "before version 11, infinity stays without a limit"},
    {"Cos", unary<ops::Cos>, 7},
    {"Cosh", unary<ops::Cosh>, 9},
    {"Div", divide},
    {"Equal", compare<ops::Equal>},
    {"Erf", unary<ops::Erf>, 9},
    {"Exp", unary<ops::Exp>},
    {"Floor", unary<ops::Floor>},
    {"Greater", compare<ops::Greater>},
    {"GreaterOrEqual", compare<ops::GreaterEqual>, 12},
    {.name = "Identity", .read = identity, .takesSequences = true},
    {"IsInf", isInf, 10},
    {"IsNaN", isNaN, 9},
    {"Less", compare<ops::Less>},
    {"LessOrEqual", compare<ops::LessEqual>, 12},
    {"Log", log},
    {"Max", variadic<ops::Maximum>},
    {"Mean", mean},
    {"Min", variadic<ops::Minimum>},
    {"Mod", mod, 10},
    {"Mul", arithmetic<ops::Mul>},
    {"Neg", negate},
    {"Not", logicalNot},
    {"Or", logical<ops::LogicalOr>},
    {"Pow", power},
    {"Reciprocal", reciprocal},
    {"Round", unary<ops::Round>, 11},
    {"Sign", unary<ops::Sign>, 9},
    {"Sin", unary<ops::Sin>, 7},
    {"Sinh", unary<ops::Sinh>, 9},
    {"Sqrt", unary<ops::Sqrt>},
    {"Sub", arithmetic<ops::Sub>},
    {"Sum", variadic<ops::Add>},
    {"Tan", unary<ops::Tan>, 7},
    {"Where", where, 9},
    {"Xor", logical<ops::LogicalXor>},
};

llvm::ArrayRef<OpRow> onnx::elementwiseRows() { return elementwiseTable; }
