//===- Arithmetic.cpp - arithmetic of two operands ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Arithmetic.h"
#include "../Families.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::torch;

/// Two operands, in the type that both are promoted to.
namespace {
struct Pair {
  Val x, y;
  ScalarType type = ScalarType::Float32;
};
} // namespace

static Pair pairOf(Node &n, StringRef first, StringRef second) {
  Item x = n.item(first), y = n.item(second);
  ScalarType type = promote({x, y});
  return {n.cast(x, type), n.cast(y, type), type};
}

/// The result of arithmetic in `type`, which integers of few bits overflow, in
/// the type that the node has.
static void give(Node &n, Val result, ScalarType type) {
  n.out(n.cast(result, type, n.outType()));
}

/// Integers of few bits are computed in 32 bits, and then taken modulo their
/// range.
template <typename Compute>
static Val computed(Node &n, Val x, Val y, ScalarType type, Compute compute) {
  if (!isIntegral(type))
    return compute(x, y);
  x = n.e.cast(x, DType::Int32);
  y = n.e.cast(y, DType::Int32);
  return n.cast(compute(x, y), ScalarType::Int32, type);
}

/// y times the factor `alpha`.
static Val scaledOperand(Node &n, Val y, ScalarType type) {
  Item alpha = n.item("alpha");
  if (ConstantRef known = n.e.known(alpha.val);
      known && known->doubleAt(0) == 1)
    return y;
  return n.e.mul(y, n.cast(alpha, type));
}

/// (a + bi) (c + di).
static Val complexProduct(Node &n, Val x, Val y) {
  Emitter &e = n.e;
  Val a = e.slice(x, -1, 0, 1), b = e.slice(x, -1, 1, 2);
  Val c = e.slice(y, -1, 0, 1), d = e.slice(y, -1, 1, 2);
  Val ac = e.mul(a, c), bd = e.mul(b, d), ad = e.mul(a, d), bc = e.mul(b, c);
  return e.concat({e.sub(ac, bd), e.add(ad, bc)}, -1);
}

/// x as a complex number, with the imaginary part 0.
static Val asComplex(Node &n, const Item &x) {
  Emitter &e = n.e;
  if (isComplex(x.type))
    return e.native(x.val);
  Val real = n.cast(x, ScalarType::Float32);
  Shape shape = real.shape();
  shape.push_back(1);
  return e.concat({e.reshape(real, shape), e.filled(DType::FP32, shape, 0)},
                  -1);
}

static bool isOfComplex(Node &n) {
  return isComplex(promote({n.item("self"), n.item("other")}));
}

static void add(Node &n) {
  if (isOfComplex(n))
    return n.out(
        n.e.add(asComplex(n, n.item("self")), asComplex(n, n.item("other"))));
  auto [x, y, type] = pairOf(n, "self", "other");
  y = scaledOperand(n, y, type);
  if (type == ScalarType::Bool)
    return n.out(n.e.make(ops::LogicalOr, {x, y}));
  give(n, computed(n, x, y, type, [&](Val x, Val y) { return n.e.add(x, y); }),
       type);
}

static void subtract(Node &n) {
  if (isOfComplex(n))
    return n.out(
        n.e.sub(asComplex(n, n.item("self")), asComplex(n, n.item("other"))));
  auto [x, y, type] = pairOf(n, "self", "other");
  y = scaledOperand(n, y, type);
  give(n, computed(n, x, y, type, [&](Val x, Val y) { return n.e.sub(x, y); }),
       type);
}

/// other - alpha * self.
static void subtractFrom(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  x = scaledOperand(n, x, type);
  give(n, computed(n, y, x, type, [&](Val x, Val y) { return n.e.sub(x, y); }),
       type);
}

static void multiply(Node &n) {
  if (isOfComplex(n))
    return n.out(complexProduct(n, asComplex(n, n.item("self")),
                                asComplex(n, n.item("other"))));
  auto [x, y, type] = pairOf(n, "self", "other");
  if (type == ScalarType::Bool)
    return n.out(n.e.make(ops::LogicalAnd, {x, y}));
  give(n, computed(n, x, y, type, [&](Val x, Val y) { return n.e.mul(x, y); }),
       type);
}

/// Of integers, the quotient rounded to 0.
static Val truncated(Emitter &e, Val x, Val y) {
  Val signX = e.unary(ops::Sign, x), signY = e.unary(ops::Sign, y);
  Val sizeX = e.unary(ops::Abs, x), sizeY = e.unary(ops::Abs, y);
  Val sign = e.mul(signX, signY);
  return e.mul(sign, e.binary(ops::FloorDiv, sizeX, sizeY));
}

static Val towardZero(Emitter &e, Val x) {
  Val size = e.unary(ops::Floor, e.unary(ops::Abs, x));
  return e.mul(e.unary(ops::Sign, x), size);
}

static Val floorQuotient(Node &n, Val x, Val y, ScalarType type) {
  Emitter &e = n.e;
  if (!isFloating(type))
    return computed(n, x, y, type, [&](Val x, Val y) {
      return e.binary(ops::FloorDiv, x, y);
    });
  return e.unary(ops::Floor, e.div(x, y));
}

static void divide(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  StringRef rounding;
  if (n.has("rounding_mode"))
    rounding = n.text("rounding_mode");
  if (rounding == "floor")
    return give(n, floorQuotient(n, x, y, type), type);
  if (rounding == "trunc" && isFloating(type))
    return give(n, towardZero(n.e, n.e.div(x, y)), type);
  if (rounding == "trunc")
    return give(n,
                computed(n, x, y, type,
                         [&](Val x, Val y) { return truncated(n.e, x, y); }),
                type);
  ScalarType real = isFloating(type) ? type : ScalarType::Float32;
  give(n, n.e.div(n.cast(x, type, real), n.cast(y, type, real)), real);
}

static void floorDivide(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  give(n, floorQuotient(n, x, y, type), type);
}

/// With the sign of the divisor.
static void remainder(Node &n) {
  Emitter &e = n.e;
  auto [x, y, type] = pairOf(n, "self", "other");
  give(n,
       computed(n, x, y, type,
                [&](Val x, Val y) { return e.binary(ops::Mod, x, y); }),
       type);
}

/// With the sign of the dividend.
static void fmod(Node &n) {
  Emitter &e = n.e;
  auto [x, y, type] = pairOf(n, "self", "other");
  give(n,
       computed(n, x, y, type,
                [&](Val x, Val y) {
                  Val sizeX = e.unary(ops::Abs, x);
                  Val sizeY = e.unary(ops::Abs, y);
                  Val rest = e.binary(ops::Mod, sizeX, sizeY);
                  return e.mul(e.unary(ops::Sign, x), rest);
                }),
       type);
}

/// Integers to a known power, by products: floats do not hold all of them.
static Val integerPower(Emitter &e, Val x, int64_t exponent) {
  Val result;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2)
      result = result ? e.mul(result, x) : x;
    if (exponent > 1)
      x = e.mul(x, x);
  }
  return result;
}

static void power(Node &n) {
  Emitter &e = n.e;
  auto [x, y, type] = pairOf(n, "self", "exponent");
  ConstantRef known = e.known(y);
  if (known && known->numElements() == 1) {
    double exponent = known->doubleAt(0);
    if (isIntegral(type) && exponent < 1)
      return exponent == 0 ? n.out(e.filled(nativeType(type), x.shape(), 1))
                           : n.fail("a negative power of integers");
    if (isIntegral(type))
      return give(n,
                  computed(n, x, y, type,
                           [&](Val x, Val) {
                             return integerPower(e, x, int64_t(exponent));
                           }),
                  type);
    if (exponent == 0.5)
      return give(n, e.unary(ops::Sqrt, x), type);
    if (exponent == 1)
      return give(n, e.mul(x, 1), type);
    if (exponent == 2 || exponent == 3)
      return give(n, integerPower(e, x, int64_t(exponent)), type);
    if (exponent == -0.5)
      return give(n, e.div(e.scalar(x.dtype(), 1), e.unary(ops::Sqrt, x)),
                  type);
  }
  give(n,
       computed(n, x, y, type,
                [&](Val x, Val y) { return e.binary(ops::Pow, x, y); }),
       type);
}

template <const OpDef &Def>
static void extreme(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  give(n,
       computed(n, x, y, type,
                [&](Val x, Val y) { return n.e.binary(Def, x, y); }),
       type);
}

static void clamp(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  std::vector<Item> all = {x};
  for (StringRef bound : {"min", "max"})
    if (n.has(bound))
      all.push_back(n.item(bound));
  ScalarType type = promote(all);
  Val result = n.cast(x, type);
  for (auto [bound, def] : {std::pair(StringRef("min"), &ops::Maximum),
                            std::pair(StringRef("max"), &ops::Minimum)})
    if (n.has(bound))
      result = e.binary(*def, result, n.cast(n.item(bound), type));
  give(n, result, type);
}

/// self + value * tensor1 * tensor2, or the quotient of both.
template <bool IsQuotient>
static void addProduct(Node &n) {
  Emitter &e = n.e;
  Item self = n.item("self"), first = n.item("tensor1"),
       second = n.item("tensor2"), value = n.item("value");
  ScalarType type = promote({self, first, second});
  if (!isFloating(type))
    return n.fail("of integers");
  Val x = n.cast(first, type), y = n.cast(second, type);
  Val product = IsQuotient ? e.div(x, y) : e.mul(x, y);
  product = e.mul(product, n.cast(value, type));
  give(n, e.add(n.cast(self, type), product), type);
}

/// self + weight * (end - self).
static void lerp(Node &n) {
  Emitter &e = n.e;
  Item self = n.item("self"), end = n.item("end"), weight = n.item("weight");
  ScalarType type = promote({self, end});
  Val begin = n.cast(self, type);
  Val step = e.sub(n.cast(end, type), begin);
  give(n, e.add(begin, e.mul(n.cast(weight, type), step)), type);
}

/// The angle of (x, y), in all four quadrants.
static void arcTangent2(Node &n) {
  Emitter &e = n.e;
  auto [y, x, type] = pairOf(n, "self", "other");
  ScalarType real = isFloating(type) ? type : ScalarType::Float32;
  y = n.cast(y, type, real);
  x = n.cast(x, type, real);
  DType dtype = x.dtype();
  constexpr double pi = 3.14159265358979323846;
  Val zero = e.scalar(dtype, 0);
  Val isZero = e.make(ops::Equal, {x, zero});
  Val angle =
      e.unary(ops::Atan, e.div(y, e.select(isZero, e.scalar(dtype, 1), x)));
  Val isLeft = e.make(ops::Less, {x, zero});
  Val isBelow = e.make(ops::Less, {y, zero});
  Val turn = e.select(isBelow, e.scalar(dtype, -pi), e.scalar(dtype, pi));
  Val turned = e.add(angle, turn);
  Val upright = e.mul(e.unary(ops::Sign, y), pi / 2);
  give(n, e.select(isZero, upright, e.select(isLeft, turned, angle)), real);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <const OpDef &Def>
static void bitwise(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  if (type == ScalarType::Bool)
    return n.out(n.e.make(Def, {x, y}));
  static constexpr llvm::StringLiteral name =
      &Def == &ops::LogicalAnd  ? llvm::StringLiteral("BitwiseAnd")
      : &Def == &ops::LogicalOr ? llvm::StringLiteral("BitwiseOr")
                                : llvm::StringLiteral("BitwiseXor");
  Val result = OnnxNode(n, name).in(x).in(y).run();
  give(n, result, type);
}

static void bitwiseNot(Node &n) {
  Item x = n.item("self");
  if (x.type == ScalarType::Bool)
    return n.out(n.e.make(ops::LogicalNot, {n.e.native(x.val)}));
  // ~x = -1 - x.
  Val wide = n.e.cast(x.val, DType::Int32);
  Val result = n.e.sub(n.e.scalar(DType::Int32, -1), wide);
  n.out(n.cast(result, ScalarType::Int32, x.type));
}

template <bool IsLeft>
static void shift(Node &n) {
  auto [x, y, type] = pairOf(n, "self", "other");
  Val result = OnnxNode(n, "BitShift")
                   .in(x)
                   .in(y)
                   .attr("direction", IsLeft ? StringRef("LEFT") : "RIGHT")
                   .run();
  give(n, result, type);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow arithmeticTable[] = {
    {"aten.__and__.Scalar", bitwise<ops::LogicalAnd>},
    {"aten.__and__.Tensor", bitwise<ops::LogicalAnd>},
    {"aten.__lshift__.Scalar", shift<true>},
    {"aten.__lshift__.Tensor", shift<true>},
    {"aten.__or__.Scalar", bitwise<ops::LogicalOr>},
    {"aten.__or__.Tensor", bitwise<ops::LogicalOr>},
    {"aten.__rshift__.Scalar", shift<false>},
    {"aten.__rshift__.Tensor", shift<false>},
    {"aten.__xor__.Scalar", bitwise<ops::LogicalXor>},
    {"aten.__xor__.Tensor", bitwise<ops::LogicalXor>},
    {"aten.add.Scalar", add},
    {"aten.add.Tensor", add, "", true},
    {"aten.addcdiv.default", addProduct<true>},
    {"aten.addcmul.default", addProduct<false>},
    {"aten.atan2.default", arcTangent2},
    {"aten.bitwise_and.Scalar", bitwise<ops::LogicalAnd>},
    {"aten.bitwise_and.Tensor", bitwise<ops::LogicalAnd>},
    {"aten.bitwise_left_shift.Tensor", shift<true>},
    {"aten.bitwise_left_shift.Tensor_Scalar", shift<true>},
    {"aten.bitwise_not.default", bitwiseNot},
    {"aten.bitwise_or.Scalar", bitwise<ops::LogicalOr>},
    {"aten.bitwise_or.Tensor", bitwise<ops::LogicalOr>},
    {"aten.bitwise_right_shift.Tensor", shift<false>},
    {"aten.bitwise_right_shift.Tensor_Scalar", shift<false>},
    {"aten.bitwise_xor.Scalar", bitwise<ops::LogicalXor>},
    {"aten.bitwise_xor.Tensor", bitwise<ops::LogicalXor>},
    {"aten.clamp.Tensor", clamp},
    {"aten.clamp.default", clamp},
    {"aten.clamp_max.Tensor", clamp},
    {"aten.clamp_max.default", clamp},
    {"aten.clamp_min.Tensor", clamp},
    {"aten.clamp_min.default", clamp},
    {"aten.clip.default", clamp},
    {"aten.div.Scalar", divide},
    {"aten.div.Scalar_mode", divide},
    {"aten.div.Tensor", divide},
    {"aten.div.Tensor_mode", divide},
    {"aten.divide.Tensor", divide},
    {"aten.floor_divide.Scalar", floorDivide},
    {"aten.floor_divide.default", floorDivide},
    {"aten.fmod.Scalar", fmod},
    {"aten.fmod.Tensor", fmod},
    {"aten.lerp.Scalar", lerp},
    {"aten.lerp.Tensor", lerp},
    {"aten.max.other", extreme<ops::Maximum>},
    {"aten.maximum.default", extreme<ops::Maximum>},
    {"aten.min.other", extreme<ops::Minimum>},
    {"aten.minimum.default", extreme<ops::Minimum>},
    {"aten.mul.Scalar", multiply},
    {"aten.mul.Tensor", multiply, "", true},
    {"aten.multiply.Tensor", multiply},
    {"aten.pow.Scalar", power},
    {"aten.pow.Tensor_Scalar", power, "not a negative power of integers"},
    {"aten.pow.Tensor_Tensor", power},
    {"aten.remainder.Scalar", remainder},
    {"aten.remainder.Tensor", remainder},
    {"aten.rsub.Scalar", subtractFrom},
    {"aten.rsub.Tensor", subtractFrom},
    {"aten.sub.Scalar", subtract},
    {"aten.sub.Tensor", subtract, "", true},
    {"aten.subtract.Tensor", subtract},
    {"aten.true_divide.Tensor", divide},
};

llvm::ArrayRef<OpRow> torch::arithmeticRows() { return arithmeticTable; }
