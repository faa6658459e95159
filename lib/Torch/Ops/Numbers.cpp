//===- Numbers.cpp - numbers of the graph, and what is asserted -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::torch;

/// What is asserted about shapes and types was true in the export, and is
/// checked by the reader itself.
static void drop(Node &n) {
  for (size_t i = 0; i != n.numArguments(); ++i)
    n.argumentAt(i);
}

static void giveNumber(Node &n, Val value, ScalarType type) {
  Item item;
  item.val = value;
  item.type = type;
  item.isNumber = true;
  if (n.numOutputs() == 1 && !n.failed())
    n.outItem(0, item);
}

static void sizeOf(Node &n) {
  Item x = n.item("self");
  int64_t rank = x.val.rank() - isComplex(x.type), axis = n.axis("dim", rank);
  if (!n.failed() && rank > 0)
    giveNumber(n, n.e.scalar(DType::Int32, double(x.val.dim(axis))),
               ScalarType::Int64);
}

static void numElements(Node &n) {
  giveNumber(n, n.e.scalar(DType::Int32, double(n.item("self").val.size())),
             ScalarType::Int64);
}

/// The only element of a tensor.
static void elementOf(Node &n) {
  Item x = n.item("self");
  giveNumber(n, n.e.reshape(x.val, {}), x.type);
}

template <const OpDef &Def>
static void compareNumbers(Node &n) {
  Item x = n.itemOf(n.argumentAt(0)), y = n.itemOf(n.argumentAt(1));
  ScalarType type = promote({x, y});
  Val left = n.cast(x, type), right = n.cast(y, type);
  DType wide = Emitter::wideOf(left);
  giveNumber(n, n.e.make(Def, {n.e.cast(left, wide), n.e.cast(right, wide)}),
             ScalarType::Bool);
}

template <const OpDef &Def>
static void compute(Node &n) {
  Item x = n.itemOf(n.argumentAt(0)), y = n.itemOf(n.argumentAt(1));
  ScalarType type = promote({x, y});
  giveNumber(n, n.e.binary(Def, n.cast(x, type), n.cast(y, type)), type);
}

static void divideNumbers(Node &n) {
  Item x = n.itemOf(n.argumentAt(0)), y = n.itemOf(n.argumentAt(1));
  giveNumber(
      n,
      n.e.div(n.cast(x, ScalarType::Float32), n.cast(y, ScalarType::Float32)),
      ScalarType::Float32);
}

/// The integer towards 0.
static void truncateNumber(Node &n) {
  Item x = n.itemOf(n.argumentAt(0));
  giveNumber(n, n.cast(x, ScalarType::Int64), ScalarType::Int64);
}

static void toFloat(Node &n) {
  Item x = n.itemOf(n.argumentAt(0));
  giveNumber(n, n.cast(x, ScalarType::Float32), ScalarType::Float32);
}

static void negateNumber(Node &n) {
  Item x = n.itemOf(n.argumentAt(0));
  giveNumber(n, n.e.mul(x.val, -1), x.type);
}

static void chooseNumber(Node &n) {
  Item condition = n.itemOf(n.argumentAt(0)), yes = n.itemOf(n.argumentAt(1)),
       no = n.itemOf(n.argumentAt(2));
  ScalarType type = promote({yes, no});
  giveNumber(n,
             n.e.select(n.cast(condition, ScalarType::Bool), n.cast(yes, type),
                        n.cast(no, type)),
             type);
}

static constexpr OpRow numberTable[] = {
    {"_operator.add", compute<ops::Add>},
    {"_operator.eq", compareNumbers<ops::Equal>},
    {"_operator.floordiv", compute<ops::FloorDiv>},
    {"_operator.ge", compareNumbers<ops::GreaterEqual>},
    {"_operator.gt", compareNumbers<ops::Greater>},
    {"_operator.le", compareNumbers<ops::LessEqual>},
    {"_operator.lt", compareNumbers<ops::Less>},
    {"_operator.mod", compute<ops::Mod>},
    {"_operator.mul", compute<ops::Mul>},
    {"_operator.ne", compareNumbers<ops::NotEqual>},
    {"_operator.neg", negateNumber},
    {"_operator.sub", compute<ops::Sub>},
    {"_operator.truediv", divideNumbers},
    {"aten._assert_async.msg", drop},
    {"aten._assert_scalar.default", drop},
    {"aten._assert_tensor_metadata.default", drop},
    {"aten._local_scalar_dense.default", elementOf},
    {"aten.item.default", elementOf},
    {"aten.sym_constrain_range.default", drop},
    {"aten.sym_constrain_range_for_size.default", drop},
    {"aten.sym_numel.default", numElements},
    {"aten.sym_size.int", sizeOf, "", true},
    {"math.trunc", truncateNumber},
    {"torch.sym_float", toFloat},
    {"torch.sym_int", truncateNumber},
    {"torch.sym_ite", chooseNumber},
    {"torch.sym_max", compute<ops::Maximum>},
    {"torch.sym_min", compute<ops::Minimum>},
};

llvm::ArrayRef<OpRow> torch::numberRows() { return numberTable; }
