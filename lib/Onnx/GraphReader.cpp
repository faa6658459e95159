//===- GraphReader.cpp - graphs of nodes to ops ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include "EmptyOperands.h"
#include "Schema.h"
#include "lib/Onnx/Diags.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::onnx;

GraphReader::GraphReader(const proto::Model &model, llvm::StringRef path,
                         TensorReader &tensors, mil::RequestedShapes &shapes,
                         FixedInputs &inputs, SourceWeights *weights,
                         Diagnostics &diags)
    : model(model), path(path), reader(tensors), shapes(shapes), fixed(inputs),
      weights(weights), diags(diags), listing(path, diags) {
  for (const proto::Function &function : model.functions)
    functions.try_emplace({domainOf(function.domain), function.name},
                          &function);
}

std::optional<Val> GraphReader::Environment::find(llvm::StringRef name) const {
  for (const Environment *at = this; at; at = at->outer)
    if (auto found = at->values.find(name); found != at->values.end())
      return found->second;
  return std::nullopt;
}

static bool readOpsets(llvm::ArrayRef<proto::OperatorSet> sets,
                       llvm::StringRef path, Opsets &opsets,
                       Diagnostics &diags) {
  for (const proto::OperatorSet &set : sets)
    opsets[domainOf(set.domain)] = set.version;
  auto own = opsets.find("");
  if (own == opsets.end())
    return true;
  if (own->second >= oldestOpset && own->second <= newestOpset)
    return true;
  diags.reportFile(path, diag::OnnxOpset, own->second, newestOpset);
  return false;
}

bool GraphReader::read(Function &function) {
  const proto::Graph &graph = *model.graph;
  graphRange = listing.add("in the graph");
  if (!readOpsets(model.opsetImport, path, opsets, diags))
    return false;
  if (opsets.empty()) {
    diags.reportFile(path, diag::OnnxNoOpset);
    return false;
  }
  if (!graph.sparseInitializer.empty()) {
    diags.reportFile(path, diag::OnnxSparse);
    return false;
  }
  Emitter ops(function, Budget(reader.fileSize()), diags);
  ops.setRange(graphRange);
  function.range = graphRange;
  emitter = &ops;
  main.opsets = &opsets;
  current = &main;
  return readInitializers(graph, main) && readParameters(graph, function) &&
         readNodes(graph.node, main) && readResults(graph, function);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static StringRef kindOf(int chosen) {
  switch (chosen) {
  case proto::SequenceKind:
    return "sequence";
  case proto::MapKind:
    return "map";
  case proto::SparseTensorKind:
    return "sparse tensor";
  case proto::OptionalKind:
    return "optional value";
  default:
    return "value of unknown type";
  }
}

/// `N x 3 x ?`: as the model declares it.
static std::string declaredShape(const proto::TensorShape &shape) {
  std::string text = "[";
  for (const proto::Dimension &dimension : shape.dim) {
    text += text.size() > 1 ? ", " : "";
    text += dimension.chosen == 1         ? std::to_string(dimension.value)
            : dimension.parameter.empty() ? "?"
                                          : dimension.parameter.str();
  }
  return text + "]";
}

static std::string exampleShape(const proto::TensorShape &shape) {
  std::string text;
  for (const proto::Dimension &dimension : shape.dim)
    text += (text.empty() ? "" : "x") +
            std::to_string(dimension.chosen == 1 ? dimension.value : 1);
  return text;
}

std::optional<Shape> GraphReader::chooseShape(const proto::ValueInfo &info) {
  const proto::TensorType &type = *info.type->tensor;
  const InputShape *requested = shapes.find(info.name);
  if (!type.shape.has()) {
    if (requested)
      return requested->shape;
    diags.reportFile(path, diag::OnnxInputRank, info.name);
    return std::nullopt;
  }
  const std::vector<proto::Dimension> &dims = type.shape->dim;
  bool known = llvm::all_of(dims, [](const proto::Dimension &dimension) {
    return dimension.chosen == 1 && dimension.value >= 0;
  });
  if (known && (!requested || requested->isHint)) {
    Shape shape;
    for (const proto::Dimension &dimension : dims)
      shape.push_back(dimension.value);
    return shape;
  }
  if (!requested) {
    diags.reportFile(path, diag::OnnxInputShape, info.name,
                     declaredShape(*type.shape), exampleShape(*type.shape));
    return std::nullopt;
  }
  bool fits = requested->shape.size() == dims.size();
  for (size_t i = 0; fits && i != dims.size(); ++i)
    fits = dims[i].chosen != 1 || dims[i].value < 0 ||
           dims[i].value == requested->shape[i];
  if (fits)
    return requested->shape;
  diags.reportFile(path, diag::OnnxGivenShape, info.name,
                   shapeToString(requested->shape), declaredShape(*type.shape));
  return std::nullopt;
}

bool GraphReader::readParameter(const proto::ValueInfo &info,
                                Function &function) {
  if (info.type->chosen != proto::TensorKind) {
    diags.reportFile(path, diag::OnnxValueKind, "input", info.name,
                     kindOf(info.type->chosen));
    return false;
  }
  proto::ElementType element = info.type->tensor->elementType;
  std::optional<DType> dtype = dtypeOf(element);
  if (!dtype || isStoredOnly(*dtype)) {
    diags.reportFile(path, diag::OnnxTensorType, info.name, spelling(element));
    return false;
  }
  std::optional<Shape> shape = chooseShape(info);
  if (!shape)
    return false;
  if (!checkedNumElements(*shape)) {
    diags.reportFile(path, diag::OnnxTensorShape, info.name);
    return false;
  }
  TensorType type(nativeType(*dtype), *shape);
  if (const InputValue *constant = shapes.findFixed(info.name)) {
    ConstantRef value =
        mil::RequestedShapes::fit(*constant, type, graphRange, diags);
    return bindOutput(info.name, emitter->constant(value), main, graphRange);
  }
  Val parameter = function.addParameter(type, info.name);
  parameter.get()->declared = listing.add("input `" + info.name.str() + "`");
  auto given = fixed.given.find(info.name);
  if (!fixed.fixed.contains(info.name) || given == fixed.given.end())
    return bindOutput(info.name, parameter, main, graphRange);
  diags.reportFile(path, diag::OnnxBoundInput, info.name);
  ConstantRef value = given->second;
  if (value->numElements() != type.numElements()) {
    diags.reportFile(path, diag::OnnxGivenShape, info.name,
                     shapeToString(value->type().shape), type.str());
    return false;
  }
  return bindOutput(info.name, emitter->constant(value->reshaped(*shape)), main,
                    graphRange);
}

bool GraphReader::readParameters(const proto::Graph &graph,
                                 Function &function) {
  for (const proto::ValueInfo &info : graph.input)
    // An initializer of the same name is the default of the input.
    if (!main.values.contains(info.name) && !readParameter(info, function))
      return false;
  return true;
}

bool GraphReader::readInitializers(const proto::Graph &graph,
                                   Environment &environment) {
  for (const proto::Tensor &tensor : graph.initializer) {
    ConstantRef value = reader.read(tensor);
    if (!value || !emitter->count(tensor.name.size()))
      return false;
    if (tensor.rawData.empty() &&
        !emitter->takeElements(value->numElements())) {
      diags.report(graphRange, diag::OnnxTooLarge, tensor.name,
                   shapeToString(tensor.dims));
      return false;
    }
    // Single numbers are those of the graph's own arithmetic.
    bool isWeight = &environment == &main && value->numElements() > 1;
    Val read =
        emitter->weight(tensor.name, value, isWeight ? weights : nullptr);
    if (!bindOutput(tensor.name, read, environment, graphRange))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// A name that the textual forms can have.
static std::string identifierOf(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  return text.empty() || llvm::isDigit(text.front()) ? "_" + text : text;
}

bool GraphReader::bindOutput(StringRef name, Val value,
                             Environment &environment, SourceRange range) {
  if (!value)
    return false;
  if (value.get()->definingOp())
    value.get()->name = identifierOf(name);
  if (environment.values.try_emplace(name, value).second)
    return true;
  diags.report(range, diag::OnnxValueTwice, name);
  return false;
}

bool GraphReader::findInputs(const proto::Node &node,
                             const Environment &environment, SourceRange range,
                             Vals &inputs) {
  for (StringRef name : node.input) {
    if (name.empty()) {
      inputs.push_back(Val());
      continue;
    }
    std::optional<Val> value = environment.find(name);
    if (!value) {
      diags.report(range, diag::OnnxNoValue, name);
      return false;
    }
    inputs.push_back(*value);
  }
  return true;
}

bool GraphReader::readNodes(llvm::ArrayRef<proto::Node> nodes,
                            Environment &environment) {
  Environment *outer = current;
  current = &environment;
  bool read = llvm::all_of(nodes, [&](const proto::Node &node) {
    return readNode(node, environment);
  });
  current = outer;
  return read;
}

template <typename Row>
static const Row *rowOfOp(llvm::ArrayRef<Row> rows, StringRef name) {
  const Row *row =
      llvm::lower_bound(rows, name, [](const Row &row, StringRef name) {
        return row.name < name;
      });
  return row != rows.end() && row->name == name ? row : nullptr;
}

bool GraphReader::readNode(const proto::Node &node, Environment &environment) {
  StringRef name = node.name;
  if (name.empty() && !node.output.empty())
    name = node.output.front();
  std::string words = "node `" + name.str() + "` ";
  words += "(" + node.opType.str() + ")";
  std::replace(words.begin(), words.end(), '\n', ' ');
  SourceRange range = listing.add(words);
  emitter->setRange(range);
  // Functions that call others twice make any number of nodes.
  size_t names = words.size();
  for (StringRef output : node.output)
    names += output.size();
  if (!emitter->count(names))
    return false;
  if (const proto::Function *callee =
          functions.lookup({domainOf(node.domain), node.opType}))
    return inlineFunction(*callee, node, environment, range);
  StringRef domain = domainOf(node);
  if (const OpRow *row = rowOfOp(opRows(domain), node.opType))
    return readRow(*row, node, environment, range);
  const RefusedOp *refused = rowOfOp(refusedOps(domain), node.opType);
  if (refused)
    diags.report(range, diag::OnnxUnsupported, node.opType, refused->reason);
  else if (opRows(domain).empty() && refusedOps(domain).empty())
    diags.report(range, diag::OnnxUnknownDomain, node.opType, domain);
  else
    diags.report(range, diag::OnnxUnknownOp, node.opType,
                 domain.empty() ? StringRef("ai.onnx") : domain);
  return false;
}

/// An image in place of none, to which the node gives what it would give to
/// others; missing if its first input is something else.
static Val imageOfNone(const proto::Node &message, llvm::ArrayRef<Val> inputs,
                       Emitter &e) {
  // In training, the other outputs are statistics of all images.
  bool trains =
      message.opType == "BatchNormalization" && message.output.size() > 1;
  if (!domainOf(message).empty() || !isOfImages(message.opType) || trains ||
      inputs.empty() || !inputs.front() || inputs.front().rank() == 0)
    return {};
  Val none = inputs.front();
  Shape shape = none.shape();
  if (shape.front() != 0)
    return {};
  shape.front() = 1;
  return llvm::is_contained(shape, 0) ? Val()
                                      : e.filled(none.dtype(), shape, 0);
}

/// The result of a node for no images, from that for one.
static Val ofNoImages(Val result, Emitter &e) {
  if (!result || result.rank() == 0)
    return result;
  Shape shape = result.shape();
  shape.front() = 0;
  return e.empty(result.dtype(), shape);
}

bool GraphReader::readRow(const OpRow &row, const proto::Node &message,
                          Environment &environment, SourceRange range) {
  Vals inputs;
  int64_t opset =
      domainOf(message).empty() ? environment.opsets->lookup("") : 1;
  if (!checkSchema(message, opset, range, diags))
    return false;
  if (opset < row.since) {
    diags.report(range, diag::OnnxUnsupported, message.opType,
                 "only from version " + std::to_string(row.since) +
                     " of the operators on, and the model has version " +
                     std::to_string(opset));
    return false;
  }
  if (!findInputs(message, environment, range, inputs))
    return false;
  for (Val input : inputs)
    if (!row.takesSequences && !emitter->isTensor(input)) {
      diags.report(range, diag::OnnxUnsupported, message.opType,
                   "an input is a sequence, or an optional value");
      return false;
    }
  Val image = imageOfNone(message, inputs, *emitter);
  if (image)
    inputs.front() = image;
  size_t errors = diags.errorCount();
  Node node(message, opset, range, inputs, *emitter, *this);
  row.read(node);
  if (node.failed() || diags.errorCount() != errors ||
      !checkAllRead(message, opset, node.readAttributes(), range, diags))
    return false;
  for (size_t i = 0; i != message.output.size(); ++i) {
    if (message.output[i].empty())
      continue;
    Val result = node.results()[i];
    if (!result) {
      diags.report(range, diag::OnnxUnsupported, message.opType,
                   "output " + std::to_string(i) + " is not computed");
      return false;
    }
    if (image)
      result = ofNoImages(result, *emitter);
    if (!bindOutput(message.output[i], result, environment, range))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Functions and branches
//===----------------------------------------------------------------------===//

/// The nodes of a function with the attributes of a call in place of
/// references.
static std::vector<proto::Node> bindAttributes(const proto::Function &callee,
                                               const proto::Node &call) {
  auto find = [&](StringRef name) -> const proto::Attribute * {
    for (const proto::Attribute &attribute : call.attribute)
      if (attribute.name == name)
        return &attribute;
    for (const proto::Attribute &attribute : callee.attributeProto)
      if (attribute.name == name)
        return &attribute;
    return nullptr;
  };
  std::vector<proto::Node> nodes = callee.node;
  for (proto::Node &node : nodes) {
    std::vector<proto::Attribute> bound;
    for (const proto::Attribute &attribute : node.attribute) {
      if (attribute.reference.empty()) {
        bound.push_back(attribute);
      } else if (const proto::Attribute *given = find(attribute.reference)) {
        bound.push_back(*given);
        bound.back().name = attribute.name;
      }
    }
    node.attribute = std::move(bound);
  }
  return nodes;
}

/// What copying the nodes of a function takes.
static int64_t sizeOf(const proto::Function &function) {
  size_t size = 0;
  for (const proto::Node &node : function.node) {
    size += 1 + node.input.size() + node.output.size();
    for (const proto::Attribute &attribute : node.attribute)
      size += 1 + attribute.floats.size() + attribute.ints.size() +
              attribute.strings.size();
  }
  return int64_t(size);
}

bool GraphReader::inlineFunction(const proto::Function &callee,
                                 const proto::Node &node,
                                 Environment &environment, SourceRange range) {
  constexpr unsigned deepest = 32;
  if (environment.depth == deepest) {
    diags.report(range, diag::OnnxDepth);
    return false;
  }
  Vals inputs;
  if (!findInputs(node, environment, range, inputs))
    return false;
  Opsets own;
  Environment body;
  body.depth = environment.depth + 1;
  if (!readOpsets(callee.opsetImport, path, own, diags))
    return false;
  body.opsets = own.contains("") ? &own : environment.opsets;
  for (size_t i = 0; i != std::min(inputs.size(), callee.input.size()); ++i)
    body.values[callee.input[i]] = inputs[i];
  if (!emitter->takeSteps(sizeOf(callee))) {
    diags.report(range, diag::OnnxTooManyOps);
    return false;
  }
  std::vector<proto::Node> nodes = bindAttributes(callee, node);
  if (!readNodes(nodes, body))
    return false;
  for (size_t i = 0; i != node.output.size(); ++i) {
    if (node.output[i].empty())
      continue;
    std::optional<Val> value =
        i < callee.output.size() ? body.find(callee.output[i]) : std::nullopt;
    if (!value) {
      diags.report(range, diag::OnnxNoValue, node.output[i]);
      return false;
    }
    if (!bindOutput(node.output[i], *value, environment, range))
      return false;
  }
  return true;
}

bool GraphReader::readBranch(const proto::Graph &graph,
                             llvm::ArrayRef<Val> inputs, Vals &outputs) {
  Environment branch;
  branch.outer = current;
  branch.opsets = current->opsets;
  branch.depth = current->depth;
  if (graph.input.size() != inputs.size()) {
    emitter->fail("a graph of the node has " +
                  std::to_string(graph.input.size()) + " inputs, and gets " +
                  std::to_string(inputs.size()));
    return false;
  }
  for (auto [info, input] : llvm::zip_equal(graph.input, inputs))
    branch.values[info.name] = input;
  if (!readInitializers(graph, branch) || !readNodes(graph.node, branch))
    return false;
  for (const proto::ValueInfo &info : graph.output) {
    std::optional<Val> value = branch.find(info.name);
    if (!value) {
      diags.report(graphRange, diag::OnnxNoValue, info.name);
      return false;
    }
    outputs.push_back(*value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values that must be known
//===----------------------------------------------------------------------===//

/// Whether all inputs that `x` is computed from are at hand.
bool GraphReader::isAtHand(Val x) {
  InputsOf inputs(x.get());
  return !inputs.empty() && inputs.areGiven(fixed);
}

void GraphReader::keepConstant(Val x) {
  fixed.changed |= keepWeightsOf(x.get(), weights, /*isParameter=*/false);
}

void GraphReader::needConstant(Val x, llvm::StringRef what, SourceRange range) {
  InputsOf inputs(x.get());
  if (keepWeightsOf(x.get(), weights))
    fixed.changed = true;
  else if (inputs.empty())
    diags.report(range, diag::OnnxNeedsKnown, what);
  else if (!inputs.areGiven(fixed))
    diags.report(range, diag::OnnxNeedsConstant, what, inputs.names());
  else
    inputs.fix(fixed);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

bool GraphReader::readResults(const proto::Graph &graph, Function &function) {
  llvm::SmallVector<Value *> values;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::SmallPtrSet<Value *, 4> used;
  emitter->setRange(graphRange);
  for (const proto::ValueInfo &info : graph.output) {
    if (info.type.has() && info.type->chosen != proto::TensorKind &&
        info.type->chosen != 0) {
      diags.reportFile(path, diag::OnnxValueKind, "output", info.name,
                       kindOf(info.type->chosen));
      return false;
    }
    std::optional<Val> value = main.find(info.name);
    if (!value) {
      diags.reportFile(path, diag::OnnxNoValue, info.name);
      return false;
    }
    if (!emitter->isTensor(*value)) {
      diags.reportFile(path, diag::OnnxValueKind, "output", info.name,
                       "sequence or an optional value");
      return false;
    }
    if (llvm::is_contained(names, info.name)) {
      diags.reportFile(path, diag::OnnxValueTwice, info.name);
      return false;
    }
    Val result = emitter->native(*value);
    if (result && result.size() == 0) {
      diags.reportFile(path, diag::OnnxEmptyOutput, info.name,
                       shapeToString(result.shape()));
      return false;
    }
    // Each output is the result of an op of its own.
    if (result && (!result.get()->definingOp() || result.isKnown() ||
                   !used.insert(result.get()).second))
      result = emitter->copy(result);
    if (!result)
      return false;
    values.push_back(result.get());
    names.push_back(info.name);
  }
  if (values.empty()) {
    diags.reportFile(path, diag::OnnxNoOutputs);
    return false;
  }
  function.setResults(values, names);
  return true;
}
