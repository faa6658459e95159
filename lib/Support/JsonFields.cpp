//===- JsonFields.cpp - JSON as lists of fields ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/JsonFields.h"
#include <cmath>

using namespace anec;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string JsonMisfit::str(llvm::StringRef root) const {
  if (place.empty())
    return reason + " when parsing " + root.str();
  bool isNested = place[0] != '[';
  return reason + " at " + root.str() + (isNested ? "." : "") + place;
}

std::string JsonPath::str() const {
  if (!around)
    return "";
  std::string outer = around->str();
  if (key.empty())
    return outer + "[" + std::to_string(index) + "]";
  return outer + (outer.empty() ? "" : ".") + key.str();
}

bool JsonPath::refuse(const llvm::Twine &reason) const {
  if (misfit.reason.empty())
    misfit = {reason.str(), str()};
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Takes what a value is read as, if it is that.
template <typename From, typename To>
static bool take(const std::optional<From> &value, To &to, JsonPath path,
                 const llvm::Twine &wanted) {
  if (!value)
    return path.refuse("expected " + wanted);
  to = *value;
  return true;
}

bool JsonForm<bool>::read(const json::Value &json, bool &to, JsonPath path) {
  return take(json.getAsBoolean(), to, path, "boolean");
}

bool JsonForm<int64_t>::read(const json::Value &json, int64_t &to,
                             JsonPath path) {
  return take(json.getAsInteger(), to, path, "integer");
}

bool JsonForm<uint64_t>::read(const json::Value &json, uint64_t &to,
                              JsonPath path, uint64_t most) {
  std::optional<uint64_t> number = json.getAsUINT64();
  if (number && *number > most)
    number.reset();
  return take(number, to, path, "integer from 0 to " + llvm::Twine(most));
}

bool JsonForm<double>::read(const json::Value &json, double &to,
                            JsonPath path) {
  return take(json.getAsNumber(), to, path, "number");
}

void JsonForm<double>::write(double value, json::OStream &out) {
  if (std::isfinite(value))
    out.value(value);
  else
    out.value(nullptr);
}

bool JsonForm<std::string>::read(const json::Value &json, std::string &to,
                                 JsonPath path) {
  return take(json.getAsString(), to, path, "string");
}

const json::Object *anec::objectOf(const json::Value &json, JsonPath path) {
  const json::Object *object = json.getAsObject();
  if (!object)
    path.refuse("expected object");
  return object;
}

const json::Array *anec::arrayOf(const json::Value &json, JsonPath path) {
  const json::Array *array = json.getAsArray();
  if (!array)
    path.refuse("expected array");
  return array;
}

std::optional<size_t> anec::readWord(const json::Value &json,
                                     std::span<const llvm::StringLiteral> words,
                                     JsonPath path) {
  for (size_t index = 0; index != words.size(); ++index)
    if (json.getAsString() == llvm::StringRef(words[index]))
      return index;
  std::string all;
  for (llvm::StringRef word : words)
    all += (all.empty() ? "`" : ", `") + word.str() + "`";
  path.refuse("expected one of " + all);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

const json::Value *JsonFieldReader::find(llvm::StringRef name, bool isNeeded) {
  const json::Value *value = ok ? object.get(name) : nullptr;
  if (ok && isNeeded && !value)
    ok = path.member(name).refuse("missing value");
  return value;
}
