//===- InlineHost.cpp - a model as one program ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Makes a kernel of each entry: calls are replaced by the bodies of what they
/// call, and repeats by their iterations. The weights of an instance get its
/// name, `attention.3.wq`.
///
///   host @m(%x) { %y = repeat(%x) {body = "m.body", from = 0, to = 2} }
///   host @m.body(%i, %x) { %y = call @half[%i](%x) }
///   ==> kernel @m(%x) { %w = weight() {name = "half.0.w"}
///                       %a = matmul(%w, %x)
///                       %w_1 = weight() {name = "half.1.w"}
///                       %y = matmul(%w_1, %a) }
///
/// Steps of training, which accumulate gradients on the host, are left out.
///
/// A model returns its loss beside its logits, and takes the targets for it:
/// without them, the program is what applications run.
///
//===----------------------------------------------------------------------===//

#include "../Simplify/DeadOps.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace {

/// Appends ops of host functions to a kernel.
class Inliner {
public:
  Inliner(const Module &module, Function &to, PassContext &ctx)
      : module(module), builder(to), ctx(ctx) {}

  using Values = llvm::SmallVector<Value *, 8>;
  /// Appends the ops of `from`, which is applied to `arguments`; `instance` is
  /// that of its weights. Returns its results.
  Values add(const Function &from, llvm::ArrayRef<Value *> arguments,
             std::optional<int64_t> instance);

private:
  Values addRepeat(const Op &op, llvm::ArrayRef<Value *> in);
  Values addOp(const Op &op, llvm::ArrayRef<Value *> in,
               std::optional<int64_t> instance);
  Value *addNumber(int64_t number);
  Value *slice(Value *stack, int64_t turn);
  bool evaluate(const Op &op, llvm::ArrayRef<Value *> in, Values &results);

  const Module &module;
  Builder builder;
  PassContext &ctx;
  /// Integers of loops, which select instances.
  llvm::DenseMap<const Value *, int64_t> known;
  /// The parts of arrays that repeats collected.
  llvm::DenseMap<const Value *, Values> parts;
};

} // namespace

Value *Inliner::addNumber(int64_t number) {
  Value *value = builder.build(ops::Const, {},
                               Attr(param::val, Constant::int32(number)), "i");
  known[value] = number;
  return value;
}

/// Computes an integer of known ones.
bool Inliner::evaluate(const Op &op, llvm::ArrayRef<Value *> in,
                       Values &results) {
  const TensorType number(DType::Int32);
  if (op.numResults() != 1 || op.result()->type != number || !op.def().eval ||
      op.def().has(trait::SideEffect))
    return false;
  std::vector<RefTensor> operands;
  for (const Value *operand : in) {
    auto it = operand ? known.find(operand) : known.end();
    if (it == known.end())
      return false;
    operands.push_back({number, {double(it->second)}});
  }
  llvm::SmallVector<const RefTensor *, 2> views;
  for (const RefTensor &operand : operands)
    views.push_back(&operand);
  RefTensor result{number, {0}};
  EvalContext eval{op.def(), op.constants(), views, result};
  op.def().eval(eval);
  results = {addNumber(int64_t(result.data[0]))};
  return true;
}

/// Element `turn` of the first axis.
Value *Inliner::slice(Value *stack, int64_t turn) {
  if (auto it = parts.find(stack); it != parts.end())
    return it->second[size_t(turn)];
  Shape begin(stack->type.rank(), 0), size = stack->type.shape;
  begin[0] = turn;
  size[0] = 1;
  Value *part = builder.build(
      ops::SliceBySize, {stack},
      {Attr(param::begin, begin), Attr(param::size, size)}, stack->name);
  size.erase(size.begin());
  return builder.build(ops::Reshape, {part}, Attr(param::shape, size),
                       stack->name);
}

Inliner::Values Inliner::addRepeat(const Op &op, llvm::ArrayRef<Value *> in) {
  const Function &body = *module.findFunction(op.get(param::body));
  size_t carried = op.get(param::carried);
  size_t whole = in.size() - size_t(op.get(param::sliced));
  int64_t from = op.get(param::from), to = op.get(param::to);
  Values values(in.begin(), in.begin() + carried);
  std::vector<Values> collected(op.numResults() - carried,
                                Values(size_t(to - from)));
  for (int64_t turn = 0; turn < to - from; ++turn) {
    int64_t index = op.get(param::reverse) ? to - 1 - turn : from + turn;
    Values arguments = {addNumber(index)};
    for (size_t slot = 0; slot < in.size(); ++slot)
      arguments.push_back(slot < carried ? values[slot]
                          : slot < whole ? in[slot]
                                         : slice(in[slot], index - from));
    values = add(body, arguments, std::nullopt);
    for (size_t i = 0; i < collected.size(); ++i)
      collected[i][size_t(index - from)] = values[carried + i];
    values.resize(carried);
    ctx.count("turns");
  }
  builder.setRange(op.range());
  for (auto [i, list] : llvm::enumerate(collected)) {
    Value *stack = builder.build(ops::Stack, list, Attr(param::axis, 0),
                                 op.result(unsigned(carried + i))->name);
    parts[stack] = std::move(list);
    values.push_back(stack);
  }
  return values;
}

Inliner::Values Inliner::addOp(const Op &op, llvm::ArrayRef<Value *> in,
                               std::optional<int64_t> instance) {
  builder.setRange(op.range());
  auto instanceOf = [&]() -> std::optional<int64_t> {
    if (in.empty() || !in[0])
      return std::nullopt;
    auto it = known.find(in[0]);
    if (it != known.end())
      return it->second;
    ctx.diags.report(op.range(), diag::UnknownInstance, op.def().name);
    return std::nullopt;
  };
  if (op.is(ops::Repeat))
    return addRepeat(op, in);
  if (op.is(ops::Call)) {
    ctx.count("calls");
    return add(*module.findFunction(op.get(param::callee)), in.drop_front(),
               instanceOf());
  }
  Values results;
  if (op.is(ops::Weight)) {
    if (std::optional<int64_t> own = instanceOf())
      instance = own;
    llvm::SmallVector<ConstantRef, 5> constants(op.constants());
    constants[op.def().constantSlot(param::name)] =
        Constant::string(instanceName(op.get(param::name), instance));
    Op *made = builder.createWithSlots(op.def(), {nullptr}, constants,
                                       {op.result()->name});
    return {made->result()};
  }
  if (evaluate(op, in, results))
    return results;
  Op *made = copyOp(op, in);
  builder.getFunction().insert(made);
  if (op.is(ops::Const) && op.result()->type == TensorType(DType::Int32))
    known[made->result()] = op.constant(param::val)->intAt(0);
  llvm::append_range(results, made->resultValues());
  return results;
}

Inliner::Values Inliner::add(const Function &from,
                             llvm::ArrayRef<Value *> arguments,
                             std::optional<int64_t> instance) {
  ValueMap map;
  for (auto [param, argument] : llvm::zip_equal(from.parameters(), arguments))
    map[param.get()] = argument;
  for (const Op &op : from.body()) {
    Values in;
    for (const Value *operand : op.operandValues())
      in.push_back(operand ? map.lookup(operand) : nullptr);
    for (auto [old, now] :
         llvm::zip_equal(op.resultValues(), addOp(op, in, instance)))
      map[old] = now;
  }
  Values results;
  for (const Value *result : from.resultValues())
    results.push_back(map.lookup(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Drops the loss and the metrics of a model that has logits, and the
/// parameters that nothing uses then.
static void dropLoss(Function &function) {
  if (!function.resultOf(ValueRole::Logits))
    return;
  llvm::SmallVector<Value *, 2> values;
  llvm::SmallVector<llvm::StringRef, 2> names;
  llvm::SmallVector<ValueRole, 2> roles;
  std::vector<std::string> allNames = function.resultNames().vec();
  llvm::SmallVector<ValueRole, 2> allRoles(function.resultRoles());
  for (unsigned i = 0; i < function.numResults(); ++i) {
    if (allRoles[i] == ValueRole::Loss || allRoles[i] == ValueRole::Metric)
      continue;
    values.push_back(function.result(i));
    names.push_back(allNames[i]);
    roles.push_back(allRoles[i]);
  }
  function.setResults(values, names, roles);
  removeDeadOps(function);
  for (unsigned i = unsigned(function.parameters().size()); i-- > 0;) {
    const Value &param = *function.parameters()[i];
    if (!param.firstUse() && param.holder == Holder::Tensor)
      function.eraseParameter(i);
  }
}

/// The kernel that computes what `entry` does.
static std::unique_ptr<Function>
inlined(const Module &module, const Function &entry, PassContext &ctx) {
  auto kernel =
      std::make_unique<Function>(FunctionKind::Kernel, entry.name, entry.range);
  kernel->opset = entry.opset;
  kernel->role = entry.role;
  kernel->owner = entry.owner;
  Inliner inliner(module, *kernel, ctx);
  Inliner::Values arguments;
  for (const auto &param : entry.parameters()) {
    Value *copy = kernel->addParameter(param->type, param->name, param->role());
    copy->declared = param->declared;
    copy->holder = param->holder;
    copy->mask = param->mask;
    arguments.push_back(copy);
  }
  Inliner::Values results = inliner.add(entry, arguments, std::nullopt);
  std::vector<std::string> names = entry.resultNames().vec();
  llvm::SmallVector<llvm::StringRef, 2> views(names.begin(), names.end());
  kernel->setResults(results, views, entry.resultRoles());
  dropLoss(*kernel);
  ctx.count("entries");
  return kernel;
}

static bool inlineHost(Module &module, PassContext &ctx) {
  std::vector<std::unique_ptr<Function>> kernels;
  for (const auto &function : module.functions)
    if (function->isEntry() && function->role != FunctionRole::Train)
      kernels.push_back(inlined(module, *function, ctx));
  if (kernels.empty())
    return false;
  module.functions = std::move(kernels);
  return true;
}

constinit const PassDef passes::InlineHost = {
    .name = "inline-host",
    .summary = "Make one kernel of each entry of a model, with all that it "
               "calls and repeats",
    .description =
        "host @m(%x) { repeat(%x) {body = \"m.body\", from = 0, to = 2} }\n"
        "  ==>  kernel @m(%x) { the body for 0, then the body for 1 }",
    .stats = {{{"entries", "entries that became kernels"},
               {"calls", "calls replaced by what they call"},
               {"turns", "iterations of repeats"}}},
    .tolerance = 0,
    .changesInterface = true,
    .needs = Need::Bodies,
    .runOnModule = inlineHost,
};
