//===- OpTableTest.cpp - every row of the op table ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What holds for all rows: they are complete, and on random operands and
/// constants, hostile ones included, `infer` either reports an error or accepts
/// what `eval`, `flops` and `decompose` can handle. Worth most when sanitized.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Sort.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace anec;

TEST(OpTable, IsSortedAndFindsEveryRow) {
  llvm::ArrayRef<const OpDef *> rows = opTable().all();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(opTable().find(rows[i]->name), rows[i]);
    if (i)
      EXPECT_LT(rows[i - 1]->name, rows[i]->name);
  }
  EXPECT_EQ(opTable().find("no_such_op"), nullptr);
  EXPECT_EQ(opTable().suggest("matmull"), "matmul");
}

TEST(OpTable, RowsAreComplete) {
  for (const OpDef *def : opTable().all()) {
    std::string name = def->name.str();
    EXPECT_TRUE(def->infer) << name;
    EXPECT_TRUE(def->summary.ends_with(".")) << name;
    EXPECT_FALSE(def->family.empty()) << name;
    EXPECT_FALSE(def->has(trait::Mil) && def->decompose) << name;
    EXPECT_TRUE(!def->has(trait::Mil) || def->eval) << name;
    std::set<std::string> names;
    for (const ParamDef &param : def->parameters()) {
      // One that may be computed is a constant and a value.
      std::string kind = param.isConstant() ? "constant " : "value ";
      EXPECT_TRUE(names.insert(kind + param.name.str()).second) << name;
      EXPECT_FALSE(param.dtypes == DTypeSet()) << name << " " << names.size();
    }
  }
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static bool isBool(DType dtype) { return dtype == DType::Bool; }
static bool isString(DType dtype) { return dtype == DType::String; }
/// What a FloatParam can be read from; a bool is 0 or 1.
static bool isNumber(DType dtype) { return dtype != DType::String; }

/// Whether `param` is a constant that its handle can read: of elements that are
/// all `ofType`, and, where a scalar is read, a scalar.
template <typename Param>
static bool fitsConstant(const ParamDef &param, bool (*ofType)(DType)) {
  if (!param.isConstant() || (Param::rank == 0) != (param.rank == 0))
    return false;
  for (unsigned dtype = 0; dtype < numDTypes; ++dtype)
    if (param.dtypes.contains(DType(dtype)) && !ofType(DType(dtype)))
      return false;
  return true;
}

static bool fitsHandle(const ParamDef &param) {
  switch (typeOf(param.name.id)) {
  case ParamType::Value:
    return !param.isConstant();
  case ParamType::Any:
    return param.isConstant();
  case ParamType::Bool:
    return fitsConstant<BoolParam>(param, isBool);
  case ParamType::Bools:
    return fitsConstant<BoolsParam>(param, isBool);
  case ParamType::Int:
    return fitsConstant<IntParam>(param, isInteger);
  case ParamType::Ints:
    return fitsConstant<IntsParam>(param, isInteger);
  case ParamType::Float:
    return fitsConstant<FloatParam>(param, isNumber);
  case ParamType::String:
    return fitsConstant<StringParam>(param, isString);
  case ParamType::Strings:
    return fitsConstant<StringsParam>(param, isString);
  }
  return false;
}

TEST(OpTable, HandlesHaveTheTypesOfRows) {
  for (const OpDef *def : opTable().all())
    for (const ParamDef &param : def->parameters())
      EXPECT_TRUE(fitsHandle(param))
          << def->name.str() << " " << param.name.str();
}

/// Handles are compared by a hash of their names.
TEST(OpTable, NamesHaveDifferentHashes) {
  std::map<ParamId, llvm::StringRef> names;
  for (const OpDef *def : opTable().all())
    for (const ParamDef &param : def->parameters())
      EXPECT_EQ(names.try_emplace(param.name.id, param.name).first->second,
                param.name)
          << def->name.str();
}

TEST(OpTable, SlotsAreFoundByHandleAndByText) {
  // `begin` is a constant and an operand.
  EXPECT_EQ(ops::SliceBySize.constantSlot(param::begin),
            ops::SliceBySize.findConstantParam("begin"));
  EXPECT_EQ(ops::SliceBySize.valueSlot(param::beginValue),
            ops::SliceBySize.findValueParam("begin"));
  EXPECT_EQ(ops::SliceBySize.valueSlot(param::x), 0);
  EXPECT_EQ(ops::SliceBySize.valueSlot(param::begin), -1);
  EXPECT_EQ(ops::SliceBySize.constantSlot(param::beginValue), -1);
  EXPECT_EQ(ops::SliceBySize.constantSlot(param::perm), -1);
  // As text, the k of three ops is one; as a handle, it is three.
  EXPECT_EQ(ops::Topk.findConstantParam("k"),
            ops::Topk.constantSlot(param::topK));
  EXPECT_EQ(ops::Topk.constantSlot(param::responseK), -1);
  EXPECT_EQ(ops::Topk.findConstantParam(""), -1);
}

//===----------------------------------------------------------------------===//
// Random ops
//===----------------------------------------------------------------------===//

namespace {

/// Draws operands and constants for a row: mostly of one small shape, so that
/// many are accepted, and sometimes with values no program should have.
class RandomOp {
public:
  RandomOp(const OpDef &def, unsigned seed) : def(def), generator(seed) {
    for (unsigned rank = below(5); rank > 0; --rank)
      base.push_back(1 + below(4));
    dtype = oneOf<DType>({DType::FP32, DType::FP16, DType::Int32, DType::Bool});
    hostile = below(3) == 0;
  }

  /// Null when the row rejects it.
  Op *build(Function &function, Diagnostics &diags) {
    llvm::SmallVector<Value *, 4> operands;
    llvm::SmallVector<ConstantRef, 8> constants;
    for (const ParamDef &param : def.parameters()) {
      if (param.isConstant())
        continue;
      unsigned count = param.kind == ParamKind::Variadic ? 1 + below(3) : 1;
      for (unsigned i = 0; i < count; ++i)
        operands.push_back(
            param.kind == ParamKind::OptionalValue && below(2)
                ? nullptr
                : function.addParameter({pick(param.dtypes), shape()}, "x"));
    }
    for (const ParamDef &param : def.parameters())
      if (param.isConstant())
        constants.push_back(constant(param, operands));
    return Builder(function, &diags)
        .createWithSlots(def, operands, constants, {});
  }

private:
  unsigned below(unsigned count) { return generator() % count; }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  DType pick(DTypeSet dtypes) {
    if (dtypes.contains(dtype))
      return dtype;
    unsigned first = 0;
    while (!dtypes.contains(DType(first)))
      ++first;
    return DType(first);
  }

  Shape shape() {
    Shape result = base;
    if (!result.empty() && below(3) == 0) {
      unsigned axis = below(result.size());
      switch (below(4)) {
      case 0:
        result[axis] = 1;
        break;
      case 1:
        result.erase(result.begin() + axis);
        break;
      case 2:
        result = {result[axis]};
        break;
      case 3:
        if (hostile)
          result[axis] = oneOf<int64_t>({0, INT32_MAX, INT64_C(1) << 40});
        break;
      }
    }
    return checkedNumElements(result) ? result : base;
  }

  int64_t integer() {
    if (hostile && below(3) == 0)
      return oneOf<int64_t>({INT32_MIN, INT32_MAX, -1, 0, 65536});
    return int64_t(below(7)) - 2;
  }

  ConstantRef constant(const ParamDef &param,
                       llvm::ArrayRef<Value *> operands) {
    bool optional =
        param.kind == ParamKind::OptionalConstant || !param.fallback.empty();
    if (optional && below(2))
      return nullptr;
    if (param.dtypes == DTypeSet{DType::String})
      return Constant::string(oneOf<const char *>(
          {"constant", "reflect", "replicate", "valid", "custom", "same",
           "EXACT", "fp16", "fp32", "int32", "bool", "interleaved",
           "half_split", "nonsense"}));
    if (param.rank == 1) {
      Shape list;
      unsigned length = below(2) ? base.size() : below(6);
      bool ascending = below(3) == 0; // a permutation, or all axes
      for (unsigned i = 0; i < length; ++i)
        list.push_back(ascending ? i : integer());
      std::vector<double> elements(list.begin(), list.end());
      return Constant::fromDoubles(
          {param.dtypes.contains(DType::Bool) ? DType::Bool : DType::Int32,
           int64_t(length)},
          elements);
    }
    DType type = literalDType(def, param, operands);
    double number = hostile && isFloat(type)
                        ? oneOf<double>({NAN, INFINITY, -1, 1e30})
                        : double(integer());
    return Constant::scalar(type, number);
  }

  const OpDef &def;
  std::mt19937 generator;
  Shape base;
  DType dtype;
  bool hostile;
};

} // namespace

/// Ops whose operands' shapes depend on each other are mostly rejected here;
/// test/Ops runs them.
TEST(OpTable, RandomOpsAreRejectedOrRun) {
  constexpr unsigned tries = 300;
  for (const OpDef *def : opTable().all()) {
    if (!def->eval) // weights have no values, calls no function here
      continue;
    for (unsigned seed = 0; seed < tries; ++seed) {
      Module module;
      Diagnostics diags;
      Function &function = *module.addFunction(FunctionKind::Kernel, "f");
      Op *op = RandomOp(*def, seed).build(function, diags);
      EXPECT_EQ(op == nullptr, diags.hasErrors()) << def->name.str();
      if (!op)
        continue;
      if (def->flops)
        EXPECT_GE(def->flops(*op), 0) << def->name.str();
      int64_t largest = 0;
      std::vector<RefTensor> inputs, outputs;
      for (const auto &param : function.parameters())
        largest = std::max(largest, param->type.numElements());
      for (const Value *result : op->resultValues())
        largest = std::max(largest, result->type.numElements());
      if (largest > 10000)
        continue;
      for (const auto &param : function.parameters())
        inputs.push_back(randomTensor(param->type, seed));
      function.setResults(op->result());
      EXPECT_TRUE(interpret(function, inputs, outputs, diags));
      EXPECT_EQ(int64_t(outputs[0].data.size()),
                op->result()->type.numElements());
    }
  }
}
