//===- RandomModel.cpp - programs that type-check by construction ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomModel.h"
#include "BlockBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace anec::fuzz;

namespace {

/// What goes through the layers.
enum class Kind { Sequence, Batch, Images };

struct Layer {
  std::string name;
  std::vector<TreeType> parameters, results;
  bool isIndexed = false;
};

class ModelMaker {
public:
  explicit ModelMaker(uint64_t seed) : random(seed) {}
  Program make();

private:
  Extent entry(llvm::StringRef name, std::initializer_list<int64_t> choices);
  void chooseSizes();
  TreeType carrier() const;
  Expr input(BlockBuilder &model);
  void addConstruct(BlockBuilder &builder);
  const Layer &makeLayer(std::vector<TreeType> parameters, bool isIndexed);
  const Layer &layerFor(BlockBuilder &model, const Expr &x,
                        std::vector<Expr> &arguments, bool mayExtend);
  Expr addCall(BlockBuilder &model, const Expr &x, llvm::StringRef variable);
  void addTurn(BlockBuilder &model, std::vector<Statement> &body,
               const Name &carried, llvm::StringRef variable);
  Expr addRepeat(BlockBuilder &model, const Expr &x);
  Expr loss(BlockBuilder &model, const Expr &x);

  Random random;
  Program program;
  Sizes sizes;
  Kind kind = Kind::Sequence;
  std::string dtype = "fp16";
  std::deque<Layer> layers;
  Block model;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Extent ModelMaker::entry(llvm::StringRef name,
                         std::initializer_list<int64_t> choices) {
  int64_t value = random.oneOf(choices);
  program.config.emplace_back(name.str(), value);
  return {name.str(), value};
}

void ModelMaker::chooseSizes() {
  sizes.heads = entry("heads", {1, 2, 2, 3, 4});
  sizes.keyHeads = random.chance(0.5) ? Extent() : sizes.heads;
  sizes.headDim = entry("width", {2, 4, 6, 8});
  sizes.dim = sizes.heads * sizes.headDim;
  sizes.positions = entry("seq", {1, 3, 5, 7, 8, 16, 33});
  sizes.hidden = entry("hidden", {1, 3, 5, 7, 12, 33});
  sizes.vocabulary = entry("vocab", {2, 3, 7, 11, 33});
  sizes.batch = entry("batch", {1, 1, 2, 3});
  sizes.channels = entry("channels", {1, 3, 4, 5, 7});
  sizes.rows = entry("rows", {1, 3, 5, 6, 8});
  sizes.columns = entry("columns", {3, 5, 7, 8});
}

TreeType ModelMaker::carrier() const {
  switch (kind) {
  case Kind::Sequence:
    return {dtype, {sizes.dim, sizes.positions}};
  case Kind::Batch:
    return {dtype, {sizes.batch, sizes.dim, sizes.positions}};
  case Kind::Images:
    break;
  }
  return {dtype, {sizes.batch, sizes.channels, sizes.rows, sizes.columns}};
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static void addOneOf(BlockBuilder &builder,
                     const std::vector<Construct> &constructs) {
  unsigned total = 0;
  for (const Construct &construct : constructs)
    total += construct.weight;
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    int64_t at = builder.random.number(0, total - 1);
    const Construct *chosen = constructs.data();
    while (at >= chosen->weight)
      at -= (chosen++)->weight;
    if (chosen->add(builder))
      return;
  }
}

void ModelMaker::addConstruct(BlockBuilder &builder) {
  if (random.chance(0.5)) {
    addOneOf(builder,
             random.chance(0.75) ? generalConstructs() : movementConstructs());
    return;
  }
  if (kind == Kind::Images) {
    addOneOf(builder, imageConstructs());
    return;
  }
  addOneOf(builder,
           random.chance(0.3) ? attentionConstructs() : sequenceConstructs());
}

/// A layer or kernel of these parameters, whose first result has the type of
/// the first of them.
const Layer &ModelMaker::makeLayer(std::vector<TreeType> parameters,
                                   bool isIndexed) {
  Layer &layer = layers.emplace_back();
  layer.parameters = parameters;
  layer.isIndexed = isIndexed;
  Block block;
  block.kind = random.chance(0.1) ? "kernel" : "layer";
  block.name = layer.name = "f" + std::to_string(layers.size());
  program.constructs.insert(block.kind);
  BlockBuilder builder(random, program, block, sizes, dtype);
  for (size_t i = 0; i < parameters.size(); ++i) {
    block.parameters.push_back({"p" + std::to_string(i), parameters[i]});
    builder.offer(block.parameters.back());
  }
  int64_t count = random.number(1, 4);
  for (int64_t i = 0; i < count; ++i)
    addConstruct(builder);
  Expr last = builder.any();
  bool isResidual = random.chance(0.3);
  Expr result = builder.adapt(last, parameters[0]);
  if (isResidual)
    result =
        builder.same("($0 + $1)", {builder.name(block.parameters[0]), result});
  block.results.push_back(result);
  for (unsigned i = 1; i < parameters.size(); ++i)
    if (random.chance(0.4)) {
      program.constructs.insert("carried pair");
      block.results.push_back(builder.same(
          random.oneOf({"($0 + $1)", "tanh($0 * $1)"}),
          {builder.name(block.parameters[i]), builder.meanOf(builder.any())}));
    }
  if (random.chance(0.2)) {
    program.constructs.insert("several results");
    block.results.push_back(builder.any());
  }
  for (const Expr &each : block.results)
    layer.results.push_back(each.type);
  if (block.weights.empty())
    program.constructs.insert("layer without weights");
  program.blocks.push_back(std::move(block));
  return layer;
}

/// A layer that takes `x` first, there or new, and what it is given.
const Layer &ModelMaker::layerFor(BlockBuilder &model, const Expr &x,
                                  std::vector<Expr> &arguments,
                                  bool mayExtend) {
  arguments = {x};
  for (const Layer &layer : layers) {
    if (!random.chance(0.3) || !(layer.parameters[0] == x.type))
      continue;
    for (size_t i = 1; i < layer.parameters.size(); ++i)
      if (std::optional<Expr> argument = model.anyThat(
              [&](const TreeType &t) { return t == layer.parameters[i]; }))
        arguments.push_back(*argument);
    if (arguments.size() == layer.parameters.size()) {
      program.constructs.insert("layer called again");
      return layer;
    }
    arguments = {x};
  }
  while (mayExtend && random.chance(0.25) && arguments.size() < 3)
    if (random.chance(0.2)) {
      program.constructs.insert("weight as argument");
      Extents shape = carrier().shape;
      if (random.chance(0.5))
        shape[shape.size() - 1] = Extent();
      arguments.push_back(model.weight(shape));
    } else {
      arguments.push_back(model.any());
    }
  if (arguments.size() > 1)
    program.constructs.insert("several parameters");
  std::vector<TreeType> types;
  for (const Expr &argument : arguments)
    types.push_back(argument.type);
  return makeLayer(types, random.chance(0.4));
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static Expr callOf(const Layer &layer, std::vector<Expr> arguments,
                   Random &random, llvm::StringRef variable) {
  Expr call;
  call.callee = layer.name;
  call.operands = std::move(arguments);
  call.type = layer.results[0];
  if (layer.isIndexed)
    call.index = variable.empty() || random.chance(0.1)
                     ? std::to_string(random.number(0, 3))
                     : variable.str();
  return call;
}

/// `x, y = f[2](x, y)`; the new `x`.
Expr ModelMaker::addCall(BlockBuilder &model, const Expr &x,
                         llvm::StringRef variable) {
  std::vector<Expr> arguments;
  const Layer &layer = layerFor(model, x, arguments, /*mayExtend=*/true);
  Statement statement;
  std::vector<Name> names;
  for (const TreeType &type : layer.results) {
    Name added{model.freshName("x"), type};
    model.offer(added);
    names.push_back(added);
  }
  statement.names = names;
  statement.value = callOf(layer, std::move(arguments), random, variable);
  model.block.body.push_back(std::move(statement));
  return model.name(names[0]);
}

/// Statements of a `repeat` that update `carried`.
void ModelMaker::addTurn(BlockBuilder &model, std::vector<Statement> &body,
                         const Name &carried, llvm::StringRef variable) {
  std::vector<Expr> arguments;
  const Layer &layer =
      layerFor(model, model.name(carried), arguments, /*mayExtend=*/true);
  Statement statement;
  statement.names.push_back(carried);
  for (size_t i = 1; i < layer.results.size(); ++i) {
    // What is passed and comes back is carried, too.
    const Expr *passed = nullptr;
    for (const Expr &argument : arguments)
      if (argument.type == layer.results[i] && argument.form != carried.name &&
          llvm::none_of(model.block.weights, [&](const Name &weight) {
            return weight.name == argument.form;
          }))
        passed = &argument;
    bool isTaken = !passed || llvm::any_of(statement.names, [&](const Name &n) {
      return n.name == passed->form;
    });
    statement.names.push_back(isTaken ? Name{"_", layer.results[i]}
                                      : Name{passed->form, passed->type});
  }
  statement.value = callOf(layer, std::move(arguments), random, variable);
  body.push_back(std::move(statement));
}

Expr ModelMaker::addRepeat(BlockBuilder &model, const Expr &x) {
  Name carried{x.form, x.type};
  if (llvm::any_of(model.block.weights,
                   [&](const Name &w) { return w.name == x.form; }))
    return addCall(model, x, "");
  Statement repeat;
  repeat.variable = "i";
  repeat.from = random.chance(0.2) ? 1 : 0;
  repeat.to = repeat.from + random.number(1, 3);
  addTurn(model, repeat.body, carried, "i");
  if (random.chance(0.3))
    addTurn(model, repeat.body, carried, "i");
  if (random.chance(0.3)) {
    program.constructs.insert("host op in repeat");
    Statement step;
    step.names = {carried};
    step.value = model.same(random.oneOf({"($0 + tanh($0))", "($0 * 0.5)"}),
                            {model.name(carried)});
    repeat.body.push_back(step);
  }
  if (random.chance(0.25)) {
    program.constructs.insert("nested repeat");
    Statement inner;
    inner.variable = "j";
    inner.to = random.number(1, 2);
    addTurn(model, inner.body, carried, random.oneOf({"i", "j"}));
    repeat.body.insert(repeat.body.begin() +
                           random.number(0, int64_t(repeat.body.size())),
                       inner);
  }
  program.constructs.insert("repeat");
  model.block.body.push_back(repeat);
  return x;
}

/// What the layers begin with, of the carrier's type.
Expr ModelMaker::input(BlockBuilder &model) {
  TreeType type = carrier();
  if (kind == Kind::Sequence && random.chance(0.6)) {
    program.constructs.insert("embedding");
    model.block.parameters.push_back({"tokens", {"int32", {sizes.positions}}});
    if (random.chance(0.2)) {
      program.constructs.insert("embedding in a layer");
      Block block;
      block.kind = "layer";
      block.name = "e";
      block.parameters = {model.block.parameters.back()};
      BlockBuilder builder(random, program, block, sizes, dtype);
      Expr table = builder.weight({sizes.vocabulary, sizes.dim}, "table");
      block.results = {builder.expr("gather($0, p0)", {table}, type)};
      block.parameters[0].name = "p0";
      program.blocks.push_back(std::move(block));
      Expr call;
      call.callee = "e";
      call.type = type;
      call.operands = {model.expr("tokens", {}, {"int32", {sizes.positions}})};
      return model.let(std::move(call));
    }
    Expr table = model.weight({sizes.vocabulary, sizes.dim}, "table");
    return model.let(model.expr("gather($0, tokens)", {table}, type));
  }
  model.block.parameters.push_back({"x", type});
  model.offer(model.block.parameters.back());
  Expr x = model.name(model.block.parameters.back());
  // A parameter can be carried like a variable.
  return random.chance(0.5) ? x : model.let(model.same("($0 * 0.5)", {x}));
}

Expr ModelMaker::loss(BlockBuilder &model, const Expr &x) {
  if (random.chance(0.4)) {
    program.constructs.insert("loss: mean of squares");
    Expr wide = dtype == "fp32"
                    ? x
                    : model.expr("cast($0, fp32)", {x}, {"fp32", x.type.shape});
    return model.expr("mean(square($0))", {wide}, {"fp32", {}});
  }
  program.constructs.insert("loss: cross entropy");
  Expr columns = x;
  const Extents &shape = x.type.shape;
  if (shape.size() == 3)
    columns = model.expr("transpose(mean($0, axes = [2]), perm = [1, 0])", {x},
                         model.type({shape[1], shape[0]}));
  if (shape.size() == 4)
    columns = model.expr("transpose(mean($0, axes = [2, 3]), perm = [1, 0])",
                         {x}, model.type({shape[1], shape[0]}));
  Extent count = columns.type.shape[1];
  model.block.parameters.push_back({"targets", {"int32", {count}}});
  Extents head = {sizes.vocabulary, columns.type.shape[0]};
  // A tied embedding has this type, too.
  auto tied = llvm::find_if(model.block.weights, [&](const Name &weight) {
    return weight.type.shape == head;
  });
  Expr weight = tied != model.block.weights.end() && random.chance(0.6)
                    ? model.name(*tied)
                    : model.weight(head, "head");
  if (random.chance(0.15)) {
    program.constructs.insert("loss in a layer");
    Block block;
    block.kind = "layer";
    block.name = "loss";
    block.parameters = {
        {"p0", weight.type}, {"p1", columns.type}, {"p2", {"int32", {count}}}};
    block.results = {
        model.expr("cross_entropy(p0 @ p1, p2)", {}, {"fp32", {}})};
    program.blocks.push_back(std::move(block));
    Expr call;
    call.callee = "loss";
    call.type = {"fp32", {}};
    call.operands = {weight, model.let(columns),
                     model.expr("targets", {}, {"int32", {count}})};
    return call;
  }
  Expr logits = model.expr("($0 @ $1)", {weight, columns},
                           model.type({sizes.vocabulary, count}));
  return model.expr("cross_entropy($0, targets)", {logits}, {"fp32", {}});
}

Program ModelMaker::make() {
  chooseSizes();
  int64_t chosen = random.number(0, 9);
  kind = chosen < 6 ? Kind::Sequence : chosen < 8 ? Kind::Batch : Kind::Images;
  program.constructs.insert(kind == Kind::Sequence ? "model: sequence"
                            : kind == Kind::Batch  ? "model: batch"
                                                   : "model: images");
  if (random.chance(0.07)) {
    dtype = "fp32";
    program.constructs.insert("model in fp32");
  }
  model.kind = "model";
  model.name = "m";
  BlockBuilder builder(random, program, model, sizes, dtype);
  Expr x = input(builder);
  int64_t count = random.number(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    x = random.chance(0.4) ? addRepeat(builder, x) : addCall(builder, x, "");
    if (random.chance(0.2)) {
      program.constructs.insert("host op");
      addOneOf(builder, generalConstructs());
    }
  }
  Expr result = loss(builder, x);
  // Other values, so that gradients reach them.
  if (random.chance(0.5))
    for (const Name &value : builder.offered())
      if (value.type.dtype == dtype && random.chance(0.4)) {
        Expr mean =
            builder.expr("mean($0)", {builder.name(value)}, {dtype, {}});
        result = builder.expr(dtype == "fp32" ? "($0 + 0.5 * $1)"
                                              : "($0 + 0.5 * cast($1, fp32))",
                              {result, mean}, {"fp32", {}});
      }
  model.results = {result};
  if (model.parameters.empty())
    model.parameters.push_back({"_unused", {"fp16", {Extent()}}});
  program.blocks.push_back(std::move(model));
  return std::move(program);
}

Program anec::fuzz::randomModel(uint64_t seed) {
  return ModelMaker(seed * 0x9e3779b97f4a7c15u + 1).make();
}
