//===- GgufValue.cpp - metadata of GGUF files -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GgufTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace anec;
using namespace llvm;

unsigned anec::sizeOf(GgufType type) {
  switch (type) {
  case GgufType::UInt8:
  case GgufType::Int8:
  case GgufType::Bool:
    return 1;
  case GgufType::UInt16:
  case GgufType::Int16:
    return 2;
  case GgufType::UInt32:
  case GgufType::Int32:
  case GgufType::Float32:
    return 4;
  case GgufType::UInt64:
  case GgufType::Int64:
  case GgufType::Float64:
    return 8;
  case GgufType::String:
  case GgufType::Array:
    return 0;
  }
  return 0;
}

template <typename T>
static T read(StringRef bytes) {
  return support::endian::read<T>(bytes.data(), endianness::little);
}

std::optional<int64_t> GgufValue::getInteger() const {
  switch (type) {
  case GgufType::UInt8:
    return read<uint8_t>(bytes);
  case GgufType::Int8:
    return read<int8_t>(bytes);
  case GgufType::UInt16:
    return read<uint16_t>(bytes);
  case GgufType::Int16:
    return read<int16_t>(bytes);
  case GgufType::UInt32:
    return read<uint32_t>(bytes);
  case GgufType::Int32:
    return read<int32_t>(bytes);
  case GgufType::Int64:
    return read<int64_t>(bytes);
  case GgufType::UInt64:
    if (uint64_t value = read<uint64_t>(bytes); value <= uint64_t(INT64_MAX))
      return int64_t(value);
    return std::nullopt;
  case GgufType::Float32:
  case GgufType::Bool:
  case GgufType::String:
  case GgufType::Array:
  case GgufType::Float64:
    return std::nullopt;
  }
  return std::nullopt;
}

double anec::decimalOf(float value) {
  if (!std::isfinite(value))
    return value;
  for (int digits = 6;; ++digits) {
    std::string text;
    raw_string_ostream(text) << format("%.*g", digits, double(value));
    double decimal = std::strtod(text.c_str(), nullptr);
    if (float(decimal) == value || digits > 9)
      return decimal;
  }
}

std::optional<double> GgufValue::getNumber() const {
  if (type == GgufType::Float32)
    return decimalOf(read<float>(bytes));
  if (type == GgufType::Float64)
    return read<double>(bytes);
  if (type == GgufType::UInt64)
    return double(read<uint64_t>(bytes));
  if (std::optional<int64_t> integer = getInteger())
    return double(*integer);
  return std::nullopt;
}

std::optional<bool> GgufValue::getBool() const {
  if (type != GgufType::Bool)
    return std::nullopt;
  return bytes[0] != 0;
}

std::optional<StringRef> GgufValue::getString() const {
  if (type != GgufType::String)
    return std::nullopt;
  return bytes;
}

std::optional<std::vector<StringRef>> GgufValue::getStrings() const {
  if (type != GgufType::Array || elementType != GgufType::String)
    return std::nullopt;
  std::vector<StringRef> strings;
  strings.reserve(count);
  for (StringRef rest = bytes; !rest.empty();) {
    size_t size = read<uint64_t>(rest);
    strings.push_back(rest.substr(8, size));
    rest = rest.drop_front(8 + size);
  }
  return strings;
}

std::optional<std::vector<GgufValue>> GgufValue::getElements() const {
  if (type != GgufType::Array || elementType == GgufType::Array)
    return std::nullopt;
  std::vector<GgufValue> elements;
  elements.reserve(count);
  if (elementType == GgufType::String) {
    std::vector<StringRef> strings = *getStrings();
    for (StringRef text : strings)
      elements.push_back({GgufType::String, {}, 0, text});
    return elements;
  }
  unsigned size = sizeOf(elementType);
  for (uint64_t index = 0; index < count; ++index)
    elements.push_back({elementType, {}, 0, bytes.substr(index * size, size)});
  return elements;
}

/// A single value as JSON.
static std::string scalarText(const GgufValue &value) {
  std::string text;
  raw_string_ostream out(text);
  if (std::optional<StringRef> string = value.getString())
    out << json::Value(json::fixUTF8(string->take_front(100)));
  else if (std::optional<bool> flag = value.getBool())
    out << (*flag ? "true" : "false");
  else if (value.type == GgufType::UInt64)
    out << read<uint64_t>(value.bytes);
  else if (std::optional<int64_t> integer = value.getInteger())
    out << *integer;
  else
    out << format("%.9g", value.getNumber().value_or(0));
  return text;
}

std::string GgufValue::text() const {
  static constexpr uint64_t most = 8;
  static constexpr size_t longest = 80;
  std::string text;
  if (type != GgufType::Array) {
    text = scalarText(*this);
  } else if (elementType == GgufType::Array || count > most) {
    return "a list of " + std::to_string(count);
  } else {
    std::vector<std::string> items;
    std::vector<GgufValue> elements = *getElements();
    for (const GgufValue &element : elements)
      items.push_back(scalarText(element));
    text = "[" + join(items, ", ") + "]";
  }
  if (text.size() > longest) {
    text.resize(longest);
    while (!text.empty() && !json::isUTF8(text))
      text.pop_back();
    text += "...";
  }
  return text;
}
