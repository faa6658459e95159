//===- Node.cpp - a node that becomes ops ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Torch/Diags.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;
using Kind = Argument::Kind;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

DType torch::nativeType(ScalarType type) {
  if (isComplex(type))
    return DType::FP32;
  return onnx::nativeType(storedType(type).value_or(DType::FP32));
}

bool torch::isFloating(ScalarType type) {
  std::optional<DType> dtype = storedType(type);
  return dtype && isFloat(*dtype);
}

bool torch::isIntegral(ScalarType type) {
  std::optional<DType> dtype = storedType(type);
  return dtype && !isFloat(*dtype) && *dtype != DType::Bool;
}

/// 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers.
static int categoryOf(ScalarType type) {
  return isComplex(type) ? 3 : isFloating(type) ? 2 : isIntegral(type) ? 1 : 0;
}

static ScalarType wider(ScalarType x, ScalarType y) {
  if (x == y)
    return x;
  int first = categoryOf(x), second = categoryOf(y);
  if (first != second) {
    if (first < second)
      std::swap(x, y);
    // A float64 beside a complex64 is a complex128.
    return x == ScalarType::Complex64 && y == ScalarType::Float64
               ? ScalarType::Complex128
               : x;
  }
  if (first == 3)
    return std::max(x, y);
  unsigned widthX = bitWidth(*storedType(x)), widthY = bitWidth(*storedType(y));
  if (first == 2)
    return widthX == widthY ? ScalarType::Float32 : widthX > widthY ? x : y;
  if (widthX < widthY)
    std::swap(x, y);
  // An unsigned type beside a signed one that is not wider.
  bool isSignedX = isSigned(*storedType(x)),
       isSignedY = isSigned(*storedType(y));
  if (!isSignedX && isSignedY)
    return bitWidth(*storedType(x)) == 8    ? ScalarType::Int16
           : bitWidth(*storedType(x)) == 16 ? ScalarType::Int32
                                            : ScalarType::Int64;
  if (isSignedX && !isSignedY &&
      bitWidth(*storedType(x)) == bitWidth(*storedType(y)))
    return bitWidth(*storedType(x)) == 8    ? ScalarType::Int16
           : bitWidth(*storedType(x)) == 16 ? ScalarType::Int32
                                            : ScalarType::Int64;
  return x;
}

ScalarType torch::promote(llvm::ArrayRef<Item> operands) {
  // Of tensors with axes, of those without, and of numbers.
  ScalarType types[3] = {};
  for (const Item &operand : operands) {
    int64_t rank = operand.val.rank() - isComplex(operand.type);
    ScalarType &type = types[operand.isNumber ? 2 : rank > 0 ? 0 : 1];
    type = type == ScalarType::None ? operand.type : wider(type, operand.type);
  }
  auto combined = [](ScalarType higher, ScalarType lower) {
    if (higher == ScalarType::None)
      return lower;
    if (lower == ScalarType::None || categoryOf(higher) >= categoryOf(lower))
      return higher;
    if (isComplex(lower) && isFloating(higher))
      return higher == ScalarType::Float64 ? ScalarType::Complex128
                                           : ScalarType::Complex64;
    return lower;
  };
  return combined(types[0], combined(types[1], types[2]));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static const Argument none;

Node::Node(const GraphNode &message, StringRef op, SourceRange range,
           Emitter &e, Scope &scope)
    : e(e), message(message), name(op), range(range), scope(scope),
      parameters(parametersOf(op)), outputs(message.outputs.size()),
      wasRead(message.inputs.size()) {}

static const Parameter *findParameter(const std::vector<Parameter> *parameters,
                                      StringRef name) {
  if (parameters)
    for (const Parameter &parameter : *parameters)
      if (parameter.name == name)
        return &parameter;
  return nullptr;
}

const Argument &Node::argument(StringRef parameter) {
  for (auto [index, input] : llvm::enumerate(message.inputs))
    if (input.name == parameter) {
      wasRead[index] = true;
      return input.argument;
    }
  const Parameter *declared = findParameter(parameters, parameter);
  return declared ? declared->byDefault : none;
}

const Argument &Node::argumentAt(size_t index) {
  if (index < message.inputs.size()) {
    wasRead[index] = true;
    return message.inputs[index].argument;
  }
  fail("it has too few arguments");
  return none;
}

bool Node::has(StringRef parameter) {
  return argument(parameter).kind != Kind::None;
}

Item Node::itemOf(const Argument &argument) {
  Item item;
  switch (argument.kind) {
  case Kind::Value:
    item = scope.find(argument.text);
    if (!item && !item.isList)
      fail("there is no value `" + argument.text +
           "`, or the operator that gives it does not compute it");
    return item;
  case Kind::Int:
    item.type = ScalarType::Int64;
    item.val = e.constant(Constant::copy(
        {DType::Int64, {}},
        {reinterpret_cast<const uint8_t *>(&argument.integer), 8}));
    break;
  case Kind::Bool:
    item.type = ScalarType::Bool;
    item.val = e.scalar(DType::Bool, double(argument.integer));
    break;
  case Kind::Float:
    item.type = ScalarType::Float32;
    item.val = e.scalar(DType::FP64, argument.number);
    break;
  case Kind::List:
    item.isList = true;
    for (const Argument &element : argument.list)
      item.list.push_back(element.kind == Kind::None ? Item()
                                                     : itemOf(element));
    return item;
  default:
    fail("an argument is neither a tensor nor a number");
    return item;
  }
  item.isNumber = true;
  return item;
}

Item Node::item(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::None) {
    fail("it has no argument `" + parameter + "`");
    return {};
  }
  return itemOf(given);
}

std::vector<Item> Node::items(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::List)
    return itemOf(given).list;
  Item item = this->item(parameter);
  if (item.isList)
    return item.list;
  fail("`" + parameter + "` must be a list");
  return {};
}

ConstantRef Node::known(Val x, StringRef what) {
  if (!x || hasFailed)
    return nullptr;
  ConstantRef known = e.known(x);
  if (!known) {
    scope.needConstant(x, what, range);
    hasFailed = true;
  }
  return known;
}

int64_t Node::integer(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::Int || given.kind == Kind::Bool)
    return given.integer;
  if (given.kind == Kind::Float && given.number == std::floor(given.number))
    return int64_t(given.number);
  ConstantRef value = known(item(parameter).val, parameter);
  if (value && value->numElements() == 1 && isInteger(value->dtype()))
    return value->intAt(0);
  fail("`" + parameter + "` must be an integer");
  return 0;
}

Shape Node::ints(StringRef parameter) {
  const Argument &given = argument(parameter);
  Shape numbers;
  if (given.kind == Kind::None)
    return numbers;
  if (given.kind != Kind::List) {
    numbers.push_back(integer(parameter));
    return numbers;
  }
  for (const Argument &element : given.list) {
    if (element.kind == Kind::Int) {
      numbers.push_back(element.integer);
      continue;
    }
    ConstantRef value = known(itemOf(element).val, parameter);
    if (!value || !isInteger(value->dtype())) {
      fail("`" + parameter + "` must have integers");
      return {};
    }
    numbers.push_back(value->intAt(0));
  }
  return numbers;
}

double Node::number(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::Float)
    return given.number;
  if (given.kind == Kind::Int || given.kind == Kind::Bool)
    return double(given.integer);
  ConstantRef value = known(item(parameter).val, parameter);
  return value ? value->doubleAt(0) : 0;
}

std::vector<double> Node::numbers(StringRef parameter) {
  std::vector<double> numbers;
  for (const Argument &element : argument(parameter).list) {
    ConstantRef value = known(itemOf(element).val, parameter);
    numbers.push_back(value ? value->doubleAt(0) : 0);
  }
  return numbers;
}

bool Node::flag(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::Bool || given.kind == Kind::Int ||
      given.kind == Kind::None)
    return given.integer != 0;
  fail("`" + parameter + "` must be True or False");
  return false;
}

llvm::SmallVector<bool> Node::flags(StringRef parameter) {
  llvm::SmallVector<bool> flags;
  for (const Argument &element : argument(parameter).list) {
    if (element.kind != Kind::Bool)
      fail("`" + parameter + "` must have True and False");
    flags.push_back(element.integer != 0);
  }
  return flags;
}

StringRef Node::text(StringRef parameter) {
  const Argument &given = argument(parameter);
  if (given.kind != Kind::String)
    fail("`" + parameter + "` must be a string");
  return given.text;
}

ScalarType Node::type(StringRef parameter, ScalarType fallback) {
  const Argument &given = argument(parameter);
  if (given.kind == Kind::None)
    return fallback;
  if (given.kind == Kind::Type || given.kind == Kind::Int)
    return ScalarType(given.integer);
  fail("`" + parameter + "` must be an element type");
  return fallback;
}

int64_t Node::normalized(int64_t axis, int64_t rank) {
  rank = std::max<int64_t>(rank, 1);
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("there is no axis " + llvm::Twine(axis) + " in a tensor of rank " +
       llvm::Twine(rank));
  return 0;
}

int64_t Node::axis(StringRef parameter, int64_t rank) {
  return normalized(integer(parameter), rank);
}

Shape Node::axes(StringRef parameter, int64_t rank) {
  Shape given = ints(parameter), all;
  if (given.empty())
    for (int64_t axis = 0; axis != rank; ++axis)
      all.push_back(axis);
  for (int64_t axis : given)
    all.push_back(normalized(axis, rank));
  llvm::sort(all);
  if (std::adjacent_find(all.begin(), all.end()) != all.end())
    fail("an axis is listed twice");
  return all;
}

Shape Node::spatial(StringRef parameter, size_t count) {
  Shape numbers = ints(parameter);
  if (numbers.size() == 1)
    numbers.resize(count, numbers.front());
  if (numbers.size() != count) {
    fail("`" + parameter + "` must have a number for each of " +
         llvm::Twine(count) + " axes");
    numbers.assign(count, 1);
  }
  return numbers;
}

/// Whether two arguments are the same number, text or list of them.
static bool equalArguments(const Argument &x, const Argument &y) {
  auto isNumber = [](const Argument &argument) {
    return argument.kind == Kind::Int || argument.kind == Kind::Float ||
           argument.kind == Kind::Bool;
  };
  auto numberOf = [](const Argument &argument) {
    return argument.kind == Kind::Float ? argument.number
                                        : double(argument.integer);
  };
  if (isNumber(x) && isNumber(y))
    return numberOf(x) == numberOf(y);
  return x.kind == y.kind && x.kind != Kind::Value && x.kind != Kind::Graph &&
         x.text == y.text && x.integer == y.integer &&
         llvm::equal(x.list, y.list, equalArguments);
}

bool Node::isDefault(const Argument &given, StringRef parameter) const {
  if (given.kind == Kind::Placement || given.kind == Kind::None)
    return true;
  const Parameter *declared = findParameter(parameters, parameter);
  return declared && declared->hasDefault &&
         equalArguments(given, declared->byDefault);
}

bool Node::checkAllRead() {
  // What says where and how tensors lie has no effect on their elements.
  static constexpr llvm::StringLiteral harmless[] = {
      "device",     "layout",        "memory_format", "non_blocking",
      "pin_memory", "requires_grad", "copy",          "implicit"};
  for (auto [index, input] : llvm::enumerate(message.inputs))
    if (!wasRead[index] && !llvm::is_contained(harmless, input.name) &&
        !isDefault(input.argument, input.name)) {
      fail("its argument `" + input.name + "` has no counterpart");
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

StringRef Node::outputName(size_t index) const {
  return index < message.outputs.size() ? message.outputs[index].text : "";
}

ScalarType Node::outType(size_t index) {
  const TensorMeta *meta = scope.metaOf(outputName(index));
  return meta ? meta->type : ScalarType::Float32;
}

Shape Node::outShape(size_t index) {
  const TensorMeta *meta = scope.metaOf(outputName(index));
  std::optional<Shape> shape = meta ? scope.shapeOf(*meta) : std::nullopt;
  if (!shape)
    fail("the shape of its result is not known");
  return shape.value_or(Shape());
}

void Node::out(size_t index, Val value) {
  if (!value || index >= outputs.size() || hasFailed)
    return;
  Item &item = outputs[index];
  item.val = value;
  item.type = outType(index);
}

void Node::outList(llvm::ArrayRef<Val> values) {
  if (outputs.empty() || hasFailed)
    return;
  const Argument &names = message.outputs.front();
  if (names.kind != Kind::List) {
    for (auto [i, value] : llvm::enumerate(values))
      out(i, value);
    return;
  }
  if (names.list.size() != values.size())
    return fail("it has " + llvm::Twine(names.list.size()) +
                " results, and becomes " + llvm::Twine(values.size()));
  Item &item = outputs.front();
  item.isList = true;
  for (auto [name, value] : llvm::zip_equal(names.list, values)) {
    Item part;
    const TensorMeta *meta = scope.metaOf(name.text);
    part.val = value;
    part.type = meta ? meta->type : ScalarType::Float32;
    item.list.push_back(part);
  }
}

//===----------------------------------------------------------------------===//
// What most rows need
//===----------------------------------------------------------------------===//

Val Node::cast(Val x, ScalarType from, ScalarType to) {
  DType dtype = nativeType(to);
  x = e.native(x);
  if (!x || from == to || x.dtype() == dtype)
    return x;
  if (dtype == DType::Bool) {
    DType wide = Emitter::wideOf(x);
    return e.make(ops::NotEqual, {e.cast(x, wide), e.scalar(wide, 0)});
  }
  if (!isInteger(dtype) || dtype == DType::Int32)
    return e.cast(x, dtype);
  // Modulo the range of the type.
  Val wide = e.cast(x, DType::Int32);
  if (x.dtype() == DType::Bool)
    return e.cast(wide, dtype);
  auto range = double(int64_t(1) << bitWidth(dtype));
  double least = isSigned(dtype) ? -range / 2 : 0;
  Val shifted = e.add(wide, -least);
  shifted = e.binary(ops::Mod, shifted, e.scalar(DType::Int32, range));
  return e.cast(e.add(shifted, least), dtype);
}

void Node::fail(const llvm::Twine &why) {
  if (!hasFailed)
    e.diagnostics().report(range, diag::TorchNode, why.str());
  hasFailed = true;
}

//===----------------------------------------------------------------------===//
// Rows of ONNX
//===----------------------------------------------------------------------===//

onnx::proto::Attribute &OnnxNode::add(llvm::StringLiteral name) {
  onnx::proto::Attribute &attribute = message.attribute.emplace_back();
  attribute.name = name;
  return attribute;
}

OnnxNode &OnnxNode::attr(llvm::StringLiteral name, int64_t value) {
  onnx::proto::Attribute &attribute = add(name);
  attribute.type = onnx::proto::AttributeType::Int;
  attribute.i = value;
  return *this;
}

OnnxNode &OnnxNode::attr(llvm::StringLiteral name,
                         llvm::ArrayRef<int64_t> values) {
  onnx::proto::Attribute &attribute = add(name);
  attribute.type = onnx::proto::AttributeType::Ints;
  attribute.ints.assign(values.begin(), values.end());
  return *this;
}

OnnxNode &OnnxNode::attr(llvm::StringLiteral name, llvm::StringRef value) {
  onnx::proto::Attribute &attribute = add(name);
  attribute.type = onnx::proto::AttributeType::String;
  attribute.s = {reinterpret_cast<const uint8_t *>(value.data()), value.size()};
  return *this;
}

OnnxNode &OnnxNode::number(llvm::StringLiteral name, double value) {
  onnx::proto::Attribute &attribute = add(name);
  attribute.type = onnx::proto::AttributeType::Float;
  attribute.f = float(value);
  return *this;
}

Vals OnnxNode::run(size_t numOutputs) {
  static constexpr llvm::StringLiteral name = "operand";
  message.input.assign(inputs.size(), name);
  message.output.assign(numOutputs, name);
  Vals missing(numOutputs);
  llvm::ArrayRef<onnx::OpRow> rows = onnx::opRows("");
  const onnx::OpRow *row = llvm::lower_bound(
      rows, message.opType,
      [](const onnx::OpRow &row, StringRef name) { return row.name < name; });
  assert(row != rows.end() && row->name == message.opType);
  if (node.failed())
    return missing;
  size_t errors = node.e.diagnostics().errorCount();
  onnx::Node read(message, opset, node.sourceRange(), inputs, node.e,
                  node.around());
  row->read(read);
  if (read.failed() || node.e.diagnostics().errorCount() != errors) {
    // Without an error, the program is read again.
    node.stop();
    return missing;
  }
  return Vals(read.results());
}
