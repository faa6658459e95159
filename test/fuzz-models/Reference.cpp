//===- Reference.cpp - the undivided model in double precision ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "BlockBuilder.h"
#include "anec/Formats/Source.h"
#include "anec/Passes/PassManager.h"
#include "lib/IR/Clone.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace anec;
using namespace anec::fuzz;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::unique_ptr<Module> parse(llvm::StringRef text, Diagnostics &diags) {
  Source source = textSource(
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "model.tdsl")),
      "model.tdsl");
  return readSource(source, {}, diags);
}

static const Function *entryOf(const Module &module, FunctionRole role) {
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Host && function->role == role)
      return function.get();
  return nullptr;
}

bool Reference::open(llvm::StringRef text, Diagnostics &diags) {
  forward = parse(text, diags);
  differentiated = parse(text, diags);
  PassManagerOptions options;
  if (trains)
    options.passes = {&passes::ExposeMasks};
  if (!forward || !runPasses(*forward, options, diags))
    return false;
  options.passes.push_back(&passes::Differentiate);
  if (!differentiated || !runPasses(*differentiated, options, diags))
    return false;
  model = entryOf(*forward, FunctionRole::Forward);
  if (!model || !entryOf(*differentiated, FunctionRole::Train))
    return false;
  chooseInputs();
  return true;
}

/// Whether callers of `lhs` can call `rhs`.
static bool hasSameInterface(const Function &lhs, const Function &rhs) {
  auto sameType = [](const Value *x, const Value *y) {
    return x->type == y->type;
  };
  return llvm::equal(lhs.parameters(), rhs.parameters(),
                     [&](const auto &x, const auto &y) {
                       return sameType(x.get(), y.get());
                     }) &&
         llvm::equal(lhs.resultValues(), rhs.resultValues(), sameType);
}

bool Reference::lower(llvm::StringRef text, const Target &target) {
  // What a chip cannot do is reported by who compiles for it.
  Diagnostics diags;
  lowered = parse(text, diags);
  PassManagerOptions options;
  if (trains)
    options.passes = {&passes::ExposeMasks};
  options.passes.push_back(&passes::Differentiate);
  options.target = &target;
  if (!lowered || !runPasses(*lowered, options, diags))
    return false;
  // Only functions that are not called can be legalized, so each is alone; its
  // own calls have no callees then.
  options.passes = {&passes::Decompose, &passes::Legalize};
  options.verifyEach = false;
  for (auto &function : lowered->functions) {
    Module alone;
    auto copy = std::make_unique<Function>(function->kind, function->name,
                                           function->range);
    copy->setRole(function->role, function->of());
    ValueMap map;
    cloneBody(*function, *copy, map);
    alone.functions.push_back(std::move(copy));
    if (!runPasses(alone, options, diags))
      return false;
    if (hasSameInterface(*function, *alone.functions.front()))
      function = std::move(alone.functions.front());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static double normal(Random &random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += double(random.number(0, 1 << 30)) / (1 << 30);
  return sum;
}

/// Floats are normal, but in masks; integers are classes or rows, and a few are
/// none.
void Reference::chooseInputs() {
  for (const auto &parameter : model->parameters()) {
    const TensorType &type = parameter->type;
    Random random(seed ^ llvm::xxHash64(parameter->name));
    Elements elements(size_t(type.numElements()));
    for (double &element : elements)
      if (parameter->mask)
        element = random.chance(parameter->mask->keep)
                      ? roundToDType(parameter->mask->value(), type.dtype)
                      : 0;
      else
        element = isFloat(type.dtype) ? roundToDType(normal(random), type.dtype)
                                      : double(random.number(0, 1));
    if (elements.size() > 1 && parameter->name == "targets" &&
        random.chance(0.3))
      elements[1] = -1;
    given[parameter->name] = {type, std::move(elements)};
  }
}

static bool isVector(const Shape &shape) {
  return llvm::count_if(shape, [](int64_t extent) { return extent != 1; }) <= 1;
}

const Reference::Weight &Reference::array(const Op &weight,
                                          std::optional<int64_t> instance) {
  std::string name = instanceName(weight.get(param::name), instance);
  auto [it, isNew] = arrays.try_emplace(name);
  if (!isNew)
    return it->second;
  TensorType type = viewOf(weight).storedType();
  llvm::StringRef member = memberOf(weight.get(param::name));
  Random random(seed ^ llvm::xxHash64(name));
  double fanIn = type.rank() < 2
                     ? 1
                     : double(type.numElements()) /
                           double(std::max<int64_t>(type.shape[0], 1));
  bool isScale = random.chance(0.6);
  Elements elements(size_t(type.numElements()));
  for (double &element : elements) {
    double value = normal(random);
    if (member.starts_with("variance"))
      value = 0.5 + 0.5 * std::fabs(value);
    else if (member.starts_with("table"))
      value *= 0.7;
    else if (isVector(type.shape))
      value = isScale ? 1 + 0.3 * value : 0.4 * value;
    else
      value /= std::sqrt(fanIn);
    element = roundToDType(value, type.dtype);
  }
  it->second = {type, std::move(elements)};
  return it->second;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static double nudged(double x, double by, Random &random) {
  if (by == 0)
    return x;
  double at = double(random.number(-(1 << 20), 1 << 20)) / (1 << 20);
  return x + x * by * at;
}

double anec::fuzz::roundTo(int bits, double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)),
                    exponent - bits);
}

bool Reference::evaluate(const Evaluation &evaluation, Results &results,
                         Diagnostics &diags) {
  Random random(evaluation.seed);
  std::map<std::string, Elements> changed;
  InterpreterOptions options;
  options.roundToDType = evaluation.rounds;
  options.disturb = [&](double x) {
    results.largest =
        std::max(results.largest, std::isfinite(x) ? std::fabs(x) : INFINITY);
    return evaluation.disturb ? evaluation.disturb(x) : x;
  };
  options.weights = [&](const Op &op, std::optional<int64_t> instance) {
    const Weight &weight = array(op, instance);
    WeightView view = viewOf(op);
    if (evaluation.nudge == 0)
      return view.materialize(weight.elements);
    // One value for all that read it.
    Elements &elements = changed[instanceName(op.get(param::name), instance)];
    if (elements.empty())
      for (double element : weight.elements)
        elements.push_back(nudged(element, evaluation.nudge, random));
    return view.materialize(elements);
  };
  options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                           const RefTensor &value) {
    Elements &sum =
        results.gradients[instanceName(op.get(param::name), instance)];
    sum.resize(value.data.size());
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += value.data[i];
  };
  const Module &module = evaluation.isLowered ? *lowered : *differentiated;
  const Function *entry = entryOf(module, FunctionRole::Train);
  std::vector<RefTensor> inputs, outputs;
  for (const auto &parameter : entry->parameters()) {
    if (parameter->role() == ValueRole::LossScale) {
      inputs.push_back({parameter->type, {evaluation.lossScale}});
      continue;
    }
    RefTensor input = given[parameter->name];
    if (isFloat(input.type.dtype))
      for (double &element : input.data) {
        element = nudged(element, evaluation.nudge, random);
        if (evaluation.disturb)
          element = evaluation.disturb(element);
      }
    inputs.push_back(std::move(input));
  }
  if (!interpretModule(module, *entry, inputs, outputs, diags, options))
    return false;
  results.loss = outputs[*entry->resultOf(ValueRole::Loss)].data[0];
  return true;
}

bool Reference::loss(const std::map<std::string, Elements> &steps, double &loss,
                     Diagnostics &diags) {
  InterpreterOptions options;
  options.weights = [&](const Op &op, std::optional<int64_t> instance) {
    Elements elements = array(op, instance).elements;
    auto step = steps.find(instanceName(op.get(param::name), instance));
    if (step != steps.end())
      for (size_t i = 0; i < elements.size(); ++i)
        elements[i] += step->second[i];
    return viewOf(op).materialize(elements);
  };
  std::vector<RefTensor> inputs, outputs;
  for (const auto &parameter : model->parameters())
    inputs.push_back(given[parameter->name]);
  if (!interpretModule(*forward, *model, inputs, outputs, diags, options))
    return false;
  loss = outputs[0].data[0];
  return true;
}

//===----------------------------------------------------------------------===//
// Other programs
//===----------------------------------------------------------------------===//

std::string anec::fuzz::replaceAll(llvm::StringRef text, llvm::StringRef what,
                                   llvm::StringRef with) {
  std::string result;
  for (size_t at; (at = text.find(what)) != llvm::StringRef::npos;
       text = text.drop_front(at + what.size()))
    result += (text.take_front(at) + with).str();
  return result + text.str();
}
