//===- FlexibleShapesText.cpp - FlexibleShapeInformation in text ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ValueReader.h"
#include "lib/MIL/FlexibleShapes.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

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
static bool readEnumerated(StringRef name, const Literal &value,
                           FlexibleShapes &shapes) {
  if (value.open == '{')
    return forEachEntry(value, [&](StringRef input, const Literal &shape) {
      return asIntegers(shape, shapes[input].enumerated.emplace_back());
    });
  return asLists(value, shapes[name].enumerated);
}

static bool readEntry(StringRef key, const Literal &dictionary,
                      FlexibleShapes &shapes) {
  return forEachEntry(dictionary, [&](StringRef name, const Literal &value) {
    if (key == "DefaultShapes")
      return asIntegers(value, shapes[name].byDefault.emplace());
    if (key == "EnumeratedShapes")
      return readEnumerated(name, value, shapes);
    if (key != "RangeDims")
      return true;
    std::vector<Shape> bounds;
    if (!asLists(value, bounds))
      return false;
    for (const Shape &pair : bounds) {
      if (pair.size() != 2)
        return false;
      shapes[name].range.emplace_back(pair[0], pair[1]);
    }
    return true;
  });
}

/// The pairs of key and dictionary can be enclosed in any number of
/// parentheses.
bool mil::readFlexibleShapes(const Literal &literal, FlexibleShapes &shapes) {
  if (literal.open != '(')
    return false;
  if (literal.elements.size() == 2)
    if (std::optional<StringRef> key = asString(literal.elements[0]))
      return readEntry(*key, literal.elements[1], shapes);
  return all_of(literal.elements, [&](const Literal &element) {
    return readFlexibleShapes(element, shapes);
  });
}
