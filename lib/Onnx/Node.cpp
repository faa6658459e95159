//===- Node.cpp - a node that becomes ops ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "Schema.h"
#include "lib/Onnx/Diags.h"

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Val Node::raw(size_t index) {
  if (has(index))
    return inputs[index];
  if (!hasFailed)
    fail("input " + llvm::Twine(index) + " of `" + op() + "` is missing");
  return {};
}

Val Node::in(size_t index) { return e.native(raw(index)); }

Val Node::maybe(size_t index) {
  return has(index) ? e.native(inputs[index]) : Val();
}

ConstantRef Node::known(size_t index) {
  Val x = raw(index);
  if (!x || hasFailed)
    return nullptr;
  ConstantRef known = e.known(x);
  if (!known) {
    scope.needConstant(x, message.input[index], range);
    hasFailed = true;
  }
  return known;
}

bool Node::isNarrow(llvm::StringRef what, llvm::ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value < INT32_MIN || value > INT32_MAX) {
      if (!hasFailed)
        fail("`" + what + "` has the number " + llvm::Twine(value) +
             ", which int32 cannot hold");
      return false;
    }
  return true;
}

Shape Node::ints(size_t index) {
  Shape values = wideInts(index);
  return values.empty() || isNarrow(message.input[index], values) ? values
                                                                  : Shape();
}

Shape Node::wideInts(size_t index) {
  ConstantRef value = known(index);
  if (!value)
    return {};
  if (isInteger(value->dtype()))
    return Shape(value->asInts());
  fail("input `" + message.input[index] + "` must have integers");
  return {};
}

int64_t Node::integer(size_t index) {
  Shape values = ints(index);
  if (values.size() == 1)
    return values.front();
  if (!hasFailed)
    fail("input `" + message.input[index] + "` must be one number");
  return 0;
}

std::vector<double> Node::numbers(size_t index) {
  ConstantRef value = known(index);
  return value ? value->asDoubles() : std::vector<double>();
}

double Node::number(size_t index) {
  std::vector<double> values = numbers(index);
  if (values.size() == 1)
    return values.front();
  if (!hasFailed)
    fail("input `" + message.input[index] + "` must be one number");
  return 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool Node::knows(llvm::StringRef name) const {
  return llvm::any_of(
      attributesOf(domainOf(message), op()),
      [&](const AttributeRow &row) { return row.name == name; });
}

const proto::Attribute *Node::find(llvm::StringRef name) const {
  assert(knows(name) && "the schema has the attribute");
  for (auto [index, attribute] : llvm::enumerate(message.attribute))
    if (attribute.name == name) {
      wasRead[index] = true;
      return &attribute;
    }
  return nullptr;
}

void Node::ignore(llvm::StringRef name) {
  for (auto [index, attribute] : llvm::enumerate(message.attribute))
    wasRead[index] = wasRead[index] || attribute.name == name;
}

int64_t Node::attr(llvm::StringRef name, int64_t fallback) {
  int64_t value = wideAttr(name, fallback);
  return isNarrow(name, value) ? value : fallback;
}

int64_t Node::wideAttr(llvm::StringRef name, int64_t fallback) const {
  if (const proto::Attribute *attribute = find(name))
    return attribute->i;
  int64_t value = 0;
  StringRef text = fallbackOf(domainOf(message), op(), name, version);
  return text.getAsInteger(10, value) ? fallback : value;
}

double Node::attrNumber(llvm::StringRef name, double fallback) const {
  if (const proto::Attribute *attribute = find(name))
    return double(attribute->f);
  double value = 0;
  StringRef text = fallbackOf(domainOf(message), op(), name, version);
  return text.getAsDouble(value) ? fallback : double(float(value));
}

static StringRef textOf(protobuf::Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

StringRef Node::attrText(llvm::StringRef name, llvm::StringRef fallback) const {
  if (const proto::Attribute *attribute = find(name))
    return textOf(attribute->s);
  StringRef text = fallbackOf(domainOf(message), op(), name, version);
  return text.empty() ? StringRef(fallback) : text;
}

StringRef Node::attrChoice(llvm::StringRef name,
                           llvm::ArrayRef<llvm::StringLiteral> choices) {
  StringRef text = attrText(name, choices.front());
  if (llvm::is_contained(choices, text))
    return text;
  if (!hasFailed) {
    std::string list;
    for (auto [index, choice] : llvm::enumerate(choices))
      list += (index == 0                    ? "`"
               : index + 1 == choices.size() ? " or `"
                                             : ", `") +
              choice.str() + "`";
    fail("`" + name + "` of `" + op() + "` is `" + text + "`, and must be " +
         list);
  }
  return choices.front();
}

Shape Node::attrInts(llvm::StringRef name) {
  Shape values = wideAttrInts(name);
  return isNarrow(name, values) ? values : Shape();
}

Shape Node::wideAttrInts(llvm::StringRef name) const {
  const proto::Attribute *attribute = find(name);
  return attribute ? Shape(attribute->ints.begin(), attribute->ints.end())
                   : Shape();
}

std::vector<double> Node::attrNumbers(llvm::StringRef name) const {
  const proto::Attribute *attribute = find(name);
  return attribute ? std::vector<double>(attribute->floats.begin(),
                                         attribute->floats.end())
                   : std::vector<double>();
}

std::vector<StringRef> Node::attrTexts(llvm::StringRef name) const {
  std::vector<StringRef> texts;
  if (const proto::Attribute *attribute = find(name))
    for (protobuf::Bytes bytes : attribute->strings)
      texts.push_back(textOf(bytes));
  return texts;
}

ConstantRef Node::attrTensor(llvm::StringRef name) {
  const proto::Attribute *attribute = find(name);
  if (!attribute || !attribute->t.has()) {
    fail("`" + op() + "` has no attribute `" + name + "`");
    return nullptr;
  }
  ConstantRef value = scope.tensors().read(*attribute->t);
  hasFailed |= !value;
  // A function that is called several times copies it as often.
  if (value && attribute->t->rawData.empty() &&
      !e.takeElements(value->numElements()))
    tooLarge(value->type().shape);
  return hasFailed ? nullptr : value;
}

bool Node::branch(llvm::StringRef name, Vals &results,
                  llvm::ArrayRef<Val> given) {
  const proto::Attribute *attribute = find(name);
  if (!attribute || !attribute->g.has()) {
    fail("`" + op() + "` has no attribute `" + name + "`");
    return false;
  }
  bool read = scope.readBranch(*attribute->g, given, results);
  hasFailed |= !read;
  return read;
}

void Node::need(Val x, llvm::StringRef what) {
  if (!hasFailed)
    scope.needConstant(x, what, range);
  hasFailed = true;
}

int64_t Node::normalized(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (!hasFailed)
    fail("there is no axis " + llvm::Twine(axis) + " in a tensor of rank " +
         llvm::Twine(rank));
  return 0;
}

int64_t Node::axis(int64_t fallback, int64_t rank) {
  return normalized(attr("axis", fallback), rank);
}

Shape Node::axes(size_t input, int64_t since, int64_t rank,
                 bool emptyMeansAll) {
  Shape given;
  if (version < since)
    given = attrInts("axes");
  else if (has(input))
    given = ints(input);
  Shape all;
  if (given.empty() && emptyMeansAll)
    for (int64_t axis = 0; axis != rank; ++axis)
      all.push_back(axis);
  for (int64_t axis : given)
    all.push_back(normalized(axis, rank));
  llvm::sort(all);
  if (std::adjacent_find(all.begin(), all.end()) != all.end() && !hasFailed)
    fail("an axis is listed twice");
  return all;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void Node::out(size_t index, Val value) {
  if (index < outputs.size())
    outputs[index] = value;
}

bool Node::affords(llvm::ArrayRef<int64_t> extents) {
  if (!hasFailed && !e.affords(extents))
    tooLarge(extents);
  return !hasFailed;
}

void Node::tooLarge(llvm::ArrayRef<int64_t> extents) {
  hasFailed = true;
  e.diagnostics().report(range, diag::OnnxTooLarge, op(),
                         shapeToString(extents));
}

void Node::fail(const llvm::Twine &why) {
  if (!hasFailed)
    e.diagnostics().report(range, diag::OnnxNode, why.str());
  hasFailed = true;
}

void Node::refuse(const llvm::Twine &why) {
  if (!hasFailed)
    e.diagnostics().report(range, diag::OnnxUnsupported, op(), why.str());
  hasFailed = true;
}
