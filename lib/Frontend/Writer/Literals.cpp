//===- Literals.cpp - constants as programs write them --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Literals.h"
#include "lib/IR/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace anec::frontend;

/// A statement has lists of at most this number of elements, a program those of
/// integers and truth values of at most this number.
static constexpr int64_t mostInline = 16, mostListed = 65536;
/// A list of this number of elements is plainer than a pattern.
static constexpr int64_t mostPlain = 4;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string anec::frontend::spellElement(double value, DType dtype) {
  if (!isFloat(dtype))
    return std::to_string(int64_t(value));
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  if (value == std::trunc(value) && std::abs(value) < 1e6 &&
      !(value == 0 && std::signbit(value)))
    return std::to_string(int64_t(value));
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
    double read = 0;
    if (!llvm::StringRef(text).getAsDouble(read) &&
        roundToDType(read, dtype) == value)
      break;
  }
  // `1e+06` is `1e6`, and a decimal has a point or an exponent.
  size_t plus = text.find("e+");
  if (plus != std::string::npos)
    text.erase(plus + 1, 1);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

static std::string spellAt(const Constant &value, int64_t index) {
  if (value.dtype() == DType::Bool)
    return value.doubleAt(index) != 0 ? "true" : "false";
  if (!isFloat(value.dtype()))
    return std::to_string(value.intAt(index));
  return spellElement(value.doubleAt(index), value.dtype());
}

/// The elements of `axis` and the axes after it, from element `next` on.
static std::string spellList(const Constant &value, unsigned axis,
                             int64_t &next) {
  if (axis == value.type().rank())
    return spellAt(value, next++);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < value.type().shape[axis]; ++i)
    parts.push_back(spellList(value, axis + 1, next));
  return "[" + llvm::join(parts, ", ") + "]";
}

std::string anec::frontend::literal(const Constant &value) {
  if (value.dtype() == DType::String) {
    std::vector<std::string> parts;
    for (const std::string &text : value.asStrings())
      parts.push_back("\"" + text + "\"");
    return value.type().isScalar() ? parts.front()
                                   : "[" + llvm::join(parts, ", ") + "]";
  }
  int64_t next = 0;
  return spellList(value, 0, next);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static std::string spellShape(llvm::ArrayRef<int64_t> shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape)
    parts.push_back(std::to_string(extent));
  return "[" + llvm::join(parts, ", ") + "]";
}

/// Whether they are the same number, of the same sign.
static bool isSame(double a, double b) {
  return a == b && std::signbit(a) == std::signbit(b);
}

static bool isSplat(const Constant &value) {
  for (int64_t i = 1; i < value.numElements(); ++i)
    if (!isSame(value.doubleAt(i), value.doubleAt(0)))
      return false;
  return true;
}

/// Whether the elements are 0, 1, 2, ...
static bool counts(const Constant &value) {
  for (int64_t i = 0; i < value.numElements(); ++i)
    if (!isSame(value.doubleAt(i), double(i)))
      return false;
  return true;
}

/// Whether the last two axes are a lower triangle, with its diagonal.
static bool isTriangle(const Constant &value) {
  const Shape &shape = value.type().shape;
  if (shape.size() < 2)
    return false;
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  for (int64_t i = 0; i < value.numElements(); ++i)
    if ((value.doubleAt(i) != 0) != (i % columns <= i / columns % rows))
      return false;
  return true;
}

/// Whether a pattern says more than a list.
static bool isPattern(const Constant &value) {
  return value.numElements() > mostPlain && std::isfinite(value.doubleAt(0)) &&
         (isFloat(value.dtype()) || value.dtype() == DType::Int32) &&
         (isSplat(value) || counts(value));
}

bool anec::frontend::isInline(const Constant &value) {
  return value.numElements() <= mostInline && !isPattern(value);
}

std::optional<std::string>
anec::frontend::constantExpression(const Constant &value) {
  DType dtype = value.dtype();
  std::string type = spelling(dtype).str();
  std::string shape = spellShape(value.type().shape);
  bool isSmall = value.numElements() <= mostInline;
  if (isPattern(value) && isSplat(value))
    return "fill(shape = " + shape + ", value = " + spellAt(value, 0) + ": " +
           type + ")";
  if (isPattern(value)) {
    std::string all =
        "iota(" + std::to_string(value.numElements()) + ", " + type + ")";
    return value.type().rank() == 1
               ? all
               : "reshape(" + all + ", shape = " + shape + ")";
  }
  if (!isSmall && dtype == DType::Bool && isTriangle(value))
    return "band_part(fill(shape = " + shape +
           ", value = 1: fp32), lower = -1, upper = 0) > 0.5";
  bool isList =
      isSmall || (!isFloat(dtype) && value.numElements() <= mostListed);
  if (!isList)
    return std::nullopt;
  return literal(value) + (dtype == DType::Bool ? "" : ": " + type);
}
