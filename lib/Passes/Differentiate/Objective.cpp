//===- Objective.cpp - what a program of others is trained for ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/Objective.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Calls.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Loss.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Weights.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct LossRow {
  Objective::Loss loss;
  llvm::StringLiteral text;
};
} // namespace

static constexpr LossRow losses[] = {
    {Objective::Loss::Output, "output"},
    {Objective::Loss::MeanSquare, "mse"},
    {Objective::Loss::CrossEntropy, "cross-entropy"},
};

static llvm::StringRef spelling(Objective::Loss loss) {
  return llvm::find_if(losses,
                       [&](const LossRow &row) { return row.loss == loss; })
      ->text;
}

std::optional<Objective> Objective::parse(llvm::StringRef text,
                                          std::string &wrong) {
  llvm::StringRef name = text.split(':').first, axis = text.split(':').second;
  Objective objective;
  const LossRow *row = llvm::find_if(
      losses, [&](const LossRow &row) { return row.text == name; });
  int64_t number = 0;
  bool hasAxis = text.contains(':');
  if (row == std::end(losses) || (hasAxis && (row->loss != Loss::CrossEntropy ||
                                              axis.getAsInteger(10, number)))) {
    wrong = "`" + text.str() +
            "` is not one of output, mse, cross-entropy and cross-entropy:AXIS";
    return std::nullopt;
  }
  objective.loss = row->loss;
  if (hasAxis)
    objective.axis = number;
  return objective;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

std::shared_ptr<SourceWeights> anec::weightsFor(const Objective &objective,
                                                Diagnostics &diags) {
  // A pattern refers to its text.
  auto texts =
      std::make_shared<const std::vector<std::string>>(objective.trained);
  std::vector<llvm::GlobPattern> patterns;
  for (const std::string &text : *texts) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern) {
      diags.report({}, diag::BadWeightPattern, text,
                   llvm::toString(pattern.takeError()));
      return nullptr;
    }
    patterns.push_back(std::move(*pattern));
  }
  auto weights = std::make_shared<SourceWeights>();
  weights->isAsked = !patterns.empty();
  weights->isTrained = [texts = std::move(texts),
                        patterns = std::move(patterns)](llvm::StringRef name) {
    return patterns.empty() ||
           llvm::any_of(patterns, [&](const llvm::GlobPattern &pattern) {
             return pattern.match(name);
           });
  };
  return weights;
}

/// Whether a weight is only a mean or a variance that `batch_norm` takes.
static bool isStatistic(const Value &value) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user || !user->is(ops::BatchNorm) ||
        (user->operand(param::mean) != &value &&
         user->operand(param::variance) != &value))
      return false;
  }
  return value.hasUses();
}

static std::string listNames(llvm::ArrayRef<std::string> names) {
  constexpr size_t most = 20;
  if (names.empty())
    return "none";
  std::string text = "`" + llvm::join(names.take_front(most), "`, `") + "`";
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

static void makeConstant(Function &function, Op &weight, ConstantRef value) {
  Builder builder(function);
  builder.setInsertionPoint(&weight);
  builder.setRange(weight.range());
  Value *constant =
      builder.build(ops::Const, {}, Attr(param::val, std::move(value)),
                    weight.result()->name);
  weight.result()->replaceAllUsesWith(constant);
  weight.erase();
}

bool anec::chooseWeights(Module &module, const Objective &objective,
                         const SourceWeights &weights, Diagnostics &diags) {
  for (const std::string &text : objective.trained) {
    auto pattern = llvm::cantFail(llvm::GlobPattern::create(text));
    if (llvm::none_of(weights.names(), [&](llvm::StringRef name) {
          return pattern.match(name);
        })) {
      diags.report({}, diag::NoTrainedWeight, text, listNames(weights.names()));
      return false;
    }
  }
  size_t trained = 0;
  for (const auto &function : module.functions)
    for (Op &op : llvm::make_early_inc_range(function->body())) {
      if (!op.is(ops::Weight))
        continue;
      ConstantRef value = weights.values().lookup(op.get(param::name));
      if (value && isStatistic(*op.result()))
        makeConstant(*function, op, std::move(value));
      else
        ++trained;
    }
  for (const auto &function : module.functions)
    giveExtents(*function);
  if (!trained) {
    diags.report({}, diag::NothingTrained, listNames(weights.names()));
    return false;
  }
  if (!weights.kept().empty())
    diags.report({}, diag::WeightNotTrained, listNames(weights.kept()));
  return true;
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

/// `model`, or another name that no function has.
static std::string nameOfModel(const Module &module) {
  std::string name = "model";
  while (module.findFunction(name))
    name += "_";
  return name;
}

/// Calls `layer` in the builder's function, with parameters of its own.
static Op *callLayer(const Function &layer, Builder &builder) {
  llvm::SmallVector<Value *, 4> operands = {nullptr}; // no instance
  for (const auto &parameter : layer.parameters())
    operands.push_back(
        builder.getFunction().addParameter(parameter->type, parameter->name));
  return buildCall(builder, layer, operands);
}

namespace {

/// The model around a layer.
class ModelBuilder {
public:
  ModelBuilder(Module &module, Function &layer, const Objective &objective,
               const Updates &updates, const SourceWeights &weights,
               Diagnostics &diags)
      : layer(layer), objective(objective), updates(updates), weights(weights),
        diags(diags),
        model(*module.addFunction(FunctionKind::Host, nameOfModel(module))),
        builder(model) {}

  bool build();

private:
  bool refuse(llvm::StringRef why);
  Value *addTarget(TensorType type);
  Value *reshaped(Value *x, Shape shape);
  Value *meanSquare(Value *output);
  Value *crossEntropy(Value *output);

  Function &layer;
  const Objective &objective;
  const Updates &updates;
  const SourceWeights &weights;
  Diagnostics &diags;
  Function &model;
  Builder builder;
};

} // namespace

bool ModelBuilder::refuse(llvm::StringRef why) {
  bool isEmpty = layer.numResults() == 0;
  diags.report(layer.range, diag::LossOfOutput, spelling(objective.loss),
               isEmpty ? layer.name : layer.resultNames()[0],
               isEmpty ? "without outputs" : layer.result(0)->type.str(), why);
  return false;
}

/// The parameter with what is right, called `target` unless an input is.
Value *ModelBuilder::addTarget(TensorType type) {
  std::string name = "target";
  while (llvm::any_of(model.parameters(), [&](const auto &parameter) {
    return parameter->name == name;
  }))
    name += "_";
  return model.addParameter(std::move(type), name, ValueRole::Target);
}

Value *ModelBuilder::reshaped(Value *x, Shape shape) {
  if (x->type.shape == shape)
    return x;
  return builder.build(ops::Reshape, {x}, {{param::shape, shape}});
}

Value *ModelBuilder::meanSquare(Value *output) {
  Value *target = addTarget({DType::FP32, output->type.shape});
  Value *difference = builder.build(ops::Sub, {output, target});
  Value *square = builder.build(ops::Square, {difference});
  Value *flat = reshaped(square, {square->type.numElements()});
  return builder.build(
      ops::ReduceMean, {flat},
      {{param::axes, llvm::ArrayRef<int64_t>{0}}, {param::keepDims, false}});
}

/// Null, with the reason reported, when the output has no classes.
Value *ModelBuilder::crossEntropy(Value *output) {
  Shape shape = output->type.shape;
  auto rank = int64_t(shape.size());
  int64_t axis = objective.axis.value_or(rank <= 3 ? -1 : 1);
  axis += axis < 0 ? rank : 0;
  if (rank < 2 || axis < 0 || axis >= rank) {
    refuse(rank < 2 ? "scores of classes have at least two axes"
                    : "it does not have that axis");
    return nullptr;
  }
  // To [classes, count].
  llvm::SmallVector<int64_t, 4> order = {axis};
  Shape indices;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) {
      order.push_back(i);
      indices.push_back(shape[i]);
    }
  Value *target = addTarget({DType::Int32, indices});
  Value *first =
      llvm::is_sorted(order)
          ? output
          : builder.build(ops::Transpose, {output}, {{param::perm, order}});
  int64_t count = target->type.numElements();
  return builder.build(
      ops::CrossEntropy,
      {reshaped(first, {shape[axis], count}), reshaped(target, {count})});
}

bool ModelBuilder::build() {
  if (layer.numResults() == 0 || !isFloat(layer.result(0)->type.dtype))
    return refuse("a loss is computed of floats");
  Op *called = callLayer(layer, builder);
  Value *output = called->result(0);
  if (output->type.dtype != DType::FP32)
    output = builder.build(ops::Cast, {output}, {{param::dtype, DType::FP32}});
  Value *loss = nullptr;
  switch (objective.loss) {
  case Objective::Loss::Output:
    if (output->type.numElements() != 1)
      return refuse("a loss is one number; --loss=mse and "
                    "--loss=cross-entropy compare an output with a target");
    loss = reshaped(output, {});
    break;
  case Objective::Loss::MeanSquare:
    loss = meanSquare(output);
    break;
  case Objective::Loss::CrossEntropy:
    loss = crossEntropy(output);
    break;
  }
  if (!loss)
    return false;
  loss = addUpdates(updates, weights, *called, loss, builder);
  model.setResults({loss}, {"loss"}, {ValueRole::Loss});
  return true;
}

bool anec::canTrain(const Module &module, Diagnostics &diags) {
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Host) {
      diags.report(function->range, diag::LossWithModel, function->name);
      return false;
    }
  if (module.functions.size() != 1) {
    diags.report({}, diag::LossFunctions, int64_t(module.functions.size()));
    return false;
  }
  const Function &function = *module.functions.front();
  if (function.parameters().empty()) {
    diags.report(function.range, diag::LossOfInput, "no inputs",
                 "nothing differs from example to example");
    return false;
  }
  for (const auto &parameter : function.parameters()) {
    if (parameter->holder != Holder::Tensor) {
      diags.report(parameter->declared, diag::LossOfState, parameter->name);
      return false;
    }
    if (parameter->type.dtype == DType::Bool) {
      diags.report(parameter->declared, diag::LossOfInput,
                   "an input of bools, `" + parameter->name + "`,",
                   "examples are numbers; export it with 0 and 1");
      return false;
    }
  }
  return true;
}

bool anec::addObjective(Module &module, const Objective &objective,
                        const Updates &updates, const SourceWeights &weights,
                        Diagnostics &diags) {
  Function &layer = *module.functions.front();
  layer.kind = FunctionKind::Layer;
  return ModelBuilder(module, layer, objective, updates, weights, diags)
      .build();
}

void anec::callFromHost(Module &module) {
  Function &layer = *module.functions.front();
  layer.kind = FunctionKind::Layer;
  for (Op &op : layer.body())
    if (op.is(ops::Weight) && isStatistic(*op.result()))
      op.setConstant(param::frozen, Constant::boolean(true));
  std::string name = layer.name;
  layer.name += ".layer";
  Function &host = *module.addFunction(FunctionKind::Host, name, layer.range);
  host.opset = layer.opset;
  Builder builder(host);
  llvm::SmallVector<Value *, 4> results(
      callLayer(layer, builder)->resultValues());
  llvm::SmallVector<llvm::StringRef, 4> names(layer.resultNames().begin(),
                                              layer.resultNames().end());
  host.setResults(results, names);
}

void anec::takeFromHost(Module &module) {
  if (module.functions.size() != 2 ||
      module.functions.back()->body().size() != 1)
    return;
  Function &layer = *module.functions.front();
  layer.kind = FunctionKind::Kernel;
  layer.name = module.functions.back()->name;
  module.functions.pop_back();
}
