//===- ForwardValues.cpp - forward values in a backward -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ForwardValues.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void ForwardValues::set(const Value *value, Number number, bool isForward) {
  numbers[value] = number;
  if (isForward)
    forwardValues.insert({number, const_cast<Value *>(value)});
}

ForwardValues::Number ForwardValues::numberOf(const Op &op, unsigned result) {
  std::vector<uint64_t> key = {uint64_t(reinterpret_cast<uintptr_t>(&op.def())),
                               result};
  for (const Value *operand : op.operandValues())
    key.push_back(operand ? numbers.lookup(operand) : ~uint64_t(0));
  std::vector<Expression> &same = expressions[key];
  for (const Expression &expression : same)
    if (equalConstants(expression.constants, op.constants()))
      return expression.number;
  same.push_back({op.constants().vec(), fresh()});
  return same.back().number;
}

void ForwardValues::numberOps(const Function &function, bool isForward) {
  for (const Op &op : function.body())
    for (const Value *result : op.resultValues())
      // An op with effects equals no other op.
      set(result,
          op.def().has(trait::SideEffect) ? fresh()
                                          : numberOf(op, result->index()),
          isForward);
}

ForwardValues::ForwardValues(const Function &both) {
  for (const auto &param : both.parameters())
    set(param.get(), fresh(), true);
  numberOps(both, true);
}

/// A loop-invariant parameter of a body equals the value outside of it.
void ForwardValues::numberParameters(const Op &repeat, const Function &body) {
  unsigned carried = repeat.get(param::carried);
  for (unsigned slot = carried; slot < repeat.numOperands(); ++slot) {
    auto [it, inserted] = outer.insert({repeat.operand(slot), 0});
    if (inserted)
      it->second = fresh();
    numbers[body.parameters()[slot + 1].get()] = it->second;
  }
  for (unsigned slot = 0; slot < carried; ++slot)
    numbers[body.parameters()[slot + 1].get()] = fresh();
}

ForwardValues::ForwardValues(const RepeatPair &pair, const Function &forward,
                             const Function &backward) {
  Number index = fresh();
  numberParameters(*pair.forward, forward);
  numbers[forward.parameters()[0].get()] = index;
  for (const auto &param : forward.parameters())
    set(param.get(), numbers.lookup(param.get()), true);
  numberOps(forward, true);

  numberParameters(*pair.backward, backward);
  numbers[backward.parameters()[0].get()] = index;
  unsigned carried = pair.forward->get(param::carried);
  for (unsigned slot = 0; slot < pair.backward->numOperands(); ++slot) {
    const Value *stack = pair.backward->operand(slot);
    if (stack->definingOp() == pair.forward && stack->index() >= carried)
      numbers[backward.parameters()[slot + 1].get()] =
          numbers.lookup(forward.result(stack->index()));
  }
  numberOps(backward, false);
}

Value *ForwardValues::find(const Value *backwardValue) const {
  auto it = numbers.find(backwardValue);
  return it == numbers.end() ? nullptr : forwardValues.lookup(it->second);
}
