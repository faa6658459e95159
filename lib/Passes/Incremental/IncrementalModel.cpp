//===- IncrementalModel.cpp - derives the programs of a model -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "IncrementalModel.h"
#include "../Simplify/DeadOps.h"
#include "FunctionDeriver.h"
#include "anec/Ops/HiddenScore.h"
#include "anec/Passes/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include <tuple>

using namespace anec;

//===----------------------------------------------------------------------===//
// Values of the position
//===----------------------------------------------------------------------===//

bool PositionValue::operator==(const PositionValue &other) const {
  if (kind != other.kind || type != other.type || window != other.window)
    return false;
  return !rope || equalConstants(rope->constants(), other.rope->constants());
}

llvm::StringRef PositionValue::name() const {
  switch (kind) {
  case Index:
    return "index";
  case Mask:
    return "mask";
  case BlockMask:
    return "block_mask";
  case Cosines:
    return "cosines";
  case Sines:
    return "sines";
  }
  llvm_unreachable("a kind");
}

//===----------------------------------------------------------------------===//
// Layers and bodies
//===----------------------------------------------------------------------===//

bool IncrementalModel::Key::operator<(const Key &other) const {
  auto tied = [](const Key &key) {
    std::vector<int64_t> numbers = {key.count, key.context};
    for (PositionAxis axis : key.axes)
      numbers.push_back(axis ? int64_t(*axis) : -1);
    return std::tuple(llvm::StringRef(key.function->name), numbers,
                      llvm::StringRef(key.model));
  };
  return tied(*this) < tied(other);
}

std::string IncrementalModel::uniqueName(const std::string &wanted) const {
  std::string name = wanted;
  for (unsigned suffix = 1; module.findFunction(name); ++suffix)
    name = wanted + "_" + std::to_string(suffix);
  return name;
}

bool IncrementalModel::usesPositions(const Op &op) {
  if (op.is(ops::Sdpa) || op.is(ops::Rope))
    return true;
  bool calls = op.def().has(trait::Call);
  if (!calls && !op.is(ops::Repeat))
    return false;
  const Function *applied =
      module.findFunction(calls ? op.get(param::callee) : op.get(param::body));
  if (auto known = positionUsers.find(applied); known != positionUsers.end())
    return known->second;
  bool uses = llvm::any_of(
      applied->body(), [&](const Op &inner) { return usesPositions(inner); });
  return positionUsers[applied] = uses;
}

/// Adds the parameters of `from` to `to`, at `count` positions.
static void addParameters(const Function &from, Function &to,
                          llvm::ArrayRef<PositionAxis> axes, int64_t count,
                          FunctionDeriver &deriver) {
  for (auto [param, axis] : llvm::zip_equal(from.parameters(), axes)) {
    TensorType type = param->type;
    if (axis)
      type.shape[*axis] = count;
    Value *added = to.addParameter(type, param->name, param->role());
    added->declared = param->declared;
    deriver.set(param.get(), added, axis);
  }
}

/// Puts the values of the position before the slices, and the caches last.
static void orderParameters(Function &to, size_t originals, size_t sliced,
                            const FunctionDeriver &deriver) {
  llvm::SmallVector<unsigned, 8> order;
  for (size_t i = 0; i < originals - sliced; ++i)
    order.push_back(unsigned(i));
  for (const Value *value : deriver.valueParameters)
    order.push_back(value->index());
  for (size_t i = originals - sliced; i < originals; ++i)
    order.push_back(unsigned(i));
  for (const Value *cache : deriver.cacheParameters)
    order.push_back(cache->index());
  to.orderParameters(order);
}

/// The results of `from`, then the new rows of the caches.
static void setResults(const Function &from, Function &to,
                       llvm::ArrayRef<Value *> results,
                       const FunctionDeriver &deriver) {
  llvm::SmallVector<Value *, 8> values(results);
  std::vector<std::string> names = from.resultNames().vec();
  NameSet taken;
  for (llvm::StringRef name : names)
    taken.unique(name);
  for (auto [rows, cache] :
       llvm::zip_equal(deriver.rows, deriver.cacheParameters)) {
    values.push_back(rows);
    llvm::StringRef stem = cache->name;
    stem.consume_back("_cache");
    names.push_back(taken.unique((stem + "_new").str()).str());
  }
  llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
  to.setResults(values, views);
}

const DerivedFunction &
IncrementalModel::derive(const Function &function,
                         llvm::ArrayRef<PositionAxis> axes, int64_t count,
                         size_t sliced) {
  bool isBody = function.kind == FunctionKind::Host;
  Key key{&function,
          {axes.begin(), axes.end()},
          count,
          0,
          isBody ? model : std::string()};
  if (auto known = derived.find(key); known != derived.end())
    return known->second;
  key.context = program.context;
  if (auto known = derived.find(key); known != derived.end())
    return known->second;

  auto made =
      std::make_unique<Function>(function.kind, function.name, function.range);
  made->opset = function.opset;
  made->setRole(isBody ? FunctionRole::Body : FunctionRole::Decode,
                isBody ? model : function.of().str());
  FunctionDeriver deriver(*this, *made);
  addParameters(function, *made, axes, count, deriver);
  for (const Op &op : function.body())
    if (!deriver.derive(op, count))
      return derived[key];
  DerivedFunction result;
  llvm::SmallVector<Value *, 4> results;
  for (const Value *value : function.resultValues()) {
    results.push_back(deriver.valueOf(value));
    result.results.push_back(deriver.axisOf(value));
  }
  setResults(function, *made, results, deriver);
  orderParameters(*made, function.parameters().size(), sliced, deriver);
  removeDeadOps(*made);
  result.values = std::move(deriver.values);
  result.caches = std::move(deriver.caches);
  bool isOfContext =
      !result.caches.empty() ||
      llvm::any_of(result.values, [](const PositionValue &value) {
        return value.kind == PositionValue::Mask;
      });
  std::string name = function.name + ".decode" + std::to_string(count);
  if (isOfContext)
    name += ".c" + std::to_string(program.context);
  else
    key.context = 0;
  made->name = uniqueName(name);
  result.function = made.get();
  module.functions.push_back(std::move(made));
  ctx.count("functions");
  return derived[key] = std::move(result);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {

/// Derives the model itself, which computes the values of the position, has
/// the caches as states, and gives logits of the wanted positions only.
class ModelDeriver : public FunctionDeriver {
public:
  ModelDeriver(IncrementalModel &owner, Function &to)
      : FunctionDeriver(owner, to) {
    position = nullptr;
  }

  void addInputs(const Value &tokens);
  void updateStates();

protected:
  Value *operand(const Value *original, int64_t count) override;
  Value *positionValue(const PositionValue &wanted) override;
  Value *cache(const TensorType &type, llvm::StringRef name) override;

private:
  Value *build(const PositionValue &wanted);
  Value *index(int64_t count);
  Value *mask(const PositionValue &wanted);
  Value *blockMask(const PositionValue &wanted);
  Value *inWindow(Value *seen, Value *keys, Value *queries, int64_t window);
  Value *hide(Value *seen, const PositionValue &wanted, llvm::StringRef name);
  Value *ropeTable(const PositionValue &wanted);
  Value *at(Value *value, unsigned axis) {
    return builder.build(ops::Gather, {value, wantedIndices},
                         Attr(param::axis, int64_t(axis)), value->name);
  }
  static ConstantRef numbers(llvm::ArrayRef<int64_t> shape) {
    std::vector<double> elements(TensorType(DType::Int32, shape).numElements());
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = double(i);
    return Constant::fromDoubles(TensorType(DType::Int32, shape), elements);
  }

  Value *position, *wantedIndices = nullptr;
  std::vector<Value *> states;
  llvm::DenseMap<const Value *, Value *> wantedParts;
  NameSet names;
};

} // namespace

void ModelDeriver::addInputs(const Value &tokens) {
  const DecodeProgram &program = owner.program;
  TensorType type = tokens.type;
  type.shape.back() = program.block;
  Value *input = to.addParameter(type, names.unique(tokens.name));
  input->declared = tokens.declared;
  set(&tokens, input, type.rank() - 1);
  position = to.addParameter(DType::Int32, names.unique("position"),
                             ValueRole::Position);
  position->declared = tokens.declared;
  if (program.wanted == program.block)
    return;
  wantedIndices = to.addParameter(TensorType(DType::Int32, {program.wanted}),
                                  names.unique("wanted"), ValueRole::Wanted);
  wantedIndices->declared = tokens.declared;
}

/// The operand at the wanted positions, where only these are computed.
Value *ModelDeriver::operand(const Value *original, int64_t count) {
  Value *value = FunctionDeriver::operand(original, count);
  PositionAxis axis = axisOf(original);
  if (!axis || value->type.shape[*axis] == count)
    return value;
  Value *&part = wantedParts[original];
  if (!part)
    part = at(value, *axis);
  return part;
}

Value *ModelDeriver::positionValue(const PositionValue &wanted) {
  auto known = llvm::find(values, wanted);
  if (known != values.end())
    return valueParameters[size_t(known - values.begin())];
  Value *value = build(wanted);
  values.push_back(wanted);
  valueParameters.push_back(value);
  return value;
}

Value *ModelDeriver::index(int64_t count) {
  int64_t block = owner.program.block;
  if (count != block)
    return at(positionValue(
                  {PositionValue::Index, TensorType(DType::Int32, {block})}),
              0);
  Value *offsets = addConstant(numbers({block}), "offsets");
  return builder.build(ops::Add, {position, offsets}, {}, "index");
}

/// `seen`, where the key is less than `window` positions before the query.
Value *ModelDeriver::inWindow(Value *seen, Value *keys, Value *queries,
                              int64_t window) {
  Value *length = addConstant(Constant::int32(window), "window");
  Value *before =
      builder.build(ops::Sub, {queries, length}, {}, "before_window");
  Value *isNear = builder.build(ops::Greater, {keys, before}, {}, "near");
  return builder.build(ops::LogicalAnd, {seen, isNear}, {}, "seen");
}

/// The mask that leaves what is seen.
Value *ModelDeriver::hide(Value *seen, const PositionValue &wanted,
                          llvm::StringRef name) {
  DType dtype = wanted.type.dtype;
  Value *shown =
      addConstant(Constant::scalar(dtype, shownScore(dtype)), "shown");
  Value *hidden =
      addConstant(Constant::scalar(dtype, hiddenScore(dtype)), "hidden");
  return builder.build(ops::Select, {seen, shown, hidden}, {}, name);
}

/// Shows where a position of the block sees what is cached: what was read
/// before it, and is inside of the window.
Value *ModelDeriver::mask(const PositionValue &wanted) {
  int64_t block = owner.program.block, context = owner.program.context;
  Value *slots = addConstant(numbers({1, context}), "slots");
  Value *seen = builder.build(ops::Less, {slots, position}, {}, "cached");
  if (wanted.window != 0) {
    Value *queries =
        builder.build(ops::Reshape,
                      {positionValue({PositionValue::Index,
                                      TensorType(DType::Int32, {block})})},
                      Attr(param::shape, Shape{block, 1}), "queries");
    seen = inWindow(seen, slots, queries, wanted.window);
  }
  return hide(seen, wanted, "mask");
}

/// Shows where a position of the block sees an earlier one, or itself. Computed
/// from the positions: a constant would become one of each kernel.
Value *ModelDeriver::blockMask(const PositionValue &wanted) {
  int64_t block = wanted.type.shape[0];
  Value *all =
      positionValue({PositionValue::Index, TensorType(DType::Int32, {block})});
  auto shaped = [&](Shape shape, llvm::StringRef name) {
    return builder.build(ops::Reshape, {all}, Attr(param::shape, shape), name);
  };
  Value *keys = shaped({1, block}, "keys");
  Value *queries = shaped({block, 1}, "queries");
  Value *seen = builder.build(ops::LessEqual, {keys, queries}, {}, "seen");
  if (wanted.window != 0)
    seen = inWindow(seen, keys, queries, wanted.window);
  return hide(seen, wanted, "block_mask");
}

/// Both tables are results of one op.
Value *ModelDeriver::ropeTable(const PositionValue &wanted) {
  PositionValue other = wanted;
  bool isSines = wanted.kind == PositionValue::Sines;
  other.kind = isSines ? PositionValue::Cosines : PositionValue::Sines;
  if (auto known = llvm::find(values, other); known != values.end())
    return valueParameters[size_t(known - values.begin())]
        ->definingOp()
        ->result(isSines);
  llvm::SmallVector<Attr, 8> attrs =
      sharedConstants(*wanted.rope, ops::RopeTable);
  // What the scaling is for, and so the angles, do not depend on the block.
  if (wanted.rope->get(param::positions) == 0)
    attrs.emplace_back(param::positions, owner.program.context);
  attrs.emplace_back(param::width, wanted.type.shape[1]);
  attrs.emplace_back(param::count, wanted.type.shape[2]);
  attrs.emplace_back(param::dtype, spelling(wanted.type.dtype));
  Op *table = builder.create(ops::RopeTable, {position}, attrs);
  table->result(0)->name = "cosines";
  table->result(1)->name = "sines";
  return table->result(isSines);
}

Value *ModelDeriver::build(const PositionValue &wanted) {
  switch (wanted.kind) {
  case PositionValue::Index:
    return index(wanted.type.shape[0]);
  case PositionValue::Mask:
    return mask(wanted);
  case PositionValue::BlockMask:
    return blockMask(wanted);
  case PositionValue::Cosines:
  case PositionValue::Sines:
    return ropeTable(wanted);
  }
  llvm_unreachable("a kind");
}

Value *ModelDeriver::cache(const TensorType &type, llvm::StringRef name) {
  Value *state = to.addParameter(type, names.unique(name), ValueRole::State);
  state->holder = Holder::State;
  states.push_back(state);
  return builder.build(ops::ReadState, {state}, {}, name);
}

void ModelDeriver::updateStates() {
  for (auto [state, rows] : llvm::zip_equal(states, rows))
    builder.create(ops::UpdateState, {state, rows, position});
}

namespace {

/// The ops of a model that its logits depend on, and those of them that are
/// computed for the wanted positions alone.
struct LogitsCone {
  LogitsCone(const Function &model, const Value &logits,
             IncrementalModel &owner) {
    llvm::DenseSet<const Value *> needed = {&logits}, leading;
    for (const Op &op : llvm::reverse(model.body())) {
      bool isNeeded = false, leads = owner.usesPositions(op);
      for (const Value *result : op.resultValues()) {
        isNeeded |= needed.contains(result);
        leads |= leading.contains(result);
      }
      if (!isNeeded)
        continue;
      ops.insert(&op);
      if (!leads)
        tail.insert(&op);
      for (const Value *operand : op.operandValues())
        if (operand) {
          needed.insert(operand);
          if (leads)
            leading.insert(operand);
        }
    }
  }
  llvm::DenseSet<const Op *> ops, tail;
};

} // namespace

bool IncrementalModel::derive(const Function &function, const Value &tokens,
                              const Value &logits,
                              const DecodeProgram &wanted) {
  program = wanted;
  model = function.of().str();
  modelPositions = tokens.type.shape.back();
  auto made = std::make_unique<Function>(FunctionKind::Host, function.name,
                                         function.range);
  made->setRole(program.role, model);
  ModelDeriver deriver(*this, *made);
  deriver.addInputs(tokens);
  LogitsCone cone(function, logits, *this);
  for (const Op &op : function.body())
    if (cone.ops.contains(&op) &&
        !deriver.derive(op, cone.tail.contains(&op) ? program.wanted
                                                    : program.block))
      return false;
  if (!deriver.axisOf(&logits)) {
    ctx.diags.report(function.range, diag::LogitsNeeded, model,
                     "its logits do not depend on its tokens");
    return false;
  }
  deriver.updateStates();
  made->setResults({deriver.valueOf(&logits)}, {"logits"}, {ValueRole::Logits});
  removeDeadOps(*made);
  made->name = uniqueName(function.name + "." + spelling(program.role).str() +
                          std::to_string(program.block) + ".c" +
                          std::to_string(program.context));
  module.functions.push_back(std::move(made));
  ctx.count("programs");
  return true;
}
