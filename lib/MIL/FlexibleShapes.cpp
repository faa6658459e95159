//===- FlexibleShapes.cpp - shapes for unknown extents --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/FlexibleShapes.h"
#include "lib/IR/Elements.h"
#include "lib/IR/Names.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
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
  // Of an array for a program that was made of this one.
  for (const InputShape &shape : shapes)
    if (shape.isHint && areSpelledAlike(shape.name, name))
      return &shape;
  return nullptr;
}

const InputValue *RequestedShapes::findFixed(StringRef name) {
  for (const InputValue &value : values)
    if (value.isFixed && value.name == name) {
      used.insert(name);
      return &value;
    }
  return nullptr;
}

/// Numbers as a value of `type`; null when they do not fit it.
static ConstantRef valueOf(ArrayRef<double> numbers, const TensorType &type) {
  bool isExact = all_of(numbers, [&](double number) {
    return isFloat(type.dtype) || roundToDType(number, type.dtype) == number;
  });
  return isExact && int64_t(numbers.size()) == type.numElements()
             ? Constant::fromDoubles(type, numbers)
             : nullptr;
}

ConstantRef RequestedShapes::fit(const InputValue &fixed,
                                 const TensorType &type, SourceRange range,
                                 Diagnostics &diags) {
  std::vector<double> numbers = fixed.value->asDoubles();
  // One number is that of every element.
  if (numbers.size() == 1)
    numbers.resize(size_t(type.numElements()), numbers.front());
  if (ConstantRef value = valueOf(numbers, type))
    return value;
  diags.report(range, diag::FixedInput, fixed.name, type.str());
  return nullptr;
}

ConstantRef RequestedShapes::findAtHand(StringRef name,
                                        const TensorType &type) const {
  for (const InputValue &value : values) {
    const TensorType &given = value.value->type();
    // A scalar and an array of one element are written alike.
    bool fits = given.shape == type.shape ||
                (type.numElements() == 1 && given.numElements() == 1);
    if (!value.isFixed && fits && given.dtype != DType::String &&
        areSpelledAlike(value.name, name))
      return valueOf(value.value->asDoubles(), type);
  }
  return nullptr;
}

void RequestedShapes::reportUnused(Diagnostics &diags) const {
  for (const InputValue &value : values)
    if (value.isFixed && !used.contains(value.name))
      diags.report({}, diag::NoInputToFix, value.name);
  for (const InputShape &shape : shapes)
    if (!shape.isHint && !used.contains(shape.name))
      diags.report({}, diag::NoInputForShape, shape.name);
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

std::optional<std::string>
FlexibleShapes::Input::limitOn(ArrayRef<int64_t> shape) const {
  if (!enumerated.empty() && !is_contained(enumerated, Shape(shape))) {
    std::string all;
    for (const Shape &one : enumerated)
      all += (all.empty() ? "" : ", ") + shapeToString(one);
    return all;
  }
  for (auto [axis, bounds] : enumerate(range)) {
    auto [least, most] = bounds;
    if (axis >= shape.size() ||
        (shape[axis] >= least && (most < 0 || shape[axis] <= most)))
      continue;
    std::string count =
        most < 0 ? "at least " + std::to_string(least)
                 : std::to_string(least) + " to " + std::to_string(most);
    return count + " elements along axis " + std::to_string(axis);
  }
  return std::nullopt;
}

bool FlexibleShapes::allows(const FlexibleParameter &parameter,
                            ArrayRef<int64_t> shape, Diagnostics &diags) const {
  auto it = inputs.find(parameter.value->name);
  if (it == inputs.end())
    return true;
  std::optional<std::string> limit = it->second.limitOn(shape);
  if (limit)
    diags.report(parameter.typeRange, diag::ShapeNotAllowed,
                 parameter.value->name, shapeToString(shape), *limit);
  return !limit;
}

bool FlexibleShapes::choose(const FlexibleParameter &parameter,
                            const InputShape *requested,
                            Diagnostics &diags) const {
  Value &value = *parameter.value;
  const TensorType &declared = parameter.declared;
  auto it = inputs.find(value.name);
  bool hasDefault = it != inputs.end() && it->second.byDefault;
  InputShape ofImage;
  if (requested && requested->isHint && it != inputs.end() &&
      it->second.isImage && declared.rank() == 4 &&
      (requested->shape.size() == 2 || requested->shape.size() == 3)) {
    ofImage = *requested;
    ofImage.shape = {1, declared.shape[1], requested->shape[0],
                     requested->shape[1]};
    requested = &ofImage;
  }
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
