//===- RepeatInterface.cpp - operands and results of repeats --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RepeatInterface.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

std::vector<RepeatPair> anec::repeatPairs(Function &host) {
  std::vector<RepeatPair> pairs;
  for (Op &op : host.body()) {
    if (!op.is(ops::Repeat))
      continue;
    unsigned first = op.numOperands() - unsigned(op.get(param::sliced));
    for (unsigned slot = first; slot < op.numOperands(); ++slot)
      if (Op *def = op.operand(slot)->definingOp();
          def && def->is(ops::Repeat)) {
        pairs.push_back({def, &op});
        break;
      }
  }
  return pairs;
}

static TensorType stackOf(const TensorType &type, const Op &repeat) {
  TensorType stack = type;
  stack.shape.insert(stack.shape.begin(),
                     repeat.get(param::to) - repeat.get(param::from));
  return stack;
}

/// Rebuilds `repeat` with these operands, of which `sliced` are slices, with
/// the results selected by `keep`, and with one additional collected result for
/// each of `added`.
static Op *rebuild(Op &repeat, llvm::ArrayRef<Value *> operands, int64_t sliced,
                   llvm::function_ref<bool(unsigned result)> keep,
                   llvm::ArrayRef<const Value *> added = {}) {
  int64_t carried = repeat.get(param::carried);
  std::vector<std::string> collected;
  if (const Constant *old = repeat.constant(param::collected))
    for (auto [index, type] : llvm::enumerate(old->asStrings()))
      if (keep(carried + index))
        collected.push_back(type);
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (unsigned index = 0; index < repeat.numResults(); ++index)
    if (keep(index)) {
      types.push_back(repeat.result(index)->type);
      names.push_back(repeat.result(index)->name);
    }
  for (const Value *value : added) {
    collected.push_back(value->type.str());
    types.push_back(stackOf(value->type, repeat));
    names.push_back(value->name);
  }
  Op *made = Op::create(ops::Repeat, operands, repeat.constants(), types, names,
                        repeat.range());
  made->setConstant(param::sliced, Constant::int32(sliced));
  TensorType list(DType::String, {int64_t(collected.size())});
  made->setConstant(param::collected,
                    collected.empty()
                        ? nullptr
                        : Constant::strings(list, std::move(collected)));
  repeat.parent()->insert(made, &repeat);
  unsigned next = 0;
  for (unsigned index = 0; index < repeat.numResults(); ++index)
    if (keep(index))
      repeat.result(index)->replaceAllUsesWith(made->result(next++));
  repeat.erase();
  return made;
}

static void setBodyResults(Function &body, llvm::ArrayRef<Value *> values,
                           llvm::ArrayRef<std::string> names,
                           llvm::ArrayRef<ValueRole> roles) {
  llvm::SmallVector<llvm::StringRef, 4> refs(names.begin(), names.end());
  body.setResults(values, refs, roles);
}

Value *anec::addCollected(Op *&repeat, Function &body, Value *value) {
  llvm::SmallVector<Value *, 4> results = body.resultValues();
  std::vector<std::string> names = body.resultNames().vec();
  results.push_back(value);
  NameSet taken;
  for (llvm::StringRef name : names)
    taken.unique(name);
  names.push_back(taken.unique(displayName(*value)).str());
  llvm::SmallVector<ValueRole, 4> roles(body.resultRoles());
  roles.push_back(ValueRole::Tap);
  setBodyResults(body, results, names, roles);
  repeat = rebuild(*repeat, repeat->operandValues(), repeat->get(param::sliced),
                   [](unsigned) { return true; }, {value});
  return repeat->result(repeat->numResults() - 1);
}

Value *anec::addSliced(Op *&repeat, Function &body, Value *stack,
                       const Value &like) {
  TensorType type = stack->type;
  type.shape.erase(type.shape.begin());
  NameSet taken;
  for (const auto &param : body.parameters())
    taken.unique(param->name);
  Value *param =
      body.addParameter(type, taken.unique(displayName(like)), ValueRole::Tap);
  llvm::SmallVector<Value *, 8> operands(repeat->operandValues());
  operands.push_back(stack);
  repeat = rebuild(*repeat, operands, repeat->get(param::sliced) + 1,
                   [](unsigned) { return true; });
  return param;
}

Op *anec::pruneRepeat(Op &repeat, Function &body) {
  unsigned carried = repeat.get(param::carried);
  auto isUsed = [&](unsigned result) {
    return result < carried || repeat.result(result)->hasUses();
  };
  bool changed = false;
  llvm::SmallVector<Value *, 4> results;
  std::vector<std::string> names;
  llvm::SmallVector<ValueRole, 4> roles;
  for (unsigned index = 0; index < body.numResults(); ++index) {
    changed |= !isUsed(index);
    if (!isUsed(index))
      continue;
    results.push_back(body.result(index));
    names.push_back(body.resultNames()[index]);
    roles.push_back(body.resultRoles()[index]);
  }
  if (changed)
    setBodyResults(body, results, names, roles);

  unsigned firstSliced = repeat.numOperands() - repeat.get(param::sliced);
  llvm::SmallVector<Value *, 8> operands;
  int64_t sliced = 0;
  llvm::SmallVector<unsigned, 4> unused;
  for (unsigned slot = 0; slot < repeat.numOperands(); ++slot) {
    if (slot >= carried && !body.parameters()[slot + 1]->hasUses()) {
      unused.push_back(slot + 1);
      continue;
    }
    operands.push_back(repeat.operand(slot));
    sliced += slot >= firstSliced;
  }
  for (unsigned index : llvm::reverse(unused))
    body.eraseParameter(index);
  if (!changed && unused.empty())
    return nullptr;
  return rebuild(repeat, operands, sliced, isUsed);
}
