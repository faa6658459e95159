//===- Product.cpp - products and convolutions of onnxruntime -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Ops/Product.h"
#include "../Families.h"
#include "../Ops/Windows.h"
#include "anec/IR/Params.h"
#include "anec/Support/Words.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constexpr.h"

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// With activations
//===----------------------------------------------------------------------===//

namespace {
ANEC_ENUM(Activation, (Relu, "Relu"), (Sigmoid, "Sigmoid"), (Tanh, "Tanh"),
          (Softplus, "Softplus"), (Softsign, "Softsign"),
          (HardSwish, "HardSwish"), (LeakyRelu, "LeakyRelu"), (Elu, "Elu"),
          (HardSigmoid, "HardSigmoid"), (Clip, "Clip"))
} // namespace

/// The function that the attribute `activation` names, with numbers of its own.
static Val activated(Node &node, Val x, llvm::ArrayRef<double> numbers) {
  Emitter &e = node.e;
  StringRef name = node.attrText("activation", "");
  auto number = [&](size_t i, double fallback) {
    return i < numbers.size() ? numbers[i] : fallback;
  };
  auto with = [&](const FloatParam &param, double value) -> Attr {
    return {param, Constant::scalar(Emitter::wideOf(x), value)};
  };
  if (name.empty())
    return x;
  std::optional<Activation> activation = parseWord<Activation>(name);
  if (!activation || (activation == Activation::Clip && numbers.size() != 2)) {
    node.refuse("the activation " + name + " has no counterpart");
    return {};
  }
  switch (*activation) {
  case Activation::Relu:
    return e.unary(ops::Relu, x);
  case Activation::Sigmoid:
    return e.unary(ops::Sigmoid, x);
  case Activation::Tanh:
    return e.unary(ops::Tanh, x);
  case Activation::Softplus:
    return e.unary(ops::Softplus, x);
  case Activation::Softsign:
    return e.unary(ops::Softsign, x);
  case Activation::HardSwish:
    return e.mul(
        x, e.unary(ops::SigmoidHard, x,
                   {with(param::alpha, 1.0 / 6), with(param::beta, 0.5)}));
  case Activation::LeakyRelu:
    return e.unary(ops::LeakyRelu, x, {with(param::alpha, number(0, 0.01f))});
  case Activation::Elu:
    return e.unary(ops::Elu, x, {with(param::alpha, number(0, 1))});
  case Activation::HardSigmoid:
    return e.unary(ops::SigmoidHard, x,
                   {with(param::alpha, number(0, 0.2f)),
                    with(param::beta, number(1, 0.5))});
  case Activation::Clip:
    x = e.binary(ops::Maximum, x, e.scalar(x.dtype(), numbers[0]));
    return e.binary(ops::Minimum, x, e.scalar(x.dtype(), numbers[1]));
  }
  llvm_unreachable("an unknown activation");
}

/// activation(convolution + sum).
static void fusedConv(Node &node) {
  Val x = node.in(0), weight = node.in(1), bias = node.maybe(2);
  if (!hasPlane(node, x) || !hasPlane(node, weight))
    return;
  Val result = convolved(node, x, weight, bias);
  if (node.has(3))
    result = node.e.add(result, node.in(3));
  if (result)
    node.out(activated(node, result, node.attrNumbers("activation_params")));
}

static void fusedGemm(Node &node) {
  Emitter &e = node.e;
  Val a = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  bool transA = node.attr("transA", 0) != 0;
  bool transB = node.attr("transB", 0) != 0;
  Val result = e.matmul(a, b, transA, transB);
  result = e.mul(result, node.attrNumber("alpha", 1));
  double beta = node.attrNumber("beta", 1);
  if (node.has(2))
    result = e.add(result, e.mul(node.in(2), beta));
  std::vector<double> numbers;
  for (StringRef name :
       {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.hasAttr(name))
      numbers.push_back(node.attrNumber(name, 0));
  if (result)
    node.out(activated(node, result, numbers));
}

//===----------------------------------------------------------------------===//
// Of transposed matrices
//===----------------------------------------------------------------------===//

/// The first axis moved before the last one, and then the last two exchanged.
static Val turned(Emitter &e, Val x, bool batch, bool matrix) {
  int64_t rank = x.rank();
  if (rank < 2)
    return x;
  Shape perm;
  for (int64_t axis = 0; axis != rank; ++axis)
    perm.push_back(axis);
  if (batch)
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix)
    std::swap(perm[size_t(rank - 1)], perm[size_t(rank - 2)]);
  return e.transpose(x, perm);
}

static void fusedMatMul(Node &node) {
  Emitter &e = node.e;
  Val a = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  auto flag = [&](StringRef name) {
    return node.knows(name) && node.attr(name, 0) != 0;
  };
  bool transA = flag("transA"), transB = flag("transB");
  bool batchA = flag("transBatchA"), batchB = flag("transBatchB");
  double alpha = node.attrNumber("alpha", 1);
  // The product itself transposes matrices that stay where they are.
  Val left = batchA ? turned(e, a, true, transA) : a;
  Val right = batchB ? turned(e, b, true, transB) : b;
  Val result = product(e, left, right, transA && !batchA, transB && !batchB);
  node.out(alpha == 1 ? result : e.mul(result, alpha));
}

//===----------------------------------------------------------------------===//
// Of weights of few bits
//===----------------------------------------------------------------------===//

/// Rows of numbers of `bits` bits each, the first in the low bits of a byte.
/// Each row begins with a byte of its own.
static std::vector<double> unpacked(llvm::ArrayRef<uint8_t> bytes, int64_t rows,
                                    int64_t columns, int64_t bits) {
  std::vector<double> numbers;
  int64_t stride = (columns * bits + 7) / 8;
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t column = 0; column != columns; ++column) {
      int64_t bit = column * bits;
      unsigned byte = bytes[size_t(row * stride + bit / 8)];
      numbers.push_back((byte >> (bit % 8)) & ((1u << bits) - 1));
    }
  return numbers;
}

namespace {
/// Weights [N, K] in blocks of K.
struct StoredBlocks {
  int64_t rows, columns, block, bits;
  int64_t count() const { return (columns + block - 1) / block; }
};
} // namespace

/// The zero points, [N, blocks], as the type of the weights or of the scales;
/// missing after an error.
static Val zeroPoints(Node &node, const StoredBlocks &blocks, DType dtype) {
  Emitter &e = node.e;
  Shape shape = {blocks.rows, blocks.count()};
  if (!node.has(3))
    return e.constant(Constant::fromDoubles(
        {dtype, shape}, std::vector<double>(size_t(shape[0] * shape[1]),
                                            double(1 << (blocks.bits - 1)))));
  ConstantRef given = node.known(3);
  if (!given)
    return {};
  if (isFloat(given->dtype()) && given->numElements() == shape[0] * shape[1])
    return e.native(e.constant(given->reshaped(shape)));
  int64_t bytes = (blocks.count() * blocks.bits + 7) / 8;
  if (given->dtype() != DType::UInt8 ||
      given->numElements() != blocks.rows * bytes) {
    node.fail("the zero points do not match the blocks");
    return {};
  }
  return e.constant(Constant::fromDoubles(
      {dtype, shape},
      unpacked(given->bytes(), blocks.rows, blocks.count(), blocks.bits)));
}

/// The block of each of K columns, by `g_idx` if it is there; empty after an
/// error.
static Shape blockOfColumns(Node &node, const StoredBlocks &blocks) {
  Shape own;
  if (node.has(4)) {
    // By the text they are those of the blocks; onnxruntime takes 8.
    if (node.has(3))
      node.refuse("zero points beside `g_idx`, which onnxruntime leaves out; "
                  "sort the rows of the weight by group and remove `g_idx`");
    own = node.ints(4);
    if (node.failed())
      return {};
    // There may be one for each column of whole blocks.
    if (int64_t(own.size()) < blocks.columns ||
        llvm::any_of(own, [&](int64_t block) {
          return block < 0 || block >= blocks.count();
        })) {
      node.fail("`g_idx` must have the number of a block for each column");
      return {};
    }
    own.resize(size_t(blocks.columns));
    return own;
  }
  for (int64_t column = 0; column != blocks.columns; ++column)
    own.push_back(column / blocks.block);
  return own;
}

/// The weight (q - zero point) * scale, [N, K], packed where it can be; missing
/// after an error.
static Val blockWeight(Node &node, const StoredBlocks &blocks) {
  Emitter &e = node.e;
  ConstantRef packed = node.known(1), scales = node.known(2);
  if (!packed || !scales)
    return {};
  int64_t whole = blocks.count() * blocks.block;
  if (packed->dtype() != DType::UInt8 ||
      packed->numElements() != blocks.rows * whole * blocks.bits / 8 ||
      scales->numElements() != blocks.rows * blocks.count()) {
    node.fail("the weight and its scales do not match `N`, `K` and the blocks");
    return {};
  }
  DType dtype = blocks.bits == 4   ? DType::UInt4
                : blocks.bits == 2 ? DType::UInt2
                                   : DType::UInt8;
  Shape shape = {blocks.rows, blocks.columns};
  Val scale =
      e.native(e.constant(scales->reshaped({blocks.rows, blocks.count()})));
  Val zero = zeroPoints(node, blocks, dtype);
  if (!scale || !zero)
    return {};
  bool fits = whole == blocks.columns && dtype != DType::UInt2 && !node.has(4);
  if (fits && !isFloat(zero.dtype())) {
    Val numbers = e.constant(Constant::copy({dtype, shape}, packed->bytes()));
    return e.make(ops::ConstexprBlockwiseShiftScale, {numbers, scale, zero});
  }
  if (!node.affords({blocks.rows, whole}))
    return {};
  std::vector<double> all =
      unpacked(packed->bytes(), blocks.rows, whole, blocks.bits);
  std::vector<double> factors = e.known(scale)->asDoubles(),
                      points = e.known(zero)->asDoubles(), elements;
  Shape blockOf = blockOfColumns(node, blocks);
  if (node.failed())
    return {};
  for (int64_t row = 0; row != blocks.rows; ++row)
    for (int64_t column = 0; column != blocks.columns; ++column) {
      auto block = size_t(row * blocks.count() + blockOf[size_t(column)]);
      elements.push_back((all[size_t(row * whole + column)] - points[block]) *
                         factors[block]);
    }
  return e.constant(Constant::fromDoubles({scale.dtype(), shape}, elements));
}

static void matMulNBits(Node &node) {
  node.ignore("accuracy_level");
  Emitter &e = node.e;
  Val x = node.in(0);
  StoredBlocks blocks = {node.attr("N", 0), node.attr("K", 0),
                         node.attr("block_size", 0), node.attr("bits", 4)};
  if (node.failed())
    return;
  if (node.attr("weight_prepacked", 0) != 0)
    return node.refuse("weights that are packed for one processor");
  if (blocks.bits != 2 && blocks.bits != 4 && blocks.bits != 8)
    return node.refuse("numbers of " + llvm::Twine(blocks.bits) + " bits");
  if (blocks.rows < 1 || blocks.columns < 1 || blocks.block < 16 ||
      blocks.block % 8 != 0 || x.dim(-1) != blocks.columns ||
      !checkedNumElements({blocks.rows, blocks.columns + blocks.block}))
    return node.fail("`N`, `K` and `block_size` do not match the input");
  Val weight = blockWeight(node, blocks);
  if (node.failed() || !weight)
    return;
  weight = e.cast(weight, x.dtype());
  Val rows = x.rank() == 1 ? e.reshape(x, {1, x.size()}) : x;
  Val result = e.matmul(rows, weight, false, true);
  if (x.rank() == 1)
    result = e.reshape(result, {blocks.rows});
  node.out(node.has(5) ? e.add(result, node.in(5)) : result);
}

static constexpr OpRow microsoftProductTable[] = {
    {"FusedConv", fusedConv},
    {"FusedGemm", fusedGemm},
    {"FusedMatMul", fusedMatMul},
    {"MatMulNBits", matMulNBits, 1, "the weights must be known"},
    {"TransposeMatMul", fusedMatMul},
};

llvm::ArrayRef<OpRow> onnx::microsoftProductRows() {
  return microsoftProductTable;
}
