//===- FlexibleShapes.cpp - shapes for unknown extents --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FlexibleShapes.h"
#include "anec/MIL/Diags.h"
#include "anec/MIL/Spelling.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Requested shapes
//===----------------------------------------------------------------------===//

const InputShape *RequestedShapes::find(StringRef name) {
  for (const InputShape &shape : shapes)
    if (shape.name == name) {
      used.insert(name);
      return &shape;
    }
  return nullptr;
}

void RequestedShapes::reportUnused(Diagnostics &diags) const {
  for (const InputShape &shape : shapes)
    if (!shape.isHint && !used.contains(shape.name))
      diags.report({}, diag::NoInputForShape, shape.name);
}

//===----------------------------------------------------------------------===//
// FlexibleShapeInformation
//===----------------------------------------------------------------------===//

/// A string without its quotes. Names of inputs need no escapes.
static std::optional<StringRef> asString(const Literal &literal) {
  if (literal.open || literal.token.kind != Token::String)
    return std::nullopt;
  return literal.token.text.drop_front().drop_back();
}

static bool asIntegers(const Literal &literal, Shape &values) {
  values.clear();
  for (const Literal &element : literal.elements)
    if (element.open ||
        element.token.text.getAsInteger(10, values.emplace_back()))
      return false;
  return literal.open == '[';
}

/// Reads `literal` as a list of integer lists.
static bool asLists(const Literal &literal, std::vector<Shape> &lists) {
  for (const Literal &element : literal.elements)
    if (!asIntegers(element, lists.emplace_back()))
      return false;
  return literal.open == '[';
}

/// Calls `visit` with each key and value of a dictionary until it fails.
static bool forEachEntry(const Literal &dictionary,
                         function_ref<bool(StringRef, const Literal &)> visit) {
  if (dictionary.open != '{')
    return false;
  return all_of(dictionary.elements, [&](const Literal &entry) {
    if (entry.open != '{' || entry.elements.size() != 2)
      return false;
    std::optional<StringRef> key = asString(entry.elements[0]);
    return key && visit(*key, entry.elements[1]);
  });
}

/// Shapes by input; or, since inputs can depend on each other, dictionaries
/// with a shape for each input.
bool FlexibleShapes::readEnumerated(StringRef name, const Literal &value) {
  if (value.open == '{')
    return forEachEntry(value, [&](StringRef input, const Literal &shape) {
      return asIntegers(shape, inputs[input].enumerated.emplace_back());
    });
  return asLists(value, inputs[name].enumerated);
}

bool FlexibleShapes::readEntry(StringRef key, const Literal &dictionary) {
  return forEachEntry(dictionary, [&](StringRef name, const Literal &value) {
    if (key == "DefaultShapes")
      return asIntegers(value, inputs[name].byDefault.emplace());
    if (key == "EnumeratedShapes")
      return readEnumerated(name, value);
    if (key != "RangeDims")
      return true;
    std::vector<Shape> bounds;
    if (!asLists(value, bounds))
      return false;
    for (const Shape &pair : bounds) {
      if (pair.size() != 2)
        return false;
      inputs[name].range.emplace_back(pair[0], pair[1]);
    }
    return true;
  });
}

/// The pairs of key and dictionary can be enclosed in any number of
/// parentheses.
bool FlexibleShapes::read(const Literal &literal) {
  if (literal.open != '(')
    return false;
  if (literal.elements.size() == 2)
    if (std::optional<StringRef> key = asString(literal.elements[0]))
      return readEntry(*key, literal.elements[1]);
  return all_of(literal.elements,
                [&](const Literal &element) { return read(element); });
}

//===----------------------------------------------------------------------===//
// Choosing a shape
//===----------------------------------------------------------------------===//

/// Whether `shape` has the known extents of the declared type.
static bool fits(const TensorType &declared, ArrayRef<int64_t> shape) {
  if (shape.size() != declared.rank())
    return false;
  for (auto [extent, wanted] : zip_equal(shape, declared.shape))
    if (extent < 1 || (wanted != unknownExtent && extent != wanted))
      return false;
  return checkedNumElements(shape).has_value();
}

bool FlexibleShapes::allows(const FlexibleParameter &parameter,
                            ArrayRef<int64_t> shape, Diagnostics &diags) const {
  auto it = inputs.find(parameter.value->name);
  if (it == inputs.end())
    return true;
  const Input &input = it->second;
  auto refuse = [&](const Twine &allowed) {
    diags.report(parameter.typeRange, diag::ShapeNotAllowed,
                 parameter.value->name, shapeToString(shape), allowed.str());
    return false;
  };
  if (!input.enumerated.empty() &&
      !is_contained(input.enumerated, Shape(shape))) {
    std::string all;
    for (const Shape &one : input.enumerated)
      all += (all.empty() ? "" : ", ") + shapeToString(one);
    return refuse(all);
  }
  for (auto [axis, bounds] : enumerate(input.range)) {
    auto [least, most] = bounds;
    if (axis >= shape.size() ||
        (shape[axis] >= least && (most < 0 || shape[axis] <= most)))
      continue;
    std::string count =
        most < 0 ? "at least " + std::to_string(least)
                 : std::to_string(least) + " to " + std::to_string(most);
    return refuse(count + " elements along axis " + Twine(axis));
  }
  return true;
}

bool FlexibleShapes::choose(const FlexibleParameter &parameter,
                            const InputShape *requested,
                            Diagnostics &diags) const {
  Value &value = *parameter.value;
  const TensorType &declared = parameter.declared;
  auto it = inputs.find(value.name);
  bool hasDefault = it != inputs.end() && it->second.byDefault;
  if (requested && requested->isHint && !fits(declared, requested->shape))
    requested = nullptr;
  if (!requested && !hasDefault) {
    diags.report(parameter.typeRange, diag::UnknownExtents, value.name,
                 spellType(declared));
    return false;
  }
  const Shape &shape = requested ? requested->shape : *it->second.byDefault;
  if (!fits(declared, shape)) {
    diags.report(parameter.typeRange, diag::ShapeDoesNotFit, value.name,
                 spellType(declared), shapeToString(shape));
    return false;
  }
  if (requested && !allows(parameter, shape, diags))
    return false;
  value.type = {declared.dtype, shape};
  if (!requested)
    diags.report(parameter.typeRange, diag::DefaultShape, value.name,
                 spellType(declared), spellType(value.type));
  return true;
}
