//===- ExposeMasks.cpp - random masks as parameters -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine draws no numbers: in models that are trained, `dropout` and
/// `random_mask` become parameters of the role `random-mask`, which the host
/// draws for every run. A function that calls one with such parameters gets
/// them too, up to the model, so that the forward and the backward of a step
/// have the same masks. Each call has masks of its own, and a `repeat` has a
/// stack of them, a slice for each iteration.
///
//===----------------------------------------------------------------------===//

#include "StopGradients.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Fill.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;

namespace {

class MaskExposer {
public:
  MaskExposer(Module &module, PassContext &ctx) : module(module), ctx(ctx) {}

  /// Makes the masks of `function`, and of those that it applies, parameters.
  /// Returns the indices of these parameters.
  llvm::ArrayRef<unsigned> expose(Function &function);

private:
  Value *addMask(Function &function, llvm::StringRef name, TensorType type,
                 RandomMask mask, SourceRange range);
  void replaceRandomMask(Op &op);
  void replaceDropout(Op &op);
  void passMasks(Op &op, Function &callee);

  Module &module;
  PassContext &ctx;
  /// The parameters that were added, by the name of the function.
  llvm::StringMap<llvm::SmallVector<unsigned, 2>> exposed;
};

} // namespace

Value *MaskExposer::addMask(Function &function, llvm::StringRef name,
                            TensorType type, RandomMask mask,
                            SourceRange range) {
  NameSet names;
  for (const auto &param : function.parameters())
    names.unique(param->name);
  Value *param = function.addParameter(std::move(type), names.unique(name),
                                       ValueRole::RandomMask);
  param->mask = mask;
  param->declared = range;
  exposed[function.name].push_back(param->index());
  return param;
}

void MaskExposer::replaceRandomMask(Op &op) {
  Value *result = op.result();
  llvm::StringRef name = op.def().name;
  if (!result->name.empty())
    name = result->name;
  Value *mask =
      addMask(*op.parent(), name, result->type,
              {float(op.get(param::keep)), /*scaled=*/false}, op.range());
  result->replaceAllUsesWith(mask);
  op.erase();
  ctx.count("masks");
}

/// `dropout(x)` is x times a mask whose mean is 1.
void MaskExposer::replaceDropout(Op &op) {
  Value *x = op.operand(param::x), *result = op.result();
  RandomMask mask{float(1 - op.get(param::rate)), /*scaled=*/true};
  Value *dropped = x;
  if (mask.keep < 1) {
    Builder builder(*op.parent());
    builder.setInsertionPoint(&op);
    builder.setRange(op.range());
    Value *param =
        addMask(*op.parent(), op.def().name, x->type, mask, op.range());
    dropped = builder.build(ops::Mul, {x, param});
    dropped->name = result->name;
    ctx.count("masks");
  }
  result->replaceAllUsesWith(dropped);
  op.erase();
}

/// Passes the masks of `callee`, which `op` calls or repeats.
void MaskExposer::passMasks(Op &op, Function &callee) {
  llvm::SmallVector<unsigned, 2> added(expose(callee));
  if (added.empty())
    return;
  Function &caller = *op.parent();
  bool repeats = op.is(ops::Repeat);
  llvm::SmallVector<Value *, 8> operands = op.operandValues();
  for (unsigned index : added) {
    const Value &param = *callee.parameters()[index];
    TensorType type = param.type;
    std::string name = param.name;
    if (repeats)
      type.shape.insert(type.shape.begin(),
                        op.get(param::to) - op.get(param::from));
    else
      name = callee.name + "." + name;
    operands.push_back(
        addMask(caller, name, type, *param.mask, param.declared));
  }
  llvm::SmallVector<ConstantRef, 8> constants(op.constants());
  if (repeats)
    constants[op.def().constantSlot(param::sliced)] =
        Constant::int32(op.get(param::sliced) + int64_t(added.size()));
  std::vector<std::string> names;
  for (const Value *result : op.resultValues())
    names.push_back(result->name);
  llvm::SmallVector<llvm::StringRef, 4> views(names.begin(), names.end());
  Builder builder(caller);
  builder.setInsertionPoint(&op);
  builder.setRange(op.range());
  Op *now = builder.createWithSlots(op.def(), operands, constants, views);
  for (auto [before, after] :
       llvm::zip_equal(op.resultValues(), now->resultValues()))
    before->replaceAllUsesWith(after);
  op.erase();
}

llvm::ArrayRef<unsigned> MaskExposer::expose(Function &function) {
  if (!exposed.try_emplace(function.name).second)
    return exposed[function.name];
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (op.is(ops::RandomMask))
      replaceRandomMask(op);
    else if (op.is(ops::Dropout))
      replaceDropout(op);
    else if (op.def().has(trait::Call))
      passMasks(op, *module.findFunction(op.get(param::callee)));
    else if (op.is(ops::Repeat))
      passMasks(op, *module.findFunction(op.get(param::body)));
  }
  return exposed[function.name];
}

static bool exposeMasks(Module &module, PassContext &ctx) {
  bool trains = llvm::any_of(module.functions, [](const auto &function) {
    return function->isEntry() && function->role == FunctionRole::Forward &&
           function->resultOf(ValueRole::Loss);
  });
  MaskExposer exposer(module, ctx);
  bool changed = false;
  for (const auto &function : module.functions)
    if (trains && function->isEntry())
      changed |= !exposer.expose(*function).empty();
  removeDropouts(module);
  return changed;
}

constinit const PassDef passes::ExposeMasks = {
    .name = "expose-masks",
    .summary = "Make dropout and random masks parameters that the host draws",
    .description =
        "%y = dropout(%x) {rate = 0.1}\n"
        "  ==>  layer @f(%x, %dropout {role = random-mask, keep = 0.9, "
        "scaled = true})  %y = mul(%x, %dropout)",
    .stats = {{{"masks", "masks drawn by the host"}}},
    .tolerance = 0,
    .runOnModule = exposeMasks,
};
