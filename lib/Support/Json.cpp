//===- Json.cpp - reading JSON from files ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Json.h"
#include "anec/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

using namespace anec;
namespace json = llvm::json;

namespace {

/// One pass over the text, without recursion. It does not check the syntax.
class JsonBounds {
public:
  JsonBounds(llvm::StringRef text, const JsonLimits &limits, JsonError &error)
      : text(text), limits(limits), error(error) {}
  bool check();

private:
  bool fail(size_t at, const llvm::Twine &message) {
    error = {message.str(), at};
    return false;
  }
  bool open(bool isObject);
  bool checkString();

  /// An object or an array that is open.
  struct Level {
    bool isObject;
    llvm::StringSet<> keys;
  };

  llvm::StringRef text;
  const JsonLimits &limits;
  JsonError &error;
  std::vector<Level> levels;
  size_t at = 0;
  bool isKey = false; ///< whether the next string is a key
  size_t objects = 0, values = 0;
};

} // namespace

bool JsonBounds::open(bool isObject) {
  if (levels.size() == limits.depth)
    return fail(at, "it is nested deeper than " + llvm::Twine(limits.depth) +
                        " levels");
  if (isObject && ++objects > limits.objects)
    return fail(at,
                "it has more than " + llvm::Twine(limits.objects) + " objects");
  levels.push_back({isObject, {}});
  isKey = isObject;
  return true;
}

/// The string that begins at `at`, which becomes the position of its end.
bool JsonBounds::checkString() {
  size_t begin = at++;
  bool isPlain = true;
  for (; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') {
      isPlain = false;
      ++at;
    }
  if (!isKey || at >= text.size())
    return true;
  isKey = false;
  std::string key = text.slice(begin + 1, at).str();
  // `"\u0061"` is the key `"a"` too.
  if (!isPlain) {
    llvm::Expected<json::Value> value = json::parse(text.slice(begin, at + 1));
    if (value)
      key = value->getAsString().value_or("").str();
    else
      llvm::consumeError(value.takeError());
  }
  if (levels.back().keys.insert(key).second)
    return true;
  return fail(begin, "it has the key `" + key + "` twice in one object");
}

bool JsonBounds::check() {
  if (text.size() > limits.bytes)
    return fail(0, "it has " + llvm::Twine(text.size()) +
                       " bytes, and at most " + llvm::Twine(limits.bytes) +
                       " are read");
  for (; at < text.size(); ++at)
    switch (text[at]) {
    case '{':
    case '[':
      if (!open(text[at] == '{'))
        return false;
      break;
    case '}':
    case ']':
      if (!levels.empty())
        levels.pop_back();
      isKey = false;
      break;
    case ',':
      isKey = !levels.empty() && levels.back().isObject;
      if (++values > limits.values)
        return fail(at, "it has more than " + llvm::Twine(limits.values) +
                            " values");
      break;
    case '"':
      if (!checkString())
        return false;
      break;
    default:
      break;
    }
  return true;
}

std::optional<json::Value>
anec::parseJson(llvm::StringRef text, JsonError &error, JsonLimits limits) {
  if (!JsonBounds(text, limits, error).check())
    return std::nullopt;
  llvm::Expected<json::Value> value = json::parse(text);
  if (value)
    return std::move(*value);
  llvm::handleAllErrors(value.takeError(), [&](const json::ParseError &reason) {
    // `[LINE:COLUMN, byte=OFFSET]: what is wrong`.
    std::string whole = reason.message();
    auto [place, message] = llvm::StringRef(whole).split("]: ");
    error.message = message.empty() ? whole : message.str();
    if (place.split("byte=").second.getAsInteger(10, error.offset))
      error.offset = 0;
  });
  return std::nullopt;
}

std::optional<json::Value> anec::parseJson(llvm::StringRef text,
                                           diag::Kind<diag::Text> kind,
                                           Diagnostics &diags) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  if (value)
    return value;
  // The end of the text is a place in its buffer too.
  auto place = llvm::SMLoc::getFromPointer(text.data() +
                                           std::min(error.offset, text.size()));
  diags.report({place, place}, kind, error.message);
  return std::nullopt;
}

std::optional<json::Value> anec::readJson(llvm::StringRef path,
                                          diag::Kind<diag::Text> kind,
                                          Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  return text ? parseJson(*text, kind, diags) : std::nullopt;
}

std::string anec::digestOf(const json::Object &object) {
  json::Object others = object;
  others.erase("sha256");
  // Prints members in the order of their keys.
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(others));
  return sha256(llvm::arrayRefFromStringRef(text));
}
