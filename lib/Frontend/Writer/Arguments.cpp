//===- Arguments.cpp - what functions share becomes arguments -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Literals.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Evaluate.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;
using namespace anec::frontend;

namespace {

class ArgumentMaker {
public:
  ArgumentMaker(Module &module, Function &entry)
      : module(module), entry(entry) {}

  ConstantWeights run();

private:
  void replace(Function &function, Op &op, Value *inEntry);
  Value *pass(Function &function, Value *inEntry, llvm::StringRef name);
  Value *weightInEntry(const Op &op);
  Value *constantInEntry(const Op &op);
  void addToCalls(Function &in, const Function &callee, Value *value);

  Module &module;
  Function &entry;
  NameSet names;
  llvm::StringMap<Value *> ofWeights;
  std::vector<std::pair<ConstantRef, Value *>> ofConstants;
  ConstantWeights made;
};

} // namespace

/// Replaces an op by one that takes another operand after its own.
static Op *withOperand(Op &op, Value *value) {
  llvm::SmallVector<Value *, 8> operands = op.operandValues();
  operands.push_back(value);
  Op *copy = copyOp(op, operands);
  op.parent()->insert(copy, &op);
  for (auto [old, now] :
       llvm::zip_equal(op.resultValues(), copy->resultValues()))
    old->replaceAllUsesWith(now);
  op.erase();
  return copy;
}

/// The parameter of `function` that gets `inEntry` from its callers.
Value *ArgumentMaker::pass(Function &function, Value *inEntry,
                           llvm::StringRef name) {
  if (&function == &entry)
    return inEntry;
  NameSet taken;
  for (const auto &parameter : function.parameters())
    taken.unique(parameter->name);
  Value *parameter = function.addParameter(inEntry->type, taken.unique(name));
  for (const auto &caller : module.functions)
    for (Op &op : llvm::make_early_inc_range(caller->body())) {
      bool calls = op.is(ops::Call) && op.get(param::callee) == function.name;
      bool repeats = op.is(ops::Repeat) && op.get(param::body) == function.name;
      if (calls || repeats)
        withOperand(op, pass(*caller, inEntry, name));
    }
  return parameter;
}

void ArgumentMaker::replace(Function &function, Op &op, Value *inEntry) {
  if (op.result() == inEntry)
    return;
  op.result()->replaceAllUsesWith(pass(function, inEntry, inEntry->name));
  op.erase();
}

/// Makes a constant of one that is unpacked: the language has no types of few
/// bits.
static void unpack(Op &op) {
  std::vector<RefTensor> operands(op.numOperands());
  llvm::SmallVector<const RefTensor *, 4> in(op.numOperands());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    const Op *def = op.operand(slot) ? op.operand(slot)->definingOp() : nullptr;
    if (!def)
      continue;
    operands[slot] = {def->result()->type,
                      def->constant(param::val)->asDoubles()};
    in[slot] = &operands[slot];
  }
  RefTensor result = std::move(evaluateRounded(op, in).front());
  Builder builder(*op.parent());
  builder.setInsertionPoint(&op);
  Value *constant = builder.build(
      ops::Const, {},
      Attr(param::val, Constant::fromDoubles(result.type, result.data)),
      op.result()->name);
  op.result()->replaceAllUsesWith(constant);
  op.erase();
}

/// Skips a `reshape` of another, and removes what is not used then.
static void mergeReshapes(Function &function) {
  for (Op &op : function.body())
    if (op.is(ops::Reshape))
      while (const Op *before = op.operand(0u)->definingOp()) {
        if (!before->is(ops::Reshape))
          break;
        op.setOperand(0, before->operand(0u));
      }
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(function.body())))
    if ((op.is(ops::Reshape) || op.is(ops::Const)) && !op.result()->hasUses())
      op.erase();
}

Value *ArgumentMaker::weightInEntry(const Op &op) {
  Value *&value = ofWeights[op.get(param::name)];
  if (!value) {
    Op *copy = copyOp(op, {nullptr});
    entry.insert(copy, entry.body().empty() ? nullptr : &entry.body().front());
    value = copy->result();
  }
  return value;
}

/// A frozen weight with the elements of a constant; one for equal constants.
Value *ArgumentMaker::constantInEntry(const Op &op) {
  ConstantRef constant(op.constant(param::val));
  for (const auto &[other, value] : ofConstants)
    if (other->equals(*constant))
      return value;
  TensorType type = constant->type();
  std::string name =
      names.unique(sanitizeName(op.result()->name, "constant")).str();
  bool isNumber = isFloat(type.dtype);
  DType stored = isNumber ? type.dtype : DType::FP32;
  Builder builder(entry);
  builder.setInsertionPoint(&entry.body().front());
  Value *value = builder.build(ops::Weight, {},
                               {{param::name, Constant::string(name)},
                                {param::dtype, stored},
                                {param::shape, Constant::int32s(type.shape)},
                                {param::frozen, true}},
                               name);
  made.push_back({name, isNumber
                            ? constant
                            : Constant::fromDoubles({stored, type.shape},
                                                    constant->asDoubles())});
  if (!isNumber)
    value =
        builder.build(ops::Cast, {value}, {{param::dtype, type.dtype}}, name);
  ofConstants.push_back({std::move(constant), value});
  return value;
}

ConstantWeights ArgumentMaker::run() {
  for (const auto &function : module.functions)
    for (Op &op : llvm::make_early_inc_range(function->body()))
      if (op.def().has(trait::Constexpr))
        unpack(op);
  for (const auto &function : module.functions)
    mergeReshapes(*function);
  for (const auto &function : module.functions)
    giveExtents(*function);
  llvm::StringMap<unsigned> owners;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Weight)) {
        owners[op.get(param::name)] += 1;
        for (const std::string &array : arraysOf(op.get(param::name)))
          names.unique(array);
      }
  for (const auto &function : module.functions)
    for (Op &op : llvm::make_early_inc_range(function->body())) {
      if (op.is(ops::Weight) && owners.lookup(op.get(param::name)) > 1)
        replace(*function, op, weightInEntry(op));
      else if (op.is(ops::Const) &&
               !constantExpression(*op.constant(param::val)))
        replace(*function, op, constantInEntry(op));
    }
  return std::move(made);
}

ConstantWeights anec::frontend::makeArguments(Module &module, Function &entry) {
  return ArgumentMaker(module, entry).run();
}
