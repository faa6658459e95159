//===- DemandedValues.cpp - values that shapes depend on ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Small values that depend only on constants and extents are computed as they
/// are bound. Others are computed here, when a shape depends on them: large
/// ones, and those of inputs whose numbers are at hand, as for `ane-run`, which
/// runs the program on these numbers.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/ParamNames.h"
#include "lib/IR/ParametersOf.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Evaluate.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// Of a value: the reference takes 8 bytes for each element.
static constexpr int64_t mostElements = int64_t(1) << 25;

/// The numbers of a parameter that are at hand; null when they are not.
ConstantRef FunctionBinder::atHand(const Value &parameter) const {
  // Variables of loops are parameters, too, while their blocks are built.
  bool isInput = any_of(flexible, [&](const FlexibleParameter &input) {
    return input.value == &parameter;
  });
  if (!isInput || parameter.holder != Holder::Tensor)
    return nullptr;
  return requested.findAtHand(parameter.name, parameter.type);
}

namespace {
using KnownValues = DenseMap<const Value *, ConstantRef>;

/// What a value is computed from, as far as it is not known.
struct Sources {
  DenseSet<const Op *> ops; ///< except constants
  SetVector<const Value *> parameters;

  Sources(const Value *value, const KnownValues &known) {
    SmallVector<const Value *, 16> open = {value};
    while (!open.empty()) {
      const Value *next = open.pop_back_val();
      const Op *op = next->definingOp();
      if (!op)
        parameters.insert(next);
      if (!op || op->is(ops::Const) || known.lookup(next) ||
          !ops.insert(op).second)
        continue;
      for (const Value *operand : op->operandValues())
        if (operand)
          open.push_back(operand);
    }
  }
};
} // namespace

static int64_t countResultElements(const Op &op) {
  int64_t count = 0;
  for (const Value *result : op.resultValues())
    count += result->type.numElements();
  return count;
}

/// Whether the ops can be computed in the steps that are left, which are taken
/// then.
static bool canCompute(const DenseSet<const Op *> &ops, int64_t &stepsLeft) {
  int64_t steps = 0, elements = 0;
  for (const Op *op : ops) {
    bool hasBlocks = blocksSlot(op->def()) >= 0;
    if (!op->def().eval || (op->def().has(trait::SideEffect) && !hasBlocks))
      return false;
    int64_t count = countResultElements(*op);
    elements += count;
    steps += count + countFlops(*op);
    if (elements > mostElements || steps > stepsLeft || steps < 0)
      return false;
  }
  stepsLeft -= steps;
  return true;
}

static bool isMissing(const Constant &constant) {
  return constant.dtype() == DType::String ||
         (constant.origin() && constant.origin()->missing);
}

namespace {
/// The elements of values, computed op by op.
class Elements {
public:
  /// Loops take of `stepsLeft` what they turn out to need.
  Elements(const KnownValues &inputs, const KnownValues &computed,
           int64_t &stepsLeft)
      : inputs(inputs), computed(computed), stepsLeft(stepsLeft) {}

  void set(const Value *value, RefTensor elements) {
    known[value] = std::make_unique<RefTensor>(std::move(elements));
  }
  /// Computes an op whose operands are known. Returns false when one is not, or
  /// too many steps would be needed.
  bool compute(const Op &op);
  /// Null when the value is not known.
  const RefTensor *find(const Value *value);

private:
  bool run(const Function &block, ArrayRef<RefTensor> parameters,
           std::vector<RefTensor> &results) const;

  const KnownValues &inputs, &computed;
  int64_t &stepsLeft;
  DenseMap<const Value *, std::unique_ptr<RefTensor>> known;
};
} // namespace

bool Elements::run(const Function &block, ArrayRef<RefTensor> parameters,
                   std::vector<RefTensor> &results) const {
  Elements inside(inputs, computed, stepsLeft);
  for (auto [parameter, elements] : zip_equal(block.parameters(), parameters))
    inside.set(parameter.get(), elements);
  int64_t made = 0;
  --stepsLeft; // A loop without ops must end too.
  for (const Op &op : block.body()) {
    if (op.is(ops::Const))
      continue;
    int64_t count = countResultElements(op);
    made += count;
    stepsLeft -= 1 + count + countFlops(op);
    if (made > mostElements || stepsLeft < 0 || !inside.compute(op))
      return false;
  }
  if (stepsLeft < 0)
    return false;
  results.clear();
  for (unsigned i = 0; i < block.numResults(); ++i) {
    const RefTensor *elements = inside.find(block.result(i));
    if (!elements)
      return false;
    results.push_back(*elements);
  }
  return true;
}

bool Elements::compute(const Op &op) {
  SmallVector<const RefTensor *, 4> operands;
  for (const Value *operand : op.operandValues()) {
    operands.push_back(operand ? find(operand) : nullptr);
    if (operand && !operands.back())
      return false;
  }
  std::vector<RefTensor> results(op.numResults());
  if (int slot = blocksSlot(op.def()); slot < 0)
    results = evaluateRounded(op, operands);
  else if (!runBlocks(op.def(), *Blocks::of(op.constants()[size_t(slot)].get()),
                      operands, results,
                      [this](const Function &block,
                             ArrayRef<RefTensor> parameters,
                             std::vector<RefTensor> &found) {
                        return run(block, parameters, found);
                      }))
    return false;
  for (auto [value, result] : zip_equal(op.resultValues(), results))
    set(value, std::move(result));
  return true;
}

const RefTensor *Elements::find(const Value *value) {
  std::unique_ptr<RefTensor> &tensor = known[value];
  if (tensor)
    return tensor.get();
  const Op *op = value->definingOp();
  const Constant *constant = op && op->is(ops::Const)
                                 ? op->constant(param::val)
                                 : (op ? computed : inputs).lookup(value).get();
  if (!constant || isMissing(*constant))
    return nullptr;
  tensor = std::make_unique<RefTensor>(
      RefTensor{value->type, constant->asDoubles()});
  return tensor.get();
}

/// The value, if it can be computed from what is known; null otherwise.
ConstantRef FunctionBinder::demand(Value *value) {
  const Op *op = value->definingOp();
  if (op && op->is(ops::Const)) {
    const Constant *constant = op->constant(param::val);
    return isMissing(*constant) ? nullptr : ConstantRef(constant);
  }
  if (const Constant *known = knownValue(value))
    return ConstantRef(known);
  if (ConstantRef known = computedValues.lookup(value))
    return known;
  KnownValues inputs;
  Sources sources(value, computedValues);
  for (const Value *parameter : sources.parameters) {
    inputs[parameter] = atHand(*parameter);
    if (!inputs[parameter])
      return nullptr;
  }
  const DenseSet<const Op *> &needed = sources.ops;
  if (!canCompute(needed, demandSteps))
    return nullptr;
  Elements elements(inputs, computedValues, demandSteps);
  // Of a loop, they are among the last.
  SmallVector<const Op *, 16> inOrder;
  for (auto op = function->body().rbegin(); inOrder.size() != needed.size();
       ++op)
    if (needed.contains(&*op))
      inOrder.push_back(&*op);
  for (const Op *each : reverse(inOrder))
    if (!elements.compute(*each))
      return nullptr;
  const RefTensor *found = elements.find(value);
  if (!found)
    return nullptr;
  for (const auto &parameter : function->parameters())
    if (inputs.count(parameter.get()) &&
        readInputs.try_emplace(parameter.get(), inputs[parameter.get()]).second)
      diags.report(parameter->declared, diag::BoundInput, parameter->name);
  // Unless something else uses them, the ops are not needed.
  for (const Op *each : needed)
    computedOps[each] = true;
  return computedValues[value] =
             Constant::fromDoubles(value->type, found->data);
}

/// Adds to an error about a value that is not known why it is not.
void FunctionBinder::explainUnknown(Diagnostics::Report report,
                                    SourceRange range, Value *value) const {
  SetVector<Value *> inputs = parametersOf(value);
  inputs.remove_if([&](Value *input) { return atHand(*input) != nullptr; });
  if (inputs.empty())
    report.note(range, diag::DecidedLater);
  else
    report.note(range, diag::DecidedByInputs, namesOf(inputs));
}
