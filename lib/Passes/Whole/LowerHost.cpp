//===- LowerHost.cpp - host ops as MIL ops --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Programs that decode have ops that anec's host computes, and MIL lacks:
///
///   %c, %s = rope_table(%position) {count = 4}
///   ==> rows %position .. %position + 3 of constant tables, by gather
///
///   update_state(%cache, %rows, %position)
///   ==> write_state(%cache, slice_update(read_state(%cache), %rows, ...))
///
/// The position, a number, becomes a list of one: inputs of Core ML have axes.
/// `slice_update` moves rows that do not fit: unlike in `update_state`, the
/// block must end within the cache.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Rope.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// As `rope` and `rope_table` have them at most.
static constexpr int64_t mostAngles = int64_t(1) << 26;

static bool isNumber(const Value *value) { return value->type.rank() == 0; }

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// The cosines and sines of all positions of a context, each [context, width].
struct RotaryTables {
  llvm::SmallVector<ConstantRef, 8> key; ///< the constants of the op
  ConstantRef cosines, sines;
};

/// Rewrites the host functions of a module. Functions with equal tables share
/// their bytes, and so a record of a weight file.
class HostLowering {
public:
  HostLowering(Module &module, PassContext &ctx) : module(module), ctx(ctx) {}
  bool run();

private:
  bool lower(Function &function);
  bool lowerTable(Op &op, int64_t context);
  bool lowerUpdate(Op &op);
  const RotaryTables &tablesFor(const Op &op, int64_t context);
  bool refuse(const Op &op, const Value &position);

  Module &module;
  PassContext &ctx;
  std::vector<RotaryTables> tables;
};

} // namespace

/// [1, width, context] -> [context, width]
static ConstantRef rowsOf(const RefTensor &table) {
  int64_t width = table.type.shape[1], context = table.type.shape[2];
  std::vector<double> rows(table.data.size());
  for (int64_t channel = 0; channel < width; ++channel)
    for (int64_t position = 0; position < context; ++position)
      rows[size_t(position * width + channel)] =
          table.data[size_t(channel * context + position)];
  return Constant::fromDoubles(TensorType(table.type.dtype, {context, width}),
                               rows);
}

const RotaryTables &HostLowering::tablesFor(const Op &op, int64_t context) {
  llvm::SmallVector<ConstantRef, 8> constants(op.constants());
  constants[op.def().constantSlot(param::count)] = Constant::int32(context);
  for (const RotaryTables &known : tables)
    if (equalConstants(known.key, constants))
      return known;
  RefTensor first{TensorType(DType::Int32), {0}};
  const RefTensor *operand = &first;
  TensorType type = op.result(0)->type;
  type.shape.back() = context;
  std::vector<double> zeros(size_t(type.numElements()));
  std::vector<RefTensor> results = {{type, zeros}, {type, zeros}};
  EvalContext eval{op.def(), constants, operand, results};
  op.def().eval(eval);
  tables.push_back({constants, rowsOf(results[0]), rowsOf(results[1])});
  return tables.back();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static Value *constant(Builder &builder, ConstantRef value,
                       llvm::StringRef name) {
  return builder.build(ops::Const, {}, Attr(param::val, std::move(value)),
                       name);
}

bool HostLowering::refuse(const Op &op, const Value &position) {
  ctx.diags.report(op.range(), diag::SeveralTexts, op.def().name, position.name,
                   position.type.str());
  return false;
}

bool HostLowering::lowerTable(Op &op, int64_t context) {
  Value *position = op.operand(0u);
  if (!isNumber(position))
    return refuse(op, *position);
  context = std::max(context, op.get(param::count));
  if (op.get(param::width) / 2 > mostAngles / context) {
    ctx.diags.report(op.range(), diag::LongTable, op.def().name, context,
                     mostAngles);
    return false;
  }
  const RotaryTables &all = tablesFor(op, context);
  Builder builder(*op.parent());
  builder.setInsertionPoint(&op);
  int64_t count = op.get(param::count), width = op.get(param::width);
  std::vector<double> steps(static_cast<size_t>(count));
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i] = double(i);
  Value *offsets = constant(
      builder, Constant::fromDoubles(TensorType(DType::Int32, {count}), steps),
      "offsets");
  Value *index = builder.build(ops::Add, {position, offsets}, {}, "index");
  for (unsigned i = 0; i < 2; ++i) {
    std::string name = op.result(i)->name;
    Value *table = constant(builder, i ? all.sines : all.cosines, name);
    Value *rows = builder.build(ops::Gather, {table, index},
                                Attr(param::axis, 0), name + "_rows");
    Value *columns = builder.build(
        ops::Transpose, {rows},
        Attr(param::perm, llvm::ArrayRef<int64_t>{1, 0}), name + "_columns");
    op.result(i)->replaceAllUsesWith(
        builder.build(ops::Reshape, {columns},
                      Attr(param::shape, Shape{1, width, count}), name));
  }
  op.erase();
  ctx.count("tables");
  return true;
}

/// The position, a number so far, as a list of one.
static Value *listed(Builder &builder, Value *position) {
  return builder.build(ops::Reshape, {position}, Attr(param::shape, Shape{1}),
                       "slot");
}

/// What `state` holds before `op`.
static Value *contents(Builder &builder, Value *state, const Op &op) {
  for (const Operand *use = state->firstUse(); use; use = use->nextUse())
    if (use->owner() && use->owner()->is(ops::ReadState) &&
        use->owner()->position() < op.position())
      return use->owner()->result();
  return builder.build(ops::ReadState, {state}, {}, state->name);
}

bool HostLowering::lowerUpdate(Op &op) {
  Value *state = op.operand(param::input), *rows = op.operand(param::data),
        *position = op.operand(param::position);
  if (!isNumber(position) || op.get(param::groups) != 1)
    return refuse(op, *position);
  Builder builder(*op.parent());
  builder.setInsertionPoint(&op);
  Value *before = contents(builder, state, op);
  Shape size = rows->type.shape;
  Value *last = listed(builder, position);
  Value *begin = last;
  if (size.size() > 1) {
    Shape zeros(size.size() - 1, 0);
    begin = builder.build(
        ops::Concat,
        {constant(builder, Constant::int32s(zeros), "first"), last},
        Attr(param::axis, 0), "begin");
  }
  Value *end = builder.build(
      ops::Add, {begin, constant(builder, Constant::int32s(size), "size")}, {},
      "end");
  Value *after = builder.build(ops::SliceUpdate, {before, rows, begin, end}, {},
                               state->name + "_new");
  builder.create(ops::WriteState, {state, after});
  op.erase();
  ctx.count("states");
  return true;
}

/// Makes the position a list. Where it is broadcast, that makes no difference;
/// other ops see the number in it.
static void listPosition(Function &function) {
  Value *position = function.parameterOf(ValueRole::Position);
  if (!position || !isNumber(position))
    return;
  llvm::SmallVector<Operand *, 8> others;
  for (Operand *use = position->firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user ||
        (!user->is(ops::Reshape) &&
         (!user->def().has(trait::Elementwise) || isNumber(user->result()))))
      others.push_back(use);
  }
  position->type.shape = {1};
  if (others.empty())
    return;
  Builder builder(function);
  builder.setInsertionPoint(function.body().empty() ? nullptr
                                                    : &function.body().front());
  Value *number = builder.build(ops::Squeeze, {position},
                                Attr(param::axes, Shape{0}), position->name);
  for (Operand *use : others)
    use->set(number);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool HostLowering::lower(Function &function) {
  // The positions that a text can have.
  int64_t context = 0;
  for (const auto &param : function.parameters())
    if (param->holder == Holder::State && param->type.rank() > 0)
      context = std::max(context, param->type.shape.back());
  bool ok = true;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (op.is(ops::RopeTable))
      ok &= lowerTable(op, context ? context : op.get(param::positions));
    else if (op.is(ops::UpdateState))
      ok &= lowerUpdate(op);
  }
  if (ok)
    listPosition(function);
  return ok;
}

bool HostLowering::run() {
  bool ok = true;
  for (const auto &function : module.functions)
    if (function->isEntry())
      ok &= lower(*function);
  return ok;
}

static bool lowerHost(Module &module, PassContext &ctx) {
  return HostLowering(module, ctx).run();
}

constinit const PassDef passes::LowerHost = {
    .name = "lower-host",
    .summary = "Rewrite ops of the host, which MIL lacks, as MIL ops",
    .description =
        "update_state(%cache, %rows, %position)\n"
        "  ==>  write_state(%cache, slice_update(read_state(%cache), %rows, "
        "begin, end))\n"
        "%cosines, %sines = rope_table(%position)\n"
        "  ==>  gather of constant tables of all positions",
    .stats = {{{"tables", "rotary tables that became constants"},
               {"states", "updates of states"}}},
    .tolerance = 0,
    .changesInterface = true,
    .needs = Need::Bodies,
    .runOnModule = lowerHost,
};
