//===- GraphReader.cpp - graphs of ATen nodes to ops ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include "OutputNames.h"
#include "StackTrace.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Torch/Diags.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;
using Kind = Argument::Kind;

GraphReader::GraphReader(const Program &program, StringRef path,
                         Weights &weights, mil::RequestedShapes &requested,
                         onnx::FixedInputs &inputs, size_t fileSize,
                         SourceWeights *trained, Diagnostics &diags)
    : program(program), path(path), weights(weights), requested(requested),
      fixed(inputs), fileSize(fileSize), sourceWeights(trained), diags(diags),
      listing(path, diags), reader(path, nullptr, found),
      shapes(program, this->path, requested, diags) {}

bool GraphReader::read(Function &function) {
  graphRange = listing.add("in the graph");
  function.range = graphRange;
  Emitter ops(function, onnx::Budget(fileSize), found);
  ops.setRange(graphRange);
  emitter = &ops;
  ops.trains = sourceWeights && sourceWeights->trains();
  ops.willRead = [this](const Constant &constant) { checkElements(constant); };
  main.graph = &program.graph;
  current = &main;
  return shapes.choose() && readInputs(function) && readNodes(program.graph) &&
         readResults(function);
}

bool GraphReader::takeErrors(SourceRange range, const GraphNode *message) {
  for (const Diagnostic &error : found.all()) {
    if (error.severity() != Severity::Error)
      continue;
    auto report = diags.report(range, diag::TorchNode, error.message);
    if (std::string line = message ? placeOf(*message) : ""; !line.empty())
      report.note(range, diag::TorchLine, line);
    return true; // what follows is of the first one
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// A name that the textual forms can have.
static std::string identifierOf(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  return text.empty() || llvm::isDigit(text.front()) ? "_" + text : text;
}

bool GraphReader::readUserInput(const InputSpec &spec, Function &function) {
  auto meta = program.graph.tensors.find(spec.name);
  if (meta == program.graph.tensors.end()) {
    diags.reportFile(
        path, diag::TorchInput, spec.name,
        "it is not a tensor; export the model with a tensor or with "
        "the number itself");
    return false;
  }
  ScalarType type = meta->second.type;
  std::optional<Shape> shape = shapes.shapeOf(meta->second.sizes);
  if (!shape || !storedType(type) || !checkedNumElements(*shape) ||
      *checkedNumElements(*shape) == 0) {
    diags.reportFile(path, diag::TorchInput, spec.name,
                     shape && storedType(type)
                         ? "it has no elements, or too many"
                         : "elements of type " + spelling(type));
    return false;
  }
  TensorType native(nativeType(type), *shape);
  Item item;
  item.type = type;
  if (const InputValue *constant = requested.findFixed(spec.name)) {
    ConstantRef value =
        mil::RequestedShapes::fit(*constant, native, graphRange, diags);
    item.val = emitter->constant(value);
    main.values[spec.name] = item;
    return bool(item.val);
  }
  Val parameter = function.addParameter(native, identifierOf(spec.name));
  parameter.get()->declared = listing.add("input `" + spec.name.str() + "`");
  item.val = parameter;
  auto given = fixed.given.find(spec.name);
  if (fixed.fixed.contains(spec.name) && given != fixed.given.end()) {
    diags.reportFile(path, diag::TorchBoundInput, spec.name);
    ConstantRef value = given->second;
    if (value->numElements() != native.numElements()) {
      diags.reportFile(path, diag::TorchGivenShape, spec.name,
                       shapeToString(value->type().shape),
                       shapeToString(*shape));
      return false;
    }
    item.val = emitter->constant(value->reshaped(*shape));
  }
  main.values[spec.name] = item;
  return true;
}

/// Whether all elements are 0.
static bool isZero(const Constant &value) {
  return llvm::all_of(value.bytes(), [](uint8_t byte) { return byte == 0; });
}

bool GraphReader::readState(const InputSpec &spec, Function &function) {
  State state;
  std::string error;
  ConstantRef initial = weights.read(spec.target, state.type, error);
  if (!initial || isComplex(state.type)) {
    diags.reportFile(path, diag::TorchTensor, spec.target,
                     initial ? "a state has no complex numbers" : error);
    return false;
  }
  if (sourceWeights)
    initial = sourceWeights->valueOf(spec.target, initial);
  if (std::string other = weights.sharedWith(spec.target); !other.empty()) {
    diags.reportFile(path, diag::TorchStateShared, spec.target, other);
    return false;
  }
  TensorType type(nativeType(state.type), initial->type().shape);
  Value *parameter = function.addParameter(type, identifierOf(spec.target));
  parameter->holder = Holder::State;
  parameter->declared = listing.add("state `" + spec.target.str() + "`");
  if (sourceWeights && sourceWeights->trains() && type.dtype == DType::FP32)
    sourceWeights->hold(parameter->name, spec.target,
                        Constant::fromDoubles(type, initial->asDoubles()));
  state.parameter = parameter;
  Item item;
  item.type = state.type;
  item.val = emitter->make(ops::ReadState, {Val(parameter)});
  // States of programs begin with 0: the state is the difference.
  if (!isZero(*initial)) {
    if (isFloating(state.type) &&
        !llvm::all_of(initial->asDoubles(),
                      [](double x) { return std::isfinite(x); })) {
      diags.reportFile(path, diag::TorchStateBegin, spec.target);
      return false;
    }
    state.initial = initial;
    Val begin = emitter->native(emitter->constant(initial));
    item.val = type.dtype == DType::Bool
                   ? emitter->make(ops::LogicalXor, {item.val, begin})
                   : emitter->add(item.val, begin);
  }
  states[spec.target] = state;
  main.values[spec.name] = item;
  return bool(item.val);
}

bool GraphReader::readInputs(Function &function) {
  if (sourceWeights)
    noteWeights();
  llvm::StringSet<> changed;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferChange)
      changed.insert(output.target);
  for (const InputSpec &spec : program.inputs) {
    switch (spec.kind) {
    case InputSpec::Kind::User:
      if (!readUserInput(spec, function))
        return false;
      break;
    case InputSpec::Kind::Parameter:
    case InputSpec::Kind::Buffer:
    case InputSpec::Kind::Tensor:
      if (changed.contains(spec.target)) {
        if (!readState(spec, function)) {
          takeErrors(graphRange, nullptr);
          return false;
        }
      } else {
        unread[spec.name] = &spec;
      }
      break;
    case InputSpec::Kind::Constant:
    case InputSpec::Kind::Token:
      break;
    case InputSpec::Kind::Other:
      diags.reportFile(path, diag::TorchInput, spec.target,
                       "it is not a tensor: export a model without script "
                       "objects");
      return false;
    }
  }
  return true;
}

/// Registers all weights in the order of the model, which decides what tied
/// ones are called.
void GraphReader::noteWeights() {
  auto requiresGrad = [&](const InputSpec &spec) {
    auto meta = program.graph.tensors.find(spec.name);
    return meta == program.graph.tensors.end() || meta->second.requiresGrad;
  };
  // Of a model that was exported to be run, no parameter is trained: that says
  // nothing.
  bool saysTrained = llvm::any_of(program.inputs, [&](const InputSpec &spec) {
    return spec.kind == InputSpec::Kind::Parameter && requiresGrad(spec);
  });
  for (const InputSpec &spec : program.inputs) {
    bool isParameter = spec.kind == InputSpec::Kind::Parameter;
    if (!isParameter && spec.kind != InputSpec::Kind::Buffer)
      continue;
    ScalarType type;
    std::string ignored; // reported where it is used
    ConstantRef value = weights.read(spec.target, type, ignored);
    if (!value || isComplex(type))
      continue;
    value = sourceWeights->valueOf(spec.target, value);
    if (isParameter && saysTrained && !requiresGrad(spec))
      sourceWeights->freeze(spec.target);
    if (isParameter)
      sourceWeights->trainedAs(spec.target, value);
  }
}

void GraphReader::checkElements(const Constant &constant) {
  std::string error, damaged = weights.check(constant, error);
  if (!damaged.empty())
    diags.reportFile(path, diag::TorchTensor, damaged, error);
}

Item GraphReader::readConstant(const InputSpec &spec) {
  Item item;
  std::string error;
  ConstantRef value = defersChecksums
                          ? weights.locate(spec.target, item.type, error)
                          : weights.read(spec.target, item.type, error);
  if (!value) {
    diags.reportFile(path, diag::TorchTensor, spec.target, error);
    return item;
  }
  // Tensors that the model's code has are no weights.
  bool isWeight = spec.kind != InputSpec::Kind::Tensor && !isComplex(item.type);
  if (isWeight && sourceWeights && spec.kind == InputSpec::Kind::Buffer)
    value = sourceWeights->valueOf(spec.target, value);
  bool isParameter = isWeight && spec.kind == InputSpec::Kind::Parameter;
  item.val = emitter->weight(spec.target, value,
                             isParameter ? sourceWeights : nullptr);
  if (item.val)
    item.val.get()->name = identifierOf(spec.target);
  return item;
}

//===----------------------------------------------------------------------===//
// The graph around a node
//===----------------------------------------------------------------------===//

Item GraphReader::find(StringRef name) {
  auto found = current->values.find(name);
  if (found != current->values.end())
    return found->second;
  auto spec = unread.find(name);
  if (current != &main || spec == unread.end())
    return {};
  return main.values[name] = readConstant(*spec->second);
}

const TensorMeta *GraphReader::metaOf(StringRef name) {
  auto meta = current->graph->tensors.find(name);
  return meta == current->graph->tensors.end() ? nullptr : &meta->second;
}

std::optional<Shape> GraphReader::shapeOf(const TensorMeta &meta) {
  return shapes.shapeOf(meta.sizes);
}

bool GraphReader::readBody(const Graph &graph, llvm::ArrayRef<Item> inputs,
                           std::vector<Item> &outputs) {
  if (graph.inputs.size() != inputs.size()) {
    emitter->fail("a graph of the node has " +
                  std::to_string(graph.inputs.size()) + " inputs, and gets " +
                  std::to_string(inputs.size()));
    return false;
  }
  Environment body;
  body.graph = &graph;
  for (auto [argument, input] : llvm::zip_equal(graph.inputs, inputs))
    if (argument.kind == Kind::Value)
      body.values[argument.text] = input;
  Environment *outer = std::exchange(current, &body);
  bool read = readNodes(graph);
  for (const Argument &output : graph.outputs) {
    if (!read)
      break;
    Item item;
    if (output.kind == Kind::Value)
      item = find(output.text);
    else if (output.kind == Kind::Int || output.kind == Kind::Bool)
      item = {
          emitter->scalar(output.kind == Kind::Int ? DType::Int32 : DType::Bool,
                          double(output.integer)),
          output.kind == Kind::Int ? ScalarType::Int64 : ScalarType::Bool};
    read = bool(item);
    outputs.push_back(item);
  }
  current = outer;
  return read;
}

bool GraphReader::isAtHand(Val x) {
  onnx::InputsOf inputs(x.get());
  return !inputs.empty() && inputs.areGiven(fixed);
}

void GraphReader::keepConstant(Val x) {
  fixed.changed |=
      onnx::keepWeightsOf(x.get(), sourceWeights, /*isParameter=*/false);
}

void GraphReader::needConstant(Val x, StringRef what, SourceRange range) {
  onnx::InputsOf inputs(x.get());
  if (onnx::keepWeightsOf(x.get(), sourceWeights))
    fixed.changed = true;
  else if (inputs.empty())
    found.report(range, diag::TorchNode,
                 "`" + what.str() +
                     "` must be known when the model is compiled");
  else if (!inputs.areGiven(fixed))
    found.report(range, diag::TorchNode,
                 "`" + what.str() + "` depends on the values of " +
                     inputs.names() +
                     ", and must be known when the model is compiled: --fix "
                     "gives the numbers of an input, and ane-run reads them "
                     "from --input");
  else
    inputs.fix(fixed);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

template <typename Row>
static const Row *rowOfOp(llvm::ArrayRef<Row> rows, StringRef name) {
  const Row *row =
      llvm::lower_bound(rows, name, [](const Row &row, StringRef name) {
        return row.name < name;
      });
  return row != rows.end() && row->name == name ? row : nullptr;
}

bool GraphReader::readNodes(const Graph &graph) {
  return llvm::all_of(
      graph.nodes, [&](const GraphNode &message) { return readNode(message); });
}

bool GraphReader::refuseNode(const GraphNode &message, StringRef op,
                             SourceRange range) {
  const RefusedOp *refused = rowOfOp(refusedOps(), op);
  std::string why = refused ? ": " + refused->reason.str() : std::string();
  auto report = diags.report(range, diag::TorchUnknownOp, op, why);
  if (std::string line = placeOf(message); !line.empty())
    report.note(range, diag::TorchLine, line);
  return false;
}

bool GraphReader::readNode(const GraphNode &message) {
  StringRef op = message.target;
  if (!op.consume_front("torch.ops."))
    op.consume_front("torch._ops.");
  std::string words = "node";
  if (!message.outputs.empty() && !message.outputs[0].text.empty())
    words += " `" + message.outputs[0].text.str() + "`";
  words += " (" + op.str() + ")";
  std::replace(words.begin(), words.end(), '\n', ' ');
  std::string origin = placeOf(message);
  SourceRange range = listing.add(words, origin);
  emitter->setRange(range);
  if (!emitter->count(words.size() + origin.size())) {
    takeErrors(range, &message);
    return false;
  }
  const OpRow *row = rowOfOp(opRows(), op);
  return row ? readRow(*row, message, op, range)
             : refuseNode(message, op, range);
}

bool GraphReader::readRow(const OpRow &row, const GraphNode &message,
                          StringRef op, SourceRange range) {
  size_t errors = diags.errorCount();
  Node node(message, op, range, *emitter, *this);
  isDetached =
      emitter->trains && (message.isDetached || op.starts_with("aten.detach"));
  if (!row.takesComplex)
    for (const NamedArgument &input : message.inputs)
      if (input.argument.kind == Kind::Value)
        if (Item item = find(input.argument.text); item && isComplex(item.type))
          node.fail("complex numbers are not supported");
  if (!node.failed())
    row.read(node);
  if (!node.failed() && found.errorCount() == 0)
    node.checkAllRead();
  bool read = !node.failed() && found.errorCount() == 0 &&
              diags.errorCount() == errors && bindResults(message, node);
  if (!read && diags.errorCount() == errors)
    takeErrors(range, &message);
  return read;
}

bool GraphReader::checkResult(StringRef name, const Item &item, Node &node) {
  const TensorMeta *meta = metaOf(name);
  if (!meta || item.isNumber)
    return true;
  if (onnx::nativeType(item.val.dtype()) != nativeType(meta->type)) {
    node.fail("it becomes a tensor of " +
              anec::spelling(item.val.dtype()).str() +
              ", and PyTorch's is of " + spelling(meta->type));
    return false;
  }
  std::optional<Shape> shape = shapeOf(*meta);
  if (shape && isComplex(meta->type))
    shape->push_back(2);
  if (!shape || *shape == item.val.shape())
    return true;
  // PyTorch up to 2.10 says of the states of recurrent layers that they have an
  // axis more.
  auto withoutOnes = [](llvm::ArrayRef<int64_t> shape) {
    Shape others;
    for (int64_t extent : shape)
      if (extent != 1)
        others.push_back(extent);
    return others;
  };
  if ((node.op() == "aten.lstm.input" || node.op() == "aten.gru.input" ||
       node.op() == "aten.rnn_relu.input" ||
       node.op() == "aten.rnn_tanh.input") &&
      withoutOnes(*shape) == withoutOnes(item.val.shape()))
    return true;
  node.fail("it becomes a tensor of shape " + shapeToString(item.val.shape()) +
            ", and PyTorch's has " + shapeToString(*shape));
  return false;
}

bool GraphReader::bind(StringRef name, Item item, Node &node) {
  if (!item)
    return true; // an error where it is used
  if (!checkResult(name, item, node))
    return false;
  if (isDetached && isFloat(item.val.dtype()) && emitter->isTensor(item.val))
    item.val = emitter->make(ops::StopGradient, {item.val});
  if (item.val.get()->definingOp())
    item.val.get()->name = identifierOf(name);
  current->values[name] = std::move(item);
  return true;
}

bool GraphReader::bindResults(const GraphNode &message, Node &node) {
  if (!message.outputs.empty() &&
      llvm::none_of(node.results(), [](const Item &item) {
        return bool(item) || item.isList;
      })) {
    node.fail("its result is not computed");
    return false;
  }
  for (auto [output, item] : llvm::zip_equal(message.outputs, node.results())) {
    if (output.kind == Kind::Value && item.isList && item.list.size() == 1) {
      if (!bind(output.text, item.list.front(), node))
        return false;
    } else if (output.kind == Kind::Value) {
      if (!bind(output.text, item, node))
        return false;
    } else if (output.kind == Kind::List) {
      if (output.list.size() != item.list.size()) {
        node.fail("it has another number of results");
        return false;
      }
      for (auto [name, part] : llvm::zip_equal(output.list, item.list))
        if (!bind(name.text, part, node))
          return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Writes what buffers have now.
bool GraphReader::readChanges(Function &) {
  for (const OutputSpec &output : program.outputs) {
    if (output.kind != OutputSpec::Kind::BufferChange)
      continue;
    auto state = states.find(output.target);
    Item item = find(output.argument.text);
    if (state == states.end() || !item) {
      diags.reportFile(path, diag::TorchOutput, output.target,
                       "it is not computed");
      return false;
    }
    const State &to = state->second;
    Val value = emitter->native(item.val);
    if (to.initial) {
      Val begin = emitter->native(emitter->constant(to.initial));
      value = to.parameter->type.dtype == DType::Bool
                  ? emitter->make(ops::LogicalXor, {value, begin})
                  : emitter->sub(value, begin);
    }
    if (value && value.get()->type == to.parameter->type)
      emitter->makeAll(ops::WriteState, {Val(to.parameter), value});
    else if (value)
      emitter->fail("the buffer `" + output.target.str() +
                    "` changes its type");
    if (takeErrors(graphRange, nullptr))
      return false;
  }
  return true;
}

/// A value, or a Python number that the model returns.
Item GraphReader::outputItem(const Argument &argument) {
  switch (argument.kind) {
  case Kind::Value:
    return find(argument.text);
  case Kind::Int:
    return {emitter->scalar(DType::Int32, double(argument.integer)),
            ScalarType::Int64};
  case Kind::Bool:
    return {emitter->scalar(DType::Bool, double(argument.integer)),
            ScalarType::Bool};
  case Kind::Float:
    return {emitter->scalar(DType::FP32, argument.number), ScalarType::Float32};
  default:
    return {};
  }
}

bool GraphReader::readResults(Function &function) {
  llvm::SmallVector<Value *> values;
  llvm::SmallVector<std::string> names;
  llvm::SmallPtrSet<Value *, 4> used;
  emitter->setRange(graphRange);
  std::vector<std::string> given = outputNames(program.outSpec);
  size_t userIndex = 0;
  for (const OutputSpec &output : program.outputs) {
    bool isUser = output.kind == OutputSpec::Kind::User;
    size_t index = userIndex;
    userIndex += isUser;
    if (output.kind == OutputSpec::Kind::BufferChange ||
        output.kind == OutputSpec::Kind::Token ||
        output.argument.kind == Kind::None)
      continue;
    Item item = outputItem(output.argument);
    if (!item) {
      diags.reportFile(path, diag::TorchOutput, output.argument.text,
                       "there is no such value");
      return false;
    }
    std::string name = output.argument.kind == Kind::Value
                           ? identifierOf(output.argument.text)
                           : "output_" + std::to_string(index);
    if (isUser && index < given.size() && !given[index].empty())
      name = identifierOf(given[index]);
    else if (output.kind == OutputSpec::Kind::Gradient ||
             output.kind == OutputSpec::Kind::InputGradient)
      name = identifierOf(output.target) + "_gradient";
    else if (output.kind == OutputSpec::Kind::InputChange)
      name = identifierOf(output.target) + "_after";
    while (llvm::is_contained(names, name) ||
           llvm::any_of(function.parameters(), [&](const auto &parameter) {
             return parameter->name == name;
           }))
      name += "_out";
    if (output.kind == OutputSpec::Kind::InputChange)
      diags.reportFile(path, diag::TorchChangedInput, output.target, name);
    if (isComplex(item.type)) {
      diags.reportFile(path, diag::TorchOutput, name,
                       "it has complex numbers; return torch.view_as_real "
                       "of it");
      return false;
    }
    Val result = emitter->native(item.val);
    if (result && result.size() == 0) {
      diags.reportFile(path, diag::TorchOutput, name, "it has no elements");
      return false;
    }
    // Each output is the result of an op of its own.
    if (result && (!result.get()->definingOp() || result.isKnown() ||
                   !used.insert(result.get()).second))
      result = emitter->copy(result);
    if (!result) {
      takeErrors(graphRange, nullptr);
      return false;
    }
    values.push_back(result.get());
    names.push_back(name);
  }
  if (!readChanges(function))
    return false;
  if (values.empty()) {
    diags.reportFile(path, diag::TorchProgram, "it has no outputs");
    return false;
  }
  llvm::SmallVector<StringRef> texts(names.begin(), names.end());
  function.setResults(values, texts);
  return true;
}
