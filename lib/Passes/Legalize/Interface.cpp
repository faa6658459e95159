//===- Interface.cpp - inputs and outputs for a target --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

///
/// \file
/// Changes visible to callers of a program: wider rows, other element types,
/// another order. Tensors keep their names.
///
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "anec/Target/Rule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace anec;
using namespace anec::legalize;

namespace {

class InterfaceRewriter {
public:
  InterfaceRewriter(Function &function, PassContext &ctx)
      : function(function), ctx(ctx) {}

  bool run() {
    for (const auto &param : function.parameters()) {
      if (param->holder != Holder::Tensor)
        continue;
      TensorType before = param->type;
      passIndices(*param);
      passHalf(*param);
      passVector(*param);
      padInput(*param);
      remarkFitted(param->name, *param, before);
    }
    for (unsigned i = 0; i < function.numResults(); ++i) {
      if (function.result(i)->holder != Holder::Tensor)
        continue;
      TensorType before = function.result(i)->type;
      returnHalf(i);
      returnVector(i);
      padOutput(i);
      remarkFitted(function.resultNames()[i], *function.result(i), before);
    }
    computeLast();
    order();
    return changed;
  }

private:
  bool holds(const Rule &rule) const { return !ctx.isRewrittenFor(rule); }
  void note() {
    changed = true;
    ctx.count("interface");
  }

  /// Reports a changed port, which callers have to handle.
  void remarkFitted(llvm::StringRef name, const Value &value,
                    const TensorType &before) {
    if (!(value.type == before))
      ctx.remark(value.range(), diag::PortFitted, name, value.type.str(),
                 before.str());
  }

  // Inputs: the parameter changes its type, and ops convert it to the old type.
  Builder atBegin() {
    Builder builder(function);
    if (!function.body().empty())
      builder.setInsertionPoint(&function.body().front());
    return builder;
  }
  void replaceInput(Value &param, TensorType type,
                    llvm::function_ref<Value *(Builder &, Value *)> restore);
  void passIndices(Value &param);
  void passHalf(Value &param);
  void passVector(Value &param);
  void padInput(Value &param);

  // Outputs: an additional op converts the result.
  void replaceOutput(unsigned index, const OpDef &def,
                     llvm::ArrayRef<Attr> attrs);
  void returnHalf(unsigned index);
  void returnVector(unsigned index);
  void padOutput(unsigned index);
  void computeLast();
  void order();

  Function &function;
  PassContext &ctx;
  bool changed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Changes the type of `param` to `type`; `restore` builds its old value from
/// the new one.
void InterfaceRewriter::replaceInput(
    Value &param, TensorType type,
    llvm::function_ref<Value *(Builder &, Value *)> restore) {
  // Users are moved to a temporary op, so that they are not confused with those
  // that `restore` adds.
  TensorType old = param.type;
  Op *standIn = Op::create(ops::Identity, {}, {}, {old}, {"stand_in"}, {});
  Value *whole = standIn->result();
  param.replaceAllUsesWith(whole);
  param.type = std::move(type);
  Builder builder = atBegin();
  builder.setRange(param.range());
  whole->replaceAllUsesWith(restore(builder, &param));
  delete standIn;
  note();
}

/// fp32 ==> fp16 and a cast
void InterfaceRewriter::passHalf(Value &param) {
  if (param.type.dtype != DType::FP32 || holds(rules::IoFp32))
    return;
  replaceInput(param, {DType::FP16, param.type.shape},
               [&](Builder &builder, Value *half) {
                 return builder.build(ops::Cast, {half},
                                      Attr(param::dtype, DType::FP32),
                                      param.name + "_fp32");
               });
}

void InterfaceRewriter::replaceOutput(unsigned index, const OpDef &def,
                                      llvm::ArrayRef<Attr> attrs) {
  Value *value = function.result(index);
  Builder builder(function);
  builder.setRange(value->range());
  function.setResult(
      index, builder.build(def, {value}, attrs, function.resultNames()[index]));
  note();
}

void InterfaceRewriter::returnHalf(unsigned index) {
  if (function.result(index)->type.dtype == DType::FP32 &&
      !holds(rules::IoFp32))
    replaceOutput(index, ops::Cast, Attr(param::dtype, DType::FP16));
}

/// Collects the ops that gather rows of a constant table by `indices` or by a
/// reshape of them. Returns false when `indices` has other uses or none.
static bool findGathers(const Value &indices,
                        llvm::SmallVectorImpl<Op *> &gathers) {
  for (Operand *use = indices.firstUse(); use; use = use->nextUse()) {
    Op *op = use->owner();
    if (op && op->is(ops::Reshape)) {
      if (!findGathers(*op->result(), gathers))
        return false;
      continue;
    }
    bool fits = op && op->is(ops::Gather) &&
                op->operand(param::indices) == &indices &&
                op->operand(param::x)->type.rank() == 2 &&
                op->operand(param::x)->type.dtype == DType::FP16 &&
                op->get(param::axis) == 0 && op->get(param::batchDims) == 0 &&
                indices.type.rank() == 1;
    if (!fits)
      return false;
    gathers.push_back(op);
  }
  return !gathers.empty();
}

/// Erases unused reshapes of `value`, whose declared type is no longer valid.
static void eraseDeadReshapes(Value &value) {
  llvm::SmallVector<Op *> users;
  for (Operand *use = value.firstUse(); use; use = use->nextUse())
    if (use->owner() && use->owner()->is(ops::Reshape))
      users.push_back(use->owner());
  for (Op *user : users) {
    eraseDeadReshapes(*user->result());
    if (!user->result()->hasUses())
      user->erase();
  }
}

/// gather of a table of at most 2048 rows by int32 ==> one-hot fp16 matrix @
/// table. The one-hot matrix compares row numbers with the fp16 index, which is
/// exact up to 2048.
void InterfaceRewriter::passIndices(Value &param) {
  constexpr int64_t exact = 2048;
  llvm::SmallVector<Op *> gathers;
  if (param.type.dtype != DType::Int32 || holds(rules::IoDType) ||
      !findGathers(param, gathers))
    return;
  for (Op *gather : gathers)
    if (gather->operand(param::x)->type.shape[0] > exact)
      return;
  param.type.dtype = DType::FP16;
  for (Op *gather : gathers) {
    Value *table = gather->operand(param::x);
    int64_t rows = table->type.shape[0], count = param.type.numElements();
    Builder builder(function);
    builder.setInsertionPoint(gather);
    std::vector<double> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), 0);
    Value *index =
        builder.build(ops::Reshape, {&param},
                      {{param::shape, llvm::ArrayRef<int64_t>{1, count}}},
                      param.name + "_row");
    Value *number = builder.build(
        ops::Const, {},
        Attr(param::val,
             Constant::fromDoubles({DType::FP16, {rows, 1}}, numbers)),
        param.name + "_numbers");
    Value *equal =
        builder.build(ops::Equal, {number, index}, {}, param.name + "_equal");
    Value *hot =
        builder.build(ops::Cast, {equal}, Attr(param::dtype, DType::FP16),
                      param.name + "_one_hot");
    Value *result =
        builder.build(ops::Matmul, {hot, table},
                      {{param::transposeX, true}, {param::transposeY, false}},
                      gather->result()->name);
    gather->result()->replaceAllUsesWith(result);
    gather->erase();
  }
  eraseDeadReshapes(param);
  note();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// [] ==> [1]
void InterfaceRewriter::passVector(Value &param) {
  if (!param.type.isScalar() || holds(rules::IoScalar))
    return;
  replaceInput(
      param, {param.type.dtype, {1}}, [&](Builder &builder, Value *vector) {
        return builder.build(ops::Squeeze, {vector},
                             {{param::axes, llvm::ArrayRef<int64_t>(0)}},
                             param.name + "_scalar");
      });
}

void InterfaceRewriter::returnVector(unsigned index) {
  if (function.result(index)->type.isScalar() && !holds(rules::IoScalar))
    replaceOutput(index, ops::ExpandDims,
                  {{param::axes, llvm::ArrayRef<int64_t>(0)}});
}

/// The last extent rounded up to the target's row alignment. Returns the extent
/// itself when the padded type would be too large, and 0 for scalars and
/// sub-byte types.
static int64_t paddedWidth(const TensorType &type, const Target &target) {
  if (type.isScalar() || bitWidth(type.dtype) < 8)
    return 0;
  uint64_t bytes = target.surface.rowAlignment;
  uint64_t elements = bytes * 8 / bitWidth(type.dtype);
  // On M3, inputs with rows of fewer than 32 elements give wrong results even
  // when the rows fill 64 bytes.
  constexpr uint64_t least = 32;
  Shape wide = type.shape;
  wide.back() = int64_t(
      llvm::alignTo(uint64_t(type.shape.back()), std::max(elements, least)));
  bool exists = wide.back() <= INT32_MAX && checkedNumElements(wide);
  return exists ? wide.back() : type.shape.back();
}

/// Makes slices of `unpadded`, itself a slice of `padded`, read `padded`
/// directly; erases the slice when it becomes unused.
static void sliceDirectly(Value &padded, Value &unpadded) {
  llvm::SmallVector<Op *> slices;
  for (Operand *use = unpadded.firstUse(); use; use = use->nextUse())
    if (use->owner() && use->owner()->is(ops::SliceBySize) &&
        !llvm::is_contained(use->owner()->get(param::size), -1))
      slices.push_back(use->owner());
  for (Op *slice : slices)
    slice->setOperand(0, &padded);
  if (!unpadded.hasUses())
    unpadded.definingOp()->erase();
}

/// [..., n] ==> [..., n rounded up] and a slice
void InterfaceRewriter::padInput(Value &param) {
  TensorType type = param.type;
  int64_t width = paddedWidth(type, ctx.target);
  if (holds(rules::IoRow64) || type.isScalar() || type.numElements() <= 1 ||
      width == type.shape.back() || !isFloat(type.dtype))
    return;
  TensorType wide = type;
  wide.shape.back() = width;
  Value *unpadded = nullptr;
  replaceInput(param, wide, [&](Builder &builder, Value *padded) {
    unpadded = builder.build(
        ops::SliceBySize, {padded},
        {{param::begin, Shape(type.rank(), 0)}, {param::size, type.shape}},
        param.name + "_unpadded");
    return unpadded;
  });
  sliceDirectly(param, *unpadded);
}

void InterfaceRewriter::padOutput(unsigned index) {
  const TensorType &type = function.result(index)->type;
  int64_t width = paddedWidth(type, ctx.target);
  if (holds(rules::IoRow64) || type.isScalar() || type.numElements() <= 1 ||
      width == type.shape.back() || !isFloat(type.dtype))
    return;
  replaceOutput(
      index, ops::Pad,
      {{param::pad, llvm::ArrayRef<int64_t>{0, width - type.shape.back()}},
       {param::padMode, PadMode::Constant},
       {param::constantVal, Constant::scalar(type.dtype, 0)}});
}

//===----------------------------------------------------------------------===//
// The program as a whole
//===----------------------------------------------------------------------===//

/// A program that only moves elements ==> the same program that also adds 0 to
/// them
void InterfaceRewriter::computeLast() {
  bool broken = false;
  for (const Rule *rule :
       {&rules::OnlyMovement, &rules::OnlyIdentity, &rules::ReshapedProduct})
    if (!holds(*rule))
      rule->ofFunction(function, ctx.target,
                       [&](SourceRange, std::string) { broken = true; });
  if (!broken)
    return;
  for (unsigned i = 0; i < function.numResults(); ++i) {
    Value *value = function.result(i);
    if (!isFloat(value->type.dtype) || value->holder != Holder::Tensor)
      continue;
    Builder builder(function);
    Value *zero = builder.build(
        ops::Const, {},
        Attr(param::val, Constant::scalar(value->type.dtype, 0)), "zero");
    function.setResult(i, builder.build(ops::Add, {value, zero}, {},
                                        function.resultNames()[i]));
    note();
  }
}

/// Sorts inputs and outputs by name
void InterfaceRewriter::order() {
  auto sorted = [](size_t count, auto name) {
    llvm::SmallVector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](unsigned lhs, unsigned rhs) {
      return name(lhs) < name(rhs);
    });
    return order;
  };
  if (!holds(rules::IoInputOrder)) {
    auto order = sorted(function.parameters().size(), [&](unsigned i) {
      return function.parameters()[i]->name;
    });
    if (!llvm::is_sorted(order)) {
      function.orderParameters(order);
      note();
    }
  }
  if (holds(rules::IoOutputOrder))
    return;
  auto order = sorted(function.numResults(), [&](unsigned i) {
    return function.resultNames()[i] + "@output";
  });
  if (llvm::is_sorted(order))
    return;
  llvm::SmallVector<Value *> values;
  std::vector<std::string> names;
  llvm::SmallVector<ValueRole> roles;
  for (unsigned i : order) {
    values.push_back(function.result(i));
    names.push_back(function.resultNames()[i]);
    roles.push_back(function.resultRoles()[i]);
  }
  function.setResults(
      values, llvm::SmallVector<llvm::StringRef>(names.begin(), names.end()),
      roles);
  note();
}

bool legalize::legalizeInterface(Function &function, PassContext &ctx) {
  return InterfaceRewriter(function, ctx).run();
}
