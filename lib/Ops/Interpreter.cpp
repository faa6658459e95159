//===- Interpreter.cpp - the double-precision reference -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Interpreter.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Weights.h"
#include "lib/Support/SplitMix.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <limits>
#include <map>

using namespace anec;

namespace {

/// The elements of each value, freed after the value's last use: those of a
/// layer are large.
class Environment {
public:
  explicit Environment(const Function &function) {
    for (const Op &op : function.body())
      for (const Value *operand : op.operandValues())
        ++remaining[operand];
    for (const Value *result : function.resultValues())
      ++remaining[result];
    for (const auto &param : function.parameters())
      if (param->holder == Holder::State)
        ++remaining[param.get()];
  }
  const RefTensor *get(const Value *value) const {
    return value ? &tensors.find(value)->second : nullptr;
  }
  void set(const Value *value, RefTensor tensor) {
    if (remaining.lookup(value) != 0)
      tensors[value] = std::move(tensor);
  }
  void release(const Value *value) {
    if (value && --remaining[value] == 0)
      tensors.erase(value);
  }

private:
  llvm::DenseMap<const Value *, unsigned> remaining;
  std::map<const Value *, RefTensor> tensors;
};

} // namespace

namespace {

/// Runs functions, including the functions that they apply.
class Interpreter {
public:
  Interpreter(const Module *module, Diagnostics &diags,
              const InterpreterOptions &options)
      : module(module), diags(diags), options(options) {}

  bool run(const Function &function, llvm::ArrayRef<RefTensor> inputs,
           std::vector<RefTensor> &outputs, std::optional<int64_t> instance,
           std::vector<RefTensor> *states = nullptr);

private:
  bool evaluate(const Op &op, Environment &env,
                std::optional<int64_t> instance);
  bool compute(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
               std::vector<RefTensor> &results,
               std::optional<int64_t> instance);
  bool call(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
            std::vector<RefTensor> &results);
  bool repeat(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
              std::vector<RefTensor> &results);
  void round(RefTensor &tensor) const;

  const Module *module;
  Diagnostics &diags;
  const InterpreterOptions &options;
};

} // namespace

/// The value of an `index` operand; nothing when it is absent.
static std::optional<int64_t> indexOf(const RefTensor *index) {
  return index ? std::optional<int64_t>(int64_t(index->data[0])) : std::nullopt;
}

bool Interpreter::call(const Op &op, llvm::ArrayRef<const RefTensor *> operands,
                       std::vector<RefTensor> &results) {
  const Function *callee = module->findFunction(op.get(param::callee));
  std::vector<RefTensor> arguments;
  for (const RefTensor *operand : operands.drop_front())
    arguments.push_back(*operand);
  return run(*callee, arguments, results, indexOf(operands[0]));
}

bool Interpreter::repeat(const Op &op,
                         llvm::ArrayRef<const RefTensor *> operands,
                         std::vector<RefTensor> &results) {
  const Function *body = module->findFunction(op.get(param::body));
  int64_t from = op.get(param::from), turns = op.get(param::to) - from;
  size_t carried = op.get(param::carried);
  size_t whole = operands.size() - op.get(param::sliced);
  std::vector<RefTensor> values;
  for (const RefTensor *operand : operands.take_front(carried))
    values.push_back(*operand);
  for (int64_t count = 0; count < turns; ++count) {
    int64_t turn = op.get(param::reverse) ? turns - 1 - count : count;
    std::vector<RefTensor> arguments = {{DType::Int32, {double(from + turn)}}};
    for (auto [slot, operand] : llvm::enumerate(operands)) {
      RefTensor &argument = arguments.emplace_back();
      if (slot < carried) {
        argument = std::move(values[slot]);
        continue;
      }
      if (slot < whole) {
        argument = *operand;
        continue;
      }
      argument.type = body->parameters()[slot + 1]->type;
      size_t size = argument.type.numElements();
      const double *slice = operand->data.data() + turn * size;
      argument.data.assign(slice, slice + size);
    }
    if (!run(*body, arguments, values, std::nullopt))
      return false;
    for (size_t index = carried; index < results.size(); ++index)
      llvm::copy(values[index].data, results[index].data.begin() +
                                         turn * values[index].data.size());
  }
  std::move(values.begin(), values.begin() + carried, results.begin());
  return true;
}

bool Interpreter::compute(const Op &op,
                          llvm::ArrayRef<const RefTensor *> operands,
                          std::vector<RefTensor> &results,
                          std::optional<int64_t> instance) {
  if (op.is(ops::Weight)) {
    if (operands[0])
      instance = indexOf(operands[0]);
    results[0].data = options.weights ? options.weights(op, instance)
                                      : randomWeight(op, instance);
    return true;
  }
  if (op.is(ops::UpdateState)) // `evaluate` sets the state
    return true;
  if (op.is(ops::Accumulate)) {
    if (options.accumulate)
      options.accumulate(op, indexOf(operands[0]), *operands[1]);
    return true;
  }
  if (module && op.is(ops::Call))
    return call(op, operands, results);
  if (module && op.is(ops::Repeat))
    return repeat(op, operands, results);
  if (int slot = blocksSlot(op.def()); slot >= 0)
    return runBlocks(
        op.def(), *Blocks::of(op.constants()[slot].get()), operands, results,
        [&](const Function &block, llvm::ArrayRef<RefTensor> inputs,
            std::vector<RefTensor> &outputs) {
          return run(block, inputs, outputs, instance);
        });
  if (op.def().eval) {
    EvalContext ctx{op.def(), op.constants(), operands, results};
    op.def().eval(ctx);
    return true;
  }
  diags.report(op.range(), diag::NoReference, op.def().name);
  return false;
}

/// The state, the rows and the position of an `update_state` as the new state.
static RefTensor updatedState(const Op &op,
                              llvm::ArrayRef<const RefTensor *> operands) {
  RefTensor state = *operands[0];
  const RefTensor &rows = *operands[1];
  const std::vector<double> &positions = operands[2]->data;
  int64_t extent = state.type.shape.back(), count = rows.type.shape.back();
  int64_t part = extent / op.get(param::groups);
  int64_t length = count / int64_t(positions.size());
  for (int64_t row = 0, all = int64_t(rows.data.size()) / count; row < all;
       ++row)
    for (int64_t i = 0; i < count; ++i) {
      int64_t first = int64_t(positions[size_t(i / length)]);
      int64_t at = first + i % length;
      bool isInPart =
          part == extent || (first >= 0 && at / part == first / part);
      if (at >= 0 && at < extent && isInPart)
        state.data[row * extent + at] = rows.data[row * count + i];
    }
  return state;
}

bool Interpreter::evaluate(const Op &op, Environment &env,
                           std::optional<int64_t> instance) {
  std::vector<RefTensor> results;
  for (const Value *result : op.resultValues()) {
    results.push_back({result->type, {}});
    results.back().data.resize(result->type.numElements());
  }
  llvm::SmallVector<const RefTensor *, 4> operands;
  for (const Value *operand : op.operandValues())
    operands.push_back(env.get(operand));
  if (!compute(op, operands, results, instance))
    return false;
  if (op.is(ops::WriteState))
    env.set(op.operand(param::input), *env.get(op.operand(param::data)));
  if (op.is(ops::UpdateState))
    env.set(op.operand(param::input), updatedState(op, operands));
  for (auto [value, tensor] : llvm::zip_equal(op.resultValues(), results)) {
    round(tensor);
    env.set(value, std::move(tensor));
  }
  for (const Value *operand : op.operandValues())
    env.release(operand);
  return true;
}

void Interpreter::round(RefTensor &tensor) const {
  if (options.roundToDType)
    for (double &element : tensor.data)
      element = anec::roundToDType(element, tensor.type.dtype);
  if (options.disturb && isFloat(tensor.type.dtype))
    for (double &element : tensor.data)
      element = options.disturb(element);
}

bool Interpreter::run(const Function &function,
                      llvm::ArrayRef<RefTensor> inputs,
                      std::vector<RefTensor> &outputs,
                      std::optional<int64_t> instance,
                      std::vector<RefTensor> *states) {
  if (function.isDeclaration()) {
    diags.report(function.range, diag::NoReference, function.name);
    return false;
  }
  Environment env(function);
  for (auto [param, input] : llvm::zip_equal(function.parameters(), inputs)) {
    assert(int64_t(input.data.size()) == param->type.numElements());
    env.set(param.get(), {param->type, input.data});
  }
  for (const Op &op : function.body())
    if (!evaluate(op, env, instance))
      return false;
  outputs.clear();
  for (const Value *result : function.resultValues())
    outputs.push_back(*env.get(result));
  if (!states)
    return true;
  states->clear();
  for (const auto &param : function.parameters())
    if (param->holder == Holder::State)
      states->push_back(*env.get(param.get()));
  return true;
}

bool anec::interpret(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                     std::vector<RefTensor> &outputs, Diagnostics &diags,
                     const InterpreterOptions &options,
                     std::vector<RefTensor> *states) {
  return Interpreter(nullptr, diags, options)
      .run(function, inputs, outputs, std::nullopt, states);
}

bool anec::interpretModule(const Module &module, const Function &function,
                           llvm::ArrayRef<RefTensor> inputs,
                           std::vector<RefTensor> &outputs, Diagnostics &diags,
                           const InterpreterOptions &options) {
  return Interpreter(&module, diags, options)
      .run(function, inputs, outputs, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Random elements and comparison
//===----------------------------------------------------------------------===//

namespace {
/// SplitMix64: sufficient for test data, and the same on all machines.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t number = splitMix(state);
    state += splitMixStep;
    return number;
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// The sum of twelve uniform numbers: approximately normal, without tails
  /// that would let a single element dominate a comparison.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum;
  }

private:
  uint64_t state;
};
} // namespace

RefTensor anec::randomTensor(const TensorType &type, uint64_t seed) {
  RefTensor tensor{type, std::vector<double>(type.numElements())};
  Random random(seed);
  for (double &element : tensor.data)
    element = isFloat(type.dtype)
                  ? anec::roundToDType(random.normal(), type.dtype)
                  : double(random.next() & 1);
  return tensor;
}

double anec::relativeError(llvm::ArrayRef<double> lhs,
                           llvm::ArrayRef<double> rhs) {
  double difference = 0, norm = 0;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    if (!std::isfinite(left) || !std::isfinite(right)) {
      bool same = left == right || (std::isnan(left) && std::isnan(right));
      if (!same)
        return std::numeric_limits<double>::infinity();
      continue;
    }
    difference += (left - right) * (left - right);
    norm += right * right;
  }
  if (difference == 0)
    return 0;
  return norm == 0 ? std::numeric_limits<double>::infinity()
                   : std::sqrt(difference / norm);
}

std::vector<double> anec::randomWeight(const Op &weight,
                                       std::optional<int64_t> instance) {
  WeightView view = viewOf(weight);
  TensorType type = view.storedType();
  std::vector<double> source(type.numElements());
  std::string name = instanceName(weight.get(param::name), instance);
  Random random(llvm::xxHash64(name));
  double fanIn = type.rank() < 2 || type.shape[0] == 0
                     ? 1
                     : double(type.numElements()) / double(type.shape[0]);
  for (double &element : source) {
    // A vector scales or shifts channels: keep it near one.
    double value = type.rank() < 2 ? 1 + 0.1 * random.normal()
                                   : random.normal() / std::sqrt(fanIn);
    element = anec::roundToDType(value, type.dtype);
  }
  return view.materialize(source);
}
