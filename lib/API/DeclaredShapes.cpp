//===- DeclaredShapes.cpp - shapes as a source declares them --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/DeclaredShapes.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;

DeclaredShapes::DeclaredShapes(const Function &function) {
  for (const auto &param : function.parameters())
    if (param->holder == Holder::Tensor)
      inputs.push_back({param->name, param->type.shape});
  for (unsigned i = 0; i < function.numResults(); ++i)
    if (function.result(i)->holder == Holder::Tensor)
      results.push_back(
          {function.resultNames()[i], function.result(i)->type.shape});
}

/// Whether a value of `type` can be reshaped to `shape`, and is not of it.
static bool differs(const TensorType &type, const Shape &shape) {
  return type.shape != shape &&
         type.numElements() == TensorType(type.dtype, shape).numElements();
}

static void restoreInput(Function &function, Value &param, const Shape &shape) {
  TensorType inside = param.type;
  // Users move to a stand-in, so that the reshape does not become its own.
  Op *standIn = Op::create(ops::Identity, {}, {}, {inside}, {"stand_in"}, {});
  param.replaceAllUsesWith(standIn->result());
  param.type.shape = shape;
  Builder builder(function);
  builder.setInsertionPoint(function.body().empty() ? nullptr
                                                    : &function.body().front());
  builder.setRange(param.range());
  Value *laidOut =
      builder.build(ops::Reshape, {&param}, Attr(param::shape, inside.shape),
                    param.name + "_reshaped");
  standIn->result()->replaceAllUsesWith(laidOut);
  delete standIn;
  // A reshape of a reshape is one, or none.
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!op.is(ops::Reshape) || op.operand(0u) != laidOut)
      continue;
    op.setOperand(0, &param);
    if (op.result()->type != param.type)
      continue;
    op.result()->replaceAllUsesWith(&param);
    op.erase();
  }
  if (!laidOut->hasUses())
    laidOut->definingOp()->erase();
}

static void restoreResult(Function &function, unsigned index,
                          const Shape &shape) {
  Value *laidOut = function.result(index);
  Op *last = laidOut->definingOp();
  Value *source = last && last->is(ops::Reshape) ? last->operand(0u) : laidOut;
  Builder builder(function);
  builder.setRange(laidOut->range());
  std::string name = function.resultNames()[index];
  // The result has the name. A parameter, or what is another result too, cannot
  // be one itself.
  bool isOwn = source->definingOp() && source->type.shape == shape &&
               llvm::count(function.resultValues(), source) == 0;
  if (!isOwn) {
    if (source->name == name)
      source->name += "_array";
    source =
        builder.build(ops::Reshape, {source}, Attr(param::shape, shape), name);
  }
  function.setResult(index, source);
  source->name = name;
  if (last && !laidOut->hasUses())
    last->erase();
}

void DeclaredShapes::restore(Function &function) const {
  for (const Port &port : inputs)
    for (const auto &param : function.parameters())
      if (param->name == port.name && param->holder == Holder::Tensor &&
          differs(param->type, port.shape))
        restoreInput(function, *param, port.shape);
  for (const Port &port : results)
    for (unsigned i = 0; i < function.numResults(); ++i)
      if (function.resultNames()[i] == port.name &&
          differs(function.result(i)->type, port.shape))
        restoreResult(function, i, port.shape);
}
