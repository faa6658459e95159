//===- DifferentiateRepeat.cpp - the backward of repeated bodies ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A repeat's adjoint is a repeat in the other direction. The forward one
/// collects, for each iteration, the values that the adjoint needs:
///
///   x', saved = repeat(x)        body(i, x) -> (f(x), x)
///   dx = repeat(dx', saved)      backward(i, dx', saved) -> dx
///
/// Loop-invariant values have gradients too, which the backward carries as
/// sums.
///
//===----------------------------------------------------------------------===//

#include "../Simplify/DeadOps.h"
#include "Differentiator.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace anec {

/// Builds forward and adjoint of a body together in one function, `joint`, and
/// then splits it.
class BodyDifferentiation {
public:
  BodyDifferentiation(Differentiator &differentiator, const Op &repeat,
                      const Activity &outer, Function &train,
                      RepeatBackward &result)
      : differentiator(differentiator), repeat(repeat), outer(outer),
        train(train), result(result), joint(FunctionKind::Host, train.name),
        activity(differentiator.hostActivity()) {}

  static void activate(const Op &repeat, const Activity &outer,
                       const Function &body, Activity &activity);

  bool run();
  /// Values that the train body returns in addition to its results.
  llvm::ArrayRef<const Value *> savedValues() const { return saved; }

private:
  void addSeeds(Adjoint &adjoint);
  void setGradients(Adjoint &adjoint);
  void need(const Value *value);
  bool isCheap(const Value *value) const;
  Value *addParameter(Function &body, const TensorType &type,
                      llvm::StringRef name, ValueRole role) {
    return body.addParameter(type, names.unique(name), role);
  }
  void takeApart();
  void addParameters(Function &body, ValueMap &map);

  unsigned numOperands() const { return repeat.numOperands(); }
  unsigned numCarried() const { return repeat.get(param::carried); }
  unsigned firstSliced() const {
    return numOperands() - repeat.get(param::sliced);
  }

  Differentiator &differentiator;
  const Op &repeat;
  const Activity &outer;
  Function &train;
  RepeatBackward &result;
  Function joint;
  Activity activity;
  llvm::DenseSet<const Op *> forward;
  /// Parameters of `joint` in addition to those of the body: gradients of
  /// carried values, sums of the gradients of loop-invariant values, and
  /// gradients of collected results.
  llvm::SmallVector<Value *, 4> seeds, sums, stackSeeds;
  llvm::SmallVector<const Value *, 8> needed; ///< of `joint`, to be saved
  llvm::SmallVector<const Value *, 8> saved;  ///< the same values of `train`
  llvm::DenseSet<const Op *> cheap;           ///< forward ops that are rebuilt
  NameSet names;
};

} // namespace anec

/// Marks the parameters of the body of `repeat` that are active, or can become
/// active.
void BodyDifferentiation::activate(const Op &repeat, const Activity &outer,
                                   const Function &body, Activity &activity) {
  unsigned carried = repeat.get(param::carried);
  for (unsigned slot = 0; slot < repeat.numOperands(); ++slot) {
    const Value *operand = repeat.operand(slot);
    const Value *parameter = body.parameters()[slot + 1].get();
    std::optional<DType> dtype = outer.gradientDType(operand);
    if (slot < carried)
      activity.activate(parameter);
    else if (dtype)
      activity.activate(parameter, *dtype != operand->type.dtype);
  }
}

//===----------------------------------------------------------------------===//
// The joint function
//===----------------------------------------------------------------------===//

void BodyDifferentiation::addSeeds(Adjoint &adjoint) {
  for (unsigned index = 0; index < repeat.numResults(); ++index) {
    Value *value = joint.result(index);
    if (!isFloat(value->type.dtype))
      continue;
    bool isCarried = index < numCarried();
    Value *seed = joint.addParameter(value->type, train.resultNames()[index]);
    (isCarried ? result.carried : result.stacked).push_back(index);
    (isCarried ? seeds : stackSeeds).push_back(seed);
    adjoint.add(value, seed);
  }
}

/// Makes the gradients of carried, loop-invariant and sliced values the
/// results.
void BodyDifferentiation::setGradients(Adjoint &adjoint) {
  llvm::SmallVector<Value *, 8> values;
  std::vector<std::string> resultNames;
  NameSet unique;
  auto give = [&](const Value *parameter, Value *gradient) {
    values.push_back(gradient);
    resultNames.push_back(unique.unique(parameter->name + ".gradient").str());
  };
  for (unsigned slot : result.carried) {
    const Value *parameter = joint.parameters()[slot + 1].get();
    give(parameter, adjoint.gradientOrZeros(parameter));
  }
  for (unsigned slot = numCarried(); slot < numOperands(); ++slot) {
    const Value *parameter = joint.parameters()[slot + 1].get();
    Value *gradient = adjoint.gradient(parameter);
    if (!gradient || slot >= firstSliced())
      continue;
    Value *sum = joint.addParameter(gradient->type, parameter->name);
    sums.push_back(sum);
    result.invariant.push_back(slot);
    give(parameter, adjoint.builder.build(ops::Add, {sum, gradient}));
  }
  for (unsigned slot = firstSliced(); slot < numOperands(); ++slot) {
    const Value *parameter = joint.parameters()[slot + 1].get();
    Value *gradient = adjoint.gradient(parameter);
    if (!gradient)
      continue;
    result.sliced.push_back(slot);
    give(parameter, gradient);
  }
  llvm::SmallVector<llvm::StringRef, 8> views(resultNames.begin(),
                                              resultNames.end());
  llvm::SmallVector<ValueRole, 8> roles(values.size(), ValueRole::Gradient);
  joint.setResults(values, views, roles);
}

bool BodyDifferentiation::run() {
  ValueMap toJoint;
  cloneBody(train, joint, toJoint);
  activate(repeat, outer, joint, activity);
  for (const Op &op : joint.body()) {
    activity.visit(op);
    forward.insert(&op);
  }
  Adjoint adjoint(
      joint, activity, differentiator.ctx.diags,
      [&](const Op &op, Adjoint &a) { return differentiator.apply(op, a); });
  addSeeds(adjoint);
  if (result.carried.empty()) {
    differentiator.ctx.diags.report(repeat.range(), diag::NotDifferentiable,
                                    repeat.def().name, "it carries no floats");
    return false;
  }
  if (!adjoint.run())
    return false;
  accumulate(adjoint.builder, adjoint.weightGradients());
  setGradients(adjoint);
  removeDeadOps(joint);
  takeApart();
  llvm::DenseMap<const Value *, const Value *> fromJoint;
  for (auto [original, copy] : toJoint)
    fromJoint[copy] = original;
  for (const Value *value : needed)
    saved.push_back(fromJoint.lookup(value));
  return true;
}

//===----------------------------------------------------------------------===//
// Splitting it
//===----------------------------------------------------------------------===//

/// Whether `op` computes an integer, such as the index of a layer.
static bool isIntegerArithmetic(const Op &op) {
  return op.def().has(trait::Elementwise) && op.numResults() == 1 &&
         op.result()->type == TensorType(DType::Int32);
}

/// Whether `value` is cheaper to rebuild than to save: the index, or that of a
/// repeat around this one, or a const, weight, fill or integer that depends at
/// most on them.
bool BodyDifferentiation::isCheap(const Value *value) const {
  const Op *op = value->definingOp();
  if (!op) {
    unsigned slot = value->index(); // after that of the index
    return slot == 0 || (slot > numCarried() && slot <= firstSliced() &&
                         value->type == TensorType(DType::Int32));
  }
  bool isKind = op->is(ops::Const) || op->is(ops::Weight) ||
                op->is(ops::Fill) || isIntegerArithmetic(*op);
  return isKind && llvm::all_of(op->operandValues(), [&](const Value *operand) {
           return !operand || isCheap(operand);
         });
}

/// Records the source of a forward value in the backward body.
void BodyDifferentiation::need(const Value *value) {
  auto note = [](auto &list, auto item) {
    if (!llvm::is_contained(list, item))
      list.push_back(item);
  };
  const Op *op = value->definingOp();
  if (op && !forward.contains(op))
    return;
  if (op && isCheap(value)) {
    if (cheap.insert(op).second)
      for (const Value *operand : op->operandValues())
        if (operand)
          need(operand);
    return;
  }
  if (!op && value->index() == 0)
    return; // the index, which every body has
  unsigned slot = value->index() - 1;
  if (op || slot < numCarried())
    note(needed, value);
  else if (slot < firstSliced())
    note(result.neededInvariants, slot);
  else if (slot < numOperands())
    note(result.neededSlices, slot);
}

static std::string savedName(const Value *value) {
  return value->name.empty() ? "saved" : value->name + ".saved";
}

/// Adds the parameters of the backward body, in the order of the operands that
/// Differentiator::applyRepeat passes.
void BodyDifferentiation::addParameters(Function &body, ValueMap &map) {
  auto add = [&](const Value *value) {
    map[value] = addParameter(body, value->type, value->name, value->role());
  };
  auto addGradient = [&](const Value *value) {
    map[value] = addParameter(body, value->type, value->name + ".gradient",
                              ValueRole::Gradient);
  };
  add(joint.parameters()[0].get());
  for (const Value *seed : seeds)
    addGradient(seed);
  for (const Value *sum : sums)
    addGradient(sum);
  for (unsigned slot : result.neededInvariants)
    add(joint.parameters()[slot + 1].get());
  for (const Value *seed : stackSeeds)
    addGradient(seed);
  for (unsigned slot : result.neededSlices)
    add(joint.parameters()[slot + 1].get());
  for (const Value *value : needed)
    map[value] =
        addParameter(body, value->type, savedName(value), ValueRole::Tap);
}

void BodyDifferentiation::takeApart() {
  for (const Op &op : joint.body())
    if (!forward.contains(&op))
      for (const Value *operand : op.operandValues())
        if (operand)
          need(operand);
  for (const Value *value : joint.resultValues())
    need(value);
  ValueMap map;
  Function &body = *result.body;
  addParameters(body, map);
  for (const Op &op : joint.body())
    if (!forward.contains(&op) || cheap.contains(&op))
      cloneOp(op, body, map);
  llvm::SmallVector<Value *, 4> values;
  for (const Value *value : joint.resultValues())
    values.push_back(map.lookup(value));
  llvm::SmallVector<llvm::StringRef, 4> views(joint.resultNames().begin(),
                                              joint.resultNames().end());
  body.setResults(values, views, joint.resultRoles());
}

//===----------------------------------------------------------------------===//
// The repeats
//===----------------------------------------------------------------------===//

static std::string backwardName(const std::string &body) {
  return body + ".backward";
}

/// `name`, with a number appended when it or the name of its backward is taken.
static std::string freeName(const Module &module, const std::string &name) {
  std::string unique = name;
  for (unsigned number = 1;
       module.findFunction(unique) || module.findFunction(backwardName(unique));
       ++number)
    unique = name + "_" + std::to_string(number);
  return unique;
}

/// The same repeat with the train body, which also collects `saved`.
static Op *collectSaved(Op &op, Function &train,
                        llvm::ArrayRef<const Value *> saved,
                        RepeatBackward &repeat) {
  llvm::SmallVector<Value *, 8> values(train.resultValues());
  std::vector<std::string> names(train.resultNames().begin(),
                                 train.resultNames().end());
  llvm::SmallVector<ValueRole, 8> roles(train.resultRoles());
  std::vector<std::string> types, resultNames;
  if (const Constant *collected = op.constant(param::collected))
    types = collected->asStrings();
  for (const Value *result : op.resultValues())
    resultNames.push_back(result->name);
  NameSet unique;
  for (const std::string &name : names)
    unique.unique(name);
  for (const Value *value : saved) {
    repeat.saved.push_back(values.size());
    values.push_back(const_cast<Value *>(value));
    names.push_back(
        unique.unique("saved" + std::to_string(types.size())).str());
    roles.push_back(ValueRole::Tap);
    types.push_back(value->type.str());
    resultNames.push_back(savedName(value));
  }
  llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
  train.setResults(values, views, roles);

  llvm::SmallVector<ConstantRef, 8> constants(op.constants());
  constants[op.def().constantSlot(param::body)] = Constant::string(train.name);
  TensorType list(DType::String, {int64_t(types.size())});
  if (!types.empty())
    constants[op.def().constantSlot(param::collected)] =
        Constant::strings(list, std::move(types));
  Builder builder(*op.parent());
  builder.setInsertionPoint(&op);
  llvm::SmallVector<llvm::StringRef, 8> nameViews(resultNames.begin(),
                                                  resultNames.end());
  Op *now = builder.createWithSlots(op.def(), op.operandValues(), constants,
                                    nameViews);
  for (auto [before, after] : llvm::zip(op.resultValues(), now->resultValues()))
    before->replaceAllUsesWith(after);
  op.erase();
  return now;
}

Function *Differentiator::addBody(const std::string &name, SourceRange range) {
  Function *body = module.addFunction(FunctionKind::Host, name, range);
  body->setRole(FunctionRole::Body, train->of());
  return body;
}

Op *Differentiator::prepareRepeat(Op &op, const Activity &outer) {
  const Function &body = *module.findFunction(op.get(param::body));
  std::string name =
      freeName(module, train->name + ".repeat" + std::to_string(bodies++));
  Function &turn = *addBody(name, body.range);
  ValueMap map;
  cloneBody(body, turn, map);
  Activity inside = hostActivity();
  BodyDifferentiation::activate(op, outer, turn, inside);
  if (!prepare(turn, inside))
    return nullptr;
  RepeatBackward &repeat = repeats[name];
  repeat.body = addBody(backwardName(name), body.range);
  BodyDifferentiation differentiation(*this, op, outer, turn, repeat);
  if (!differentiation.run())
    return nullptr;
  return collectSaved(op, turn, differentiation.savedValues(), repeat);
}

bool Differentiator::applyRepeat(const Op &op, Adjoint &adjoint) {
  const RepeatBackward &repeat = repeats[op.get(param::body)];
  Builder &builder = adjoint.builder;
  builder.setRange(op.range());
  llvm::SmallVector<Value *, 8> operands;
  for (unsigned index : repeat.carried)
    operands.push_back(adjoint.gradientOrZeros(op.result(index)));
  for (unsigned slot : repeat.invariant) {
    const Value *operand = op.operand(slot);
    operands.push_back(adjoint.zeros(
        {*adjoint.activity.gradientDType(operand), operand->type.shape}));
  }
  int64_t carried = operands.size();
  for (unsigned slot : repeat.neededInvariants)
    operands.push_back(op.operand(slot));
  int64_t whole = operands.size();
  for (unsigned index : repeat.stacked)
    operands.push_back(adjoint.gradientOrZeros(op.result(index)));
  for (unsigned slot : repeat.neededSlices)
    operands.push_back(op.operand(slot));
  for (unsigned index : repeat.saved)
    operands.push_back(op.result(index));

  std::vector<std::string> collected;
  for (unsigned index = carried; index < repeat.body->numResults(); ++index)
    collected.push_back(repeat.body->result(index)->type.str());
  llvm::SmallVector<Attr, 8> attrs = {
      {param::body, Constant::string(repeat.body->name)},
      {param::from, op.constant(param::from)},
      {param::to, op.constant(param::to)},
      {param::carried, carried},
      {param::sliced, int64_t(operands.size()) - whole},
      {param::reverse, !op.get(param::reverse)}};
  if (!collected.empty()) {
    TensorType list(DType::String, {int64_t(collected.size())});
    attrs.emplace_back(param::collected,
                       Constant::strings(list, std::move(collected)));
  }
  Op *backward = builder.create(ops::Repeat, operands, attrs);
  for (auto [index, name] : llvm::enumerate(repeat.body->resultNames()))
    backward->result(index)->name = name;
  unsigned next = 0;
  for (const auto *slots : {&repeat.carried, &repeat.invariant, &repeat.sliced})
    for (unsigned slot : *slots)
      adjoint.add(op.operand(slot), backward->result(next++));
  return true;
}
