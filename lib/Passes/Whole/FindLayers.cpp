//===- FindLayers.cpp - the repeated layers of a program ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Exporters write a network op by op: its twelve layers are twelve times the
/// same ops with other weights. This pass finds them in a layer that a model
/// calls once, so that one set of kernels serves all:
///
///   layer @main(%x) { %w = weight() {name = "h.0.w"}; %a = matmul(%w, %x)
///                     %v = weight() {name = "h.1.w"}; %y = matmul(%v, %a) }
///   ==> layer @h(%x) { %w = weight() {name = "h.{0..1}.w"}
///                      %y = matmul(%w, %x) }
///       host @model.repeat0(%i, %x) { %y = call @h[%i](%x) }
///
/// A model whose layers only pass one value on repeats them; others are called
/// one by one. What comes before, between and behind them becomes layers of its
/// own.
///
//===----------------------------------------------------------------------===//

#include "LayerChain.h"
#include "RepeatedOps.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Calls.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Random.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;

namespace {

/// Replaces the only call of a layer by calls of its parts.
class LayerFinder {
public:
  LayerFinder(Module &module, Function &host, Op &call, Function &whole,
              PassContext &ctx)
      : module(module), host(host), call(call), whole(whole), order(whole),
        ctx(ctx), builder(host) {
    builder.setInsertionPoint(&call);
  }

  /// Returns false, with nothing changed, when nothing repeats.
  bool run();

private:
  void find(size_t begin, size_t end);
  void addPiece(size_t begin, size_t end);
  void addRepeated(const RepeatedOps &repeated);
  void addCalls(const RepeatedOps &repeated, const Function &layer);
  bool addRepeat(const RepeatedOps &repeated, const Function &layer);

  /// The argument that an operand of a layer is; nothing for values of its own.
  using ArgumentOf =
      llvm::function_ref<std::optional<unsigned>(const Op &op, unsigned slot)>;
  /// The layer of `ops`. `arguments` are those of one of its calls.
  Function *makeLayer(llvm::StringRef name, llvm::ArrayRef<Op *> ops,
                      llvm::ArrayRef<Value *> arguments,
                      llvm::ArrayRef<Value *> results, ArgumentOf argumentOf);
  Op *callLayer(Builder &builder, const Function &layer, Value *instance,
                llvm::ArrayRef<Value *> arguments);
  /// The value in the host of one in the whole layer; computes there what
  /// depends on no input.
  Value *inHost(const Value *value);
  void addToHost(Op &op);
  std::string uniqueName(llvm::StringRef wanted) const;

  Module &module;
  Function &host;
  Op &call;
  Function &whole;
  LayerOrder order;
  PassContext &ctx;
  Builder builder;
  std::vector<RepeatedOps> found;
  llvm::DenseSet<const Op *> onHost; ///< ops that were copied to the host
  ValueMap map;
  size_t budget = searchBudget;
  unsigned repeats = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values and functions
//===----------------------------------------------------------------------===//

Value *LayerFinder::inHost(const Value *value) {
  if (Value *known = map.lookup(value))
    return known;
  Op &op = *value->definingOp();
  assert(!order.dependsOnInputs(op) && "computed by a part further down");
  addToHost(op);
  return map.lookup(value);
}

void LayerFinder::addToHost(Op &op) {
  std::vector<Op *> ops;
  order.addWithParameters(op, onHost, ops);
  for (const Op *each : ops)
    cloneOp(*each, host, map, &call);
}

std::string LayerFinder::uniqueName(llvm::StringRef wanted) const {
  std::string name = wanted.str();
  for (unsigned number = 2; module.findFunction(name); ++number)
    name = wanted.str() + "_" + std::to_string(number);
  return name;
}

Function *LayerFinder::makeLayer(llvm::StringRef name, llvm::ArrayRef<Op *> ops,
                                 llvm::ArrayRef<Value *> arguments,
                                 llvm::ArrayRef<Value *> results,
                                 ArgumentOf argumentOf) {
  Function *layer =
      module.addFunction(FunctionKind::Layer, uniqueName(name), call.range());
  layer->opset = whole.opset;
  ValueMap inLayer;
  NameSet names;
  for (const Value *argument : arguments)
    layer->addParameter(argument->type, names.unique(sanitizeName(
                                            displayName(*argument), "x")));
  for (const Op *op : ops) {
    llvm::SmallVector<Value *, 4> operands = op->operandValues();
    for (unsigned slot = 0; slot < operands.size(); ++slot) {
      if (!operands[slot])
        continue;
      std::optional<unsigned> argument = argumentOf(*op, slot);
      operands[slot] = argument ? layer->parameters()[*argument].get()
                                : inLayer.lookup(operands[slot]);
    }
    Op *copy = copyOp(*op, operands);
    layer->insert(copy);
    for (auto [old, now] :
         llvm::zip_equal(op->resultValues(), copy->resultValues()))
      inLayer[old] = now;
  }
  llvm::SmallVector<Value *, 4> values;
  std::vector<std::string> own;
  for (const Value *result : results) {
    values.push_back(inLayer.lookup(result));
    own.push_back(
        names.unique(sanitizeName(displayName(*result), "output")).str());
  }
  llvm::SmallVector<llvm::StringRef, 4> views(own.begin(), own.end());
  layer->setResults(values, views);
  return layer;
}

Op *LayerFinder::callLayer(Builder &builder, const Function &layer,
                           Value *instance, llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<Value *, 8> operands = {instance};
  llvm::append_range(operands, arguments);
  return buildCall(builder, layer, operands);
}

//===----------------------------------------------------------------------===//
// Pieces between repeated layers
//===----------------------------------------------------------------------===//

/// Whether the ops multiply by no matrix, and are too few for a kernel.
static bool isSmall(llvm::ArrayRef<Op *> ops) {
  auto multiplies = [](const Op *op) {
    if (op->is(ops::Gather) || op->is(ops::Embed))
      return false;
    return llvm::any_of(op->operandValues(), [](const Value *operand) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      return def && def->is(ops::Weight) && def->result()->type.rank() >= 2;
    });
  };
  return ops.size() <= 4 && llvm::none_of(ops, multiplies);
}

void LayerFinder::addPiece(size_t begin, size_t end) {
  llvm::ArrayRef<Op *> active = order.ops().slice(begin, end - begin);
  if (isSmall(active)) {
    for (Op *op : active)
      addToHost(*op);
    return;
  }
  std::vector<Op *> ops = order.withParameters(begin, end);
  llvm::DenseSet<const Op *> inside(ops.begin(), ops.end());
  llvm::SetVector<Value *> arguments;
  std::vector<Value *> results;
  for (Op *op : ops) {
    for (Value *operand : op->operandValues())
      if (operand &&
          (!operand->definingOp() || !inside.contains(operand->definingOp())))
        arguments.insert(operand);
    if (!order.dependsOnInputs(*op))
      continue;
    for (Value *value : op->resultValues())
      for (const Operand *use = value->firstUse(); use; use = use->nextUse())
        if (!use->owner() || !inside.contains(use->owner())) {
          results.push_back(value);
          break;
        }
  }
  llvm::StringRef name = begin == 0                  ? "stem"
                         : end == order.ops().size() ? "head"
                                                     : "part";
  Function *layer =
      makeLayer(name, ops, arguments.getArrayRef(), results,
                [&](const Op &op, unsigned slot) -> std::optional<unsigned> {
                  auto it = llvm::find(arguments, op.operand(slot));
                  if (it == arguments.end())
                    return std::nullopt;
                  return unsigned(it - arguments.begin());
                });
  llvm::SmallVector<Value *, 8> given;
  for (const Value *argument : arguments)
    given.push_back(inHost(argument));
  Op *made = callLayer(builder, *layer, nullptr, given);
  for (auto [old, now] : llvm::zip_equal(results, made->resultValues()))
    map[old] = now;
}

//===----------------------------------------------------------------------===//
// Repeated layers
//===----------------------------------------------------------------------===//

/// Whether the name of a weight begins with the path of a module.
static bool isInModule(llvm::StringRef weight) {
  return weight.take_front(weight.find('{')).contains('.');
}

/// `h` of `transformer.h.{0..11}.ln_1.weight`, `features_5` of
/// `features.5.{0..3}.norm.bias`.
static std::string moduleOf(llvm::StringRef weight) {
  constexpr size_t mostCharacters = 40;
  llvm::StringRef before = weight.take_front(weight.find('{')).rtrim("._:/");
  llvm::StringRef last = memberOf(before);
  bool isNumber = llvm::all_of(last, llvm::isDigit);
  if (isNumber && before.size() > last.size() + 1)
    last = before.take_back(last.size() + 1 +
                            memberOf(before.drop_back(last.size() + 1)).size());
  return sanitizeName(last.take_back(mostCharacters), "layer");
}

/// The module that most weights of a layer belong to, the first of several.
/// Names that have no path, as exporters invent, say less than those that do.
static std::string layerName(llvm::ArrayRef<std::string> weights) {
  bool anyPath = llvm::any_of(
      weights, [](const std::string &name) { return isInModule(name); });
  llvm::StringMap<unsigned> votes;
  std::string best = "layer";
  unsigned most = 0;
  for (bool counts : {true, false})
    for (const std::string &name : weights) {
      if (anyPath && !isInModule(name))
        continue;
      std::string module = moduleOf(name);
      unsigned &number = votes[module];
      if (counts)
        ++number;
      else if (number > most)
        std::tie(most, best) = std::pair(number, module);
    }
  return best;
}

/// `ln_1_weight` of `transformer.h.{0..11}.ln_1.weight`, `MatMul` of
/// `MatMul_{131,155}`.
static std::string ownName(llvm::StringRef weight) {
  llvm::StringRef after = weight.substr(weight.find('}') + 1).ltrim("._:/");
  return after.empty() ? moduleOf(weight) : sanitizeName(after, "weight");
}

void LayerFinder::addRepeated(const RepeatedOps &repeated) {
  const std::vector<Op *> &first = repeated.parts.front();
  std::vector<Op *> ops;
  std::vector<std::string> names;
  for (auto [place, op] : llvm::enumerate(first)) {
    PartOp kind = repeated.kinds[place];
    if (kind == PartOp::Copied || kind == PartOp::Weight)
      ops.push_back(op);
    if (kind != PartOp::Weight)
      continue;
    std::vector<llvm::StringRef> arrays;
    for (const std::vector<Op *> &part : repeated.parts)
      arrays.push_back(part[place]->get(param::name));
    names.push_back(listInstances(arrays));
  }
  std::vector<Value *> arguments, results;
  for (const std::vector<Value *> &values : repeated.arguments)
    arguments.push_back(values.front());
  for (const std::vector<Value *> &values : repeated.results)
    results.push_back(values.front());
  Function *layer =
      makeLayer(layerName(names), ops, arguments, results,
                [&](const Op &op, unsigned slot) -> std::optional<unsigned> {
                  auto it = repeated.argumentOf.find({&op, slot});
                  if (it == repeated.argumentOf.end())
                    return std::nullopt;
                  return it->second;
                });
  auto next = names.begin();
  if (repeated.hasInstances)
    for (Op &op : layer->body())
      if (op.is(ops::Weight)) {
        op.result()->name = ownName(*next);
        op.setConstant(param::name, Constant::string(*next++));
      }
  ctx.remark(call.range(), diag::LayerFound, layer->name,
             int64_t(repeated.count()), int64_t(repeated.period));
  ctx.count("layers");
  ctx.count("instances", repeated.count());
  if (!addRepeat(repeated, *layer))
    addCalls(repeated, *layer);
}

void LayerFinder::addCalls(const RepeatedOps &repeated, const Function &layer) {
  for (size_t part = 0; part < repeated.count(); ++part) {
    Value *instance =
        repeated.hasInstances
            ? builder.build(ops::Const, {},
                            Attr(param::val, Constant::int32(int64_t(part))))
            : nullptr;
    llvm::SmallVector<Value *, 8> given;
    for (const std::vector<Value *> &values : repeated.arguments)
      given.push_back(inHost(values[part]));
    Op *made = callLayer(builder, layer, instance, given);
    for (auto [values, now] :
         llvm::zip_equal(repeated.results, made->resultValues()))
      map[values[part]] = now;
  }
}

/// Returns false, with nothing added, when the parts are not a chain.
bool LayerFinder::addRepeat(const RepeatedOps &repeated,
                            const Function &layer) {
  std::optional<LayerChain> chain = LayerChain::of(repeated);
  if (!chain)
    return false;
  Function *body = module.addFunction(
      FunctionKind::Host,
      uniqueName(host.name + ".repeat" + std::to_string(repeats++)),
      call.range());
  body->opset = host.opset;
  body->setRole(FunctionRole::Body, host.name);
  NameSet names;
  Value *turn = body->addParameter({DType::Int32}, names.unique("instance"));
  // Carried values come first, in the order of the arguments.
  llvm::SmallVector<Value *, 8> operands, inside(chain->carried.size());
  llvm::SmallVector<size_t, 4> results;
  for (bool carried : {true, false})
    for (auto [index, result] : llvm::enumerate(chain->carried)) {
      if (result.has_value() != carried)
        continue;
      const Value &parameter = *layer.parameters()[index];
      inside[index] =
          body->addParameter(parameter.type, names.unique(parameter.name));
      operands.push_back(inHost(repeated.arguments[index].front()));
      if (result)
        results.push_back(*result);
    }
  Builder inBody(*body);
  inBody.setRange(call.range());
  Op *made =
      callLayer(inBody, layer, repeated.hasInstances ? turn : nullptr, inside);
  llvm::SmallVector<Value *, 4> returned;
  std::vector<std::string> own;
  for (size_t result : results) {
    returned.push_back(made->result(unsigned(result)));
    own.push_back(layer.resultNames()[result]);
  }
  llvm::SmallVector<llvm::StringRef, 4> views(own.begin(), own.end());
  body->setResults(returned, views);
  Op *repeat = builder.create(ops::Repeat, operands,
                              {{param::body, body->name},
                               {param::from, 0},
                               {param::to, int64_t(repeated.count())},
                               {param::carried, int64_t(results.size())}});
  for (auto [index, result] : llvm::enumerate(results)) {
    Value *now = repeat->result(unsigned(index));
    now->name = own[index];
    map[repeated.results[result].back()] = now;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Finds what repeats in ops `begin` to `end`, in their order.
void LayerFinder::find(size_t begin, size_t end) {
  std::optional<RepeatedOps> repeated =
      findRepeatedOps(order, begin, end, budget);
  if (!repeated)
    return;
  size_t from = repeated->begin, to = repeated->end();
  find(begin, from);
  found.push_back(std::move(*repeated));
  find(to, end);
}

bool LayerFinder::run() {
  find(0, order.ops().size());
  if (found.empty())
    return false;
  for (auto [slot, parameter] : llvm::enumerate(whole.parameters()))
    map[parameter.get()] = call.operand(unsigned(slot + 1));
  size_t done = 0;
  for (const RepeatedOps &repeated : found) {
    addPiece(done, repeated.begin);
    addRepeated(repeated);
    done = repeated.end();
  }
  addPiece(done, order.ops().size());
  for (unsigned i = 0; i < call.numResults(); ++i)
    call.result(i)->replaceAllUsesWith(inHost(whole.result(i)));
  call.erase();
  return true;
}

namespace {
struct OnlyCall {
  Function *host = nullptr;
  Op *call = nullptr;
  bool isOnly = true;
};
} // namespace

/// Whether ops do more than compute, so that they keep their order and number.
static bool hasEffects(const Function &function) {
  return llvm::any_of(function.body(), [](const Op &op) {
    return op.def().has(trait::SideEffect) || op.is(ops::RandomMask);
  });
}

/// The calls of layers that only one op of a model calls, without an instance.
static std::vector<std::pair<Function *, OnlyCall>> onlyCalls(Module &module) {
  llvm::DenseMap<Function *, OnlyCall> calls;
  for (const auto &function : module.functions)
    for (Op &op : function->body()) {
      if (!op.is(ops::Call))
        continue;
      Function *callee = module.findFunction(op.get(param::callee));
      OnlyCall &found = calls[callee];
      found.isOnly = !found.call && !op.operand(0u) && function->isEntry();
      found.host = function.get();
      found.call = &op;
    }
  std::vector<std::pair<Function *, OnlyCall>> result;
  for (const auto &function : module.functions) {
    auto it = calls.find(function.get());
    if (it != calls.end() && it->second.isOnly &&
        function->kind == FunctionKind::Layer &&
        function->role == FunctionRole::Forward && !function->isDeclaration() &&
        !function->hasMemory() && !hasEffects(*function))
      result.push_back(*it);
  }
  return result;
}

/// Moves the functions behind the first `count` before `host`.
static void moveNewFunctions(Module &module, size_t count,
                             const Function &host) {
  auto &functions = module.functions;
  auto place = llvm::find_if(
      functions, [&](const auto &function) { return function.get() == &host; });
  std::rotate(place, functions.begin() + ptrdiff_t(count), functions.end());
}

static bool findLayers(Module &module, PassContext &ctx) {
  bool changed = false;
  for (auto [whole, only] : onlyCalls(module)) {
    size_t count = module.functions.size();
    if (!LayerFinder(module, *only.host, *only.call, *whole, ctx).run())
      continue;
    moveNewFunctions(module, count, *only.host);
    llvm::erase_if(module.functions, [&, whole = whole](const auto &function) {
      return function.get() == whole;
    });
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::FindLayers = {
    .name = "find-layers",
    .summary = "Make a layer of ops that repeat with other weights",
    .description =
        "layer @main(%x) { %w0 = weight(h.0.w); %w1 = weight(h.1.w); "
        "return matmul(%w1, matmul(%w0, %x)) }\n"
        "  ==>  layer @h(%x) { %w = weight(h.{0..1}.w); return matmul(%w, %x) "
        "}, repeated 2 times",
    .stats = {{{"layers", "layers found"},
               {"instances", "times that they repeat"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnModule = findLayers,
};
