//===- Fields.cpp - the members of a JSON object --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Fields.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::hf;
using namespace llvm;

// What readers see after an error. They hold no memory of their own, and
// nothing changes them.
static const json::Object &noObject() {
  static const json::Object none;
  return none;
}
static const json::Array &noArray() {
  static const json::Array none;
  return none;
}

void ReadError::unknownType(StringRef part, StringRef type,
                            ArrayRef<StringRef> types) {
  if (kind == Kind::None)
    known = "`" + join(types, "`, `") + "`";
  set(Kind::Type, part, type);
}

void ReadError::report(StringRef file, Diagnostics &diags) const {
  switch (kind) {
  case Kind::None:
    return;
  case Kind::Malformed:
    diags.reportFile(file, diag::BadTokenizer, what);
    return;
  case Kind::NotSupported:
    diags.reportFile(file, diag::TokenizerPart, what);
    return;
  case Kind::Type:
    diags.reportFile(file, diag::TokenizerType, what, value, known);
    return;
  case Kind::Value:
    diags.reportFile(file, diag::TokenizerValue, what, value);
    return;
  case Kind::Pattern:
    diags.reportFile(file, diag::TokenizerPattern, what, value);
    return;
  }
}

std::string Fields::pathOf(StringRef key) const {
  return where.empty() ? key.str() : (where + "." + key).str();
}

const json::Value *Fields::value(StringRef key) {
  known.push_back(key);
  const json::Value *found = object->get(key);
  return found && found->kind() != json::Value::Null ? found : nullptr;
}

const json::Value *Fields::required(StringRef key, bool hasDefault) {
  const json::Value *found = value(key);
  if (!found && !hasDefault)
    firstError->malformed("it has no `" + pathOf(key) + "`");
  return found;
}

void Fields::wrongType(StringRef key, StringRef wanted) {
  firstError->malformed("`" + pathOf(key) + "` is not " + wanted);
}

std::string Fields::text(StringRef key, std::optional<StringRef> byDefault) {
  const json::Value *found = required(key, byDefault.has_value());
  if (!found)
    return byDefault.value_or("").str();
  std::optional<StringRef> text = found->getAsString();
  if (!text)
    wrongType(key, "a string");
  return text.value_or("").str();
}

std::optional<std::string> Fields::optionalText(StringRef key) {
  if (!object->get(key) || object->get(key)->kind() == json::Value::Null) {
    known.push_back(key);
    return std::nullopt;
  }
  return text(key);
}

bool Fields::flag(StringRef key, std::optional<bool> byDefault) {
  const json::Value *found = required(key, byDefault.has_value());
  if (!found)
    return byDefault.value_or(false);
  std::optional<bool> flag = found->getAsBoolean();
  if (!flag)
    wrongType(key, "true or false");
  return flag.value_or(false);
}

int64_t Fields::number(StringRef key, int64_t least, int64_t most,
                       std::optional<int64_t> byDefault) {
  const json::Value *found = required(key, byDefault.has_value());
  if (!found)
    return byDefault.value_or(least);
  std::optional<int64_t> number = found->getAsInteger();
  if (number && *number >= least && *number <= most)
    return *number;
  wrongType(key, "an integer from " + std::to_string(least) + " to " +
                     std::to_string(most));
  return least;
}

const json::Array &Fields::array(StringRef key) {
  const json::Value *found = required(key, /*hasDefault=*/false);
  const json::Array *array = found ? found->getAsArray() : nullptr;
  if (found && !array)
    wrongType(key, "an array");
  return array ? *array : noArray();
}

Fields Fields::fields(StringRef key) {
  const json::Value *found = required(key, /*hasDefault=*/false);
  const json::Object *inner = found ? found->getAsObject() : nullptr;
  if (found && !inner)
    wrongType(key, "an object");
  return Fields(inner ? *inner : noObject(), pathOf(key), *firstError);
}

std::optional<Fields> Fields::optionalFields(StringRef key) {
  if (value(key))
    return fields(key);
  return std::nullopt;
}

void Fields::forEachObject(StringRef key, function_ref<void(Fields &)> take) {
  for (auto [index, element] : llvm::enumerate(array(key))) {
    std::string path = pathOf(key) + "[" + std::to_string(index) + "]";
    const json::Object *inner = element.getAsObject();
    if (!inner)
      firstError->malformed("`" + path + "` is not an object");
    if (*firstError)
      return;
    Fields fields(*inner, std::move(path), *firstError);
    take(fields);
  }
}

/// `value` in at most 60 bytes.
static std::string shortText(const json::Value &value) {
  if (value.getAsObject())
    return "{..}";
  if (value.getAsArray())
    return "[..]";
  std::string text;
  raw_string_ostream(text) << value;
  if (text.size() > 60)
    text = json::fixUTF8(StringRef(text).take_front(57)) + "...";
  return text;
}

void Fields::finish() {
  // The order of a hash table must not choose which one is reported.
  std::optional<StringRef> first;
  for (const auto &[member, value] : *object) {
    StringRef key = member;
    if (!llvm::is_contained(known, key) && (!first || key < *first))
      first = key;
  }
  if (first)
    firstError->unknownValue(pathOf(*first), shortText(*object->get(*first)));
}
