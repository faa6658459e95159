//===- Creations.cpp - tensors of numbers ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

static void giveFilled(Node &n, Shape shape, Val value, ScalarType from) {
  n.ignore("dtype");
  for (StringRef unused : {"size", "self", "physical_layout"})
    n.ignore(unused);
  ScalarType type = n.outType();
  Val element = n.cast(value, from, type);
  if (n.failed() || !element)
    return;
  ConstantRef known = n.e.known(element);
  if (known && !isComplex(type))
    return n.out(n.e.filled(nativeType(type), shape, known->doubleAt(0)));
  n.out(n.e.broadcast(element, shape));
}

template <int Value>
static void filledWith(Node &n) {
  giveFilled(n, n.outShape(), n.e.scalar(DType::FP32, Value),
             ScalarType::Float32);
}

static void full(Node &n) {
  Item value = n.item("fill_value");
  giveFilled(n, n.outShape(), value.val, value.type);
}

static void fill(Node &n) {
  Item value = n.item("value");
  giveFilled(n, n.outShape(), value.val, value.type);
}

static void scalarTensor(Node &n) {
  Item value = n.item("s");
  giveFilled(n, {}, value.val, value.type);
}

static void range(Node &n) {
  Emitter &e = n.e;
  n.ignore("dtype");
  double begin = n.has("start") ? n.number("start") : 0;
  double end = n.number("end"), step = n.has("step") ? n.number("step") : 1;
  if (n.failed() || step == 0)
    return;
  double count = std::ceil((end - begin) / step);
  if (!(count >= 0 && count < 1e9) || !e.affords({int64_t(count)}))
    return n.fail("it has too many elements");
  std::vector<double> values;
  for (int64_t i = 0; i < int64_t(count); ++i)
    values.push_back(begin + double(i) * step);
  n.out(e.constant(Constant::fromDoubles(
      {nativeType(n.outType()), {int64_t(values.size())}}, values)));
}

static void linspace(Node &n) {
  Emitter &e = n.e;
  n.ignore("dtype");
  double begin = n.number("start"), end = n.number("end");
  int64_t count = n.integer("steps");
  if (n.failed() || count < 0 || !e.affords({count}))
    return n.fail("it has too many elements");
  // From both ends, as PyTorch computes it.
  double step = count > 1 ? (end - begin) / double(count - 1) : 0;
  std::vector<double> values;
  for (int64_t i = 0; i != count; ++i)
    values.push_back(i < count / 2 ? begin + step * double(i)
                                   : end - step * double(count - 1 - i));
  if (count == 1)
    values[0] = begin;
  n.out(e.constant(
      Constant::fromDoubles({nativeType(n.outType()), {count}}, values)));
}

static void eye(Node &n) {
  Emitter &e = n.e;
  n.ignore("n");
  n.ignore("m");
  n.ignore("dtype");
  Shape shape = n.outShape();
  if (n.failed() || shape.size() != 2 || !e.affords(shape))
    return n.fail("it has too many elements");
  std::vector<double> values;
  for (int64_t row = 0; row != shape[0]; ++row)
    for (int64_t column = 0; column != shape[1]; ++column)
      values.push_back(row == column);
  n.out(e.constant(
      Constant::fromDoubles({nativeType(n.outType()), shape}, values)));
}

/// The part of matrices on one side of a diagonal.
template <bool Upper>
static void triangle(Node &n) {
  Item x = n.item("self");
  Val diagonal = n.e.scalar(DType::Int32, double(n.integer("diagonal")));
  n.out(OnnxNode(n, "Trilu")
            .in(n.e.native(x.val))
            .in(diagonal)
            .attr("upper", int64_t(Upper))
            .run());
}

static void oneHot(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t classes = n.integer("num_classes");
  if (n.failed() || classes < 1)
    return n.fail("`num_classes` must be given");
  if (!e.affords({classes}))
    return n.fail("it has too many classes");
  Shape list;
  for (int64_t i = 0; i != classes; ++i)
    list.push_back(i);
  Shape shape = x.shape();
  shape.push_back(1);
  Val isEqual = e.make(
      ops::Equal, {e.cast(e.reshape(x, shape), DType::Int32), e.list(list)});
  n.out(e.cast(isEqual, DType::Int32));
}

static constexpr OpRow creationTable[] = {
    {"aten.arange.default", range},
    {"aten.arange.start", range},
    {"aten.arange.start_step", range},
    {"aten.empty.memory_format", filledWith<0>, "as zeros"},
    {"aten.empty_like.default", filledWith<0>, "as zeros"},
    {"aten.empty_permuted.default", filledWith<0>, "as zeros"},
    {"aten.eye.default", eye},
    {"aten.eye.m", eye},
    {"aten.fill.Scalar", fill},
    {"aten.fill.Tensor", fill},
    {"aten.full.default", full},
    {"aten.full_like.default", full},
    {"aten.linspace.default", linspace},
    {"aten.new_empty.default", filledWith<0>, "as zeros"},
    {"aten.new_full.default", full},
    {"aten.new_ones.default", filledWith<1>},
    {"aten.new_zeros.default", filledWith<0>},
    {"aten.one_hot.default", oneHot, "`num_classes` must be given"},
    {"aten.ones.default", filledWith<1>},
    {"aten.ones_like.default", filledWith<1>},
    {"aten.scalar_tensor.default", scalarTensor},
    {"aten.tril.default", triangle<false>},
    {"aten.triu.default", triangle<true>},
    {"aten.zero.default", filledWith<0>},
    {"aten.zeros.default", filledWith<0>},
    {"aten.zeros_like.default", filledWith<0>},
};

llvm::ArrayRef<OpRow> torch::creationRows() { return creationTable; }
