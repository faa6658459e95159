//===- Json.cpp - reading JSON from files ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Json.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace anec;
namespace json = llvm::json;

namespace {

/// A parser of one text. Reading a value, `at` is the position of its first
/// character before and of the character behind it after.
class JsonParser {
public:
  JsonParser(llvm::StringRef text, const JsonLimits &limits, JsonError &error,
             JsonPlaces *places = nullptr)
      : text(text), limits(limits), error(error), places(places) {}
  std::optional<json::Value> parse();

private:
  bool fail(size_t place, const llvm::Twine &message) {
    error = {message.str(), place};
    return false;
  }
  /// The next character that is not white space; 0 at the end of the text.
  char peek() {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c) {
    bool is = peek() == c;
    at += is;
    return is;
  }
  bool countValue();
  bool parseValue(json::Value &value, unsigned depth);
  bool parseAny(json::Value &value, unsigned depth);
  /// Parses a value that is at `step` of what `pointer` points to.
  bool parseAt(const std::string &step, json::Value &value, unsigned depth);
  bool parseArray(json::Value &value, unsigned depth);
  bool parseObject(json::Value &value, unsigned depth);
  bool parseString(std::string &value);
  bool parseWord(json::Value &value);
  bool parseLeaf(size_t begin, json::Value &value);

  llvm::StringRef text;
  const JsonLimits &limits;
  JsonError &error;
  JsonPlaces *places;  ///< may be null
  std::string pointer; ///< to the value; kept only for `places`
  size_t at = 0;
  size_t objects = 0, values = 0;
};

} // namespace

/// Counts a value that follows another one.
bool JsonParser::countValue() {
  return ++values <= limits.values ||
         fail(at - 1,
              "it has more than " + llvm::Twine(limits.values) + " values");
}

/// The smallest double beyond int64.
static constexpr double beyondInt64 = 0x1p63;

json::Value anec::jsonNumber(double number) {
  if (number == beyondInt64)
    return uint64_t(beyondInt64);
  return number;
}

/// Sets `value` to that of `[begin, at)`, a string or a word.
bool JsonParser::parseLeaf(size_t begin, json::Value &value) {
  llvm::Expected<json::Value> leaf = json::parse(text.slice(begin, at));
  if (leaf) {
    value = std::move(*leaf);
    if (std::optional<double> number = value.getAsNumber();
        number == beyondInt64 && !value.getAsUINT64())
      value = jsonNumber(*number);
    return true;
  }
  llvm::handleAllErrors(leaf.takeError(), [&](const json::ParseError &reason) {
    // `[LINE:COLUMN, byte=OFFSET]: what is wrong`.
    std::string whole = reason.message();
    auto [place, message] = llvm::StringRef(whole).split("]: ");
    size_t offset = 0;
    if (place.split("byte=").second.getAsInteger(10, offset))
      offset = 0;
    fail(begin + offset, message.empty() ? whole : message.str());
  });
  return false;
}

bool JsonParser::parseString(std::string &value) {
  size_t begin = at++;
  bool isPlain = true;
  for (; at < text.size() && text[at] != '"'; ++at) {
    isPlain &= text[at] != '\\' && uint8_t(text[at]) >= 0x20;
    at += text[at] == '\\';
  }
  if (at >= text.size()) {
    at = text.size();
    return fail(at, "the text ends inside of a string");
  }
  ++at;
  if (isPlain) {
    value = text.slice(begin + 1, at - 1).str();
    return true;
  }
  json::Value leaf = nullptr;
  if (!parseLeaf(begin, leaf))
    return false;
  value = leaf.getAsString()->str();
  return true;
}

/// A number, `true`, `false` or `null`.
bool JsonParser::parseWord(json::Value &value) {
  size_t begin = at;
  at = std::min(text.find_first_of(" \t\r\n,:[]{}\"", at), text.size());
  llvm::StringRef word = text.slice(begin, at);
  if (word.empty())
    return fail(begin, begin < text.size() ? "expected a value"
                                           : "the text ends before a value");
  llvm::StringRef digits = word;
  bool isNegative = digits.consume_front("-");
  if (digits.empty() || digits.size() > 18 ||
      !llvm::all_of(digits, llvm::isDigit))
    return parseLeaf(begin, value);
  int64_t number = 0;
  for (char digit : digits)
    number = number * 10 + (digit - '0');
  value = isNegative ? -number : number;
  return true;
}

bool JsonParser::parseArray(json::Value &value, unsigned depth) {
  ++at;
  // A vector of json::Value copies its elements deeply when it grows.
  llvm::SmallVector<json::Value, 4> elements;
  if (!take(']'))
    for (bool more = true; more;) {
      elements.emplace_back(nullptr);
      if (!parseAt(places ? JsonPlaces::element(pointer, elements.size() - 1)
                          : "",
                   elements.back(), depth))
        return false;
      more = take(',');
      if (more ? !countValue() : !take(']'))
        return more ? false : fail(at, "expected `,` or `]`");
    }
  json::Array array;
  array.reserve(elements.size());
  for (json::Value &element : elements)
    array.push_back(std::move(element));
  value = std::move(array);
  return true;
}

bool JsonParser::parseObject(json::Value &value, unsigned depth) {
  if (++objects > limits.objects)
    return fail(at,
                "it has more than " + llvm::Twine(limits.objects) + " objects");
  ++at;
  json::Object object;
  if (!take('}'))
    for (bool more = true; more;) {
      if (peek() != '"')
        return fail(at, "expected a key");
      size_t begin = at;
      std::string key;
      if (!parseString(key))
        return false;
      std::string step = places ? JsonPlaces::member(pointer, key) : "";
      if (places)
        places->addKey(step, text.slice(begin, at));
      auto [member, isNew] = object.try_emplace(std::move(key), nullptr);
      if (!isNew)
        return fail(begin, "it has the key `" + member->first.str() +
                               "` twice in one object");
      if (!take(':'))
        return fail(at, "expected `:`");
      if (!parseAt(step, member->second, depth))
        return false;
      more = take(',');
      if (more ? !countValue() : !take('}'))
        return more ? false : fail(at, "expected `,` or `}`");
    }
  value = std::move(object);
  return true;
}

bool JsonParser::parseAt(const std::string &step, json::Value &value,
                         unsigned depth) {
  if (!places)
    return parseValue(value, depth);
  std::string outer = std::exchange(pointer, step);
  bool ok = parseValue(value, depth);
  pointer = std::move(outer);
  return ok;
}

bool JsonParser::parseValue(json::Value &value, unsigned depth) {
  peek();
  size_t begin = at;
  if (!parseAny(value, depth))
    return false;
  if (places)
    places->addValue(pointer, text.slice(begin, at));
  return true;
}

bool JsonParser::parseAny(json::Value &value, unsigned depth) {
  char first = peek();
  if ((first == '{' || first == '[') && depth == limits.depth)
    return fail(at, "it is nested deeper than " + llvm::Twine(limits.depth) +
                        " levels");
  if (first == '{')
    return parseObject(value, depth + 1);
  if (first == '[')
    return parseArray(value, depth + 1);
  if (first != '"')
    return parseWord(value);
  std::string string;
  if (!parseString(string))
    return false;
  value = std::move(string);
  return true;
}

std::optional<json::Value> JsonParser::parse() {
  if (text.size() > limits.bytes) {
    fail(0, "it has " + llvm::Twine(text.size()) + " bytes, and at most " +
                llvm::Twine(limits.bytes) + " are read");
    return std::nullopt;
  }
  if (size_t invalid = 0; !json::isUTF8(text, &invalid)) {
    fail(invalid, "it is not UTF-8");
    return std::nullopt;
  }
  json::Value value = nullptr;
  if (!parseValue(value, 0))
    return std::nullopt;
  if (peek(); at < text.size()) {
    fail(at, "the text does not end after the value");
    return std::nullopt;
  }
  return value;
}

std::string JsonPlaces::member(llvm::StringRef pointer, llvm::StringRef key) {
  std::string result = pointer.str() + "/";
  for (char c : key)
    if (c == '~' || c == '/')
      result += c == '~' ? "~0" : "~1";
    else
      result += c;
  return result;
}

std::string JsonPlaces::element(llvm::StringRef pointer, size_t index) {
  return pointer.str() + "/" + std::to_string(index);
}

static SourceRange rangeOf(llvm::StringRef text) {
  return {llvm::SMLoc::getFromPointer(text.begin()),
          llvm::SMLoc::getFromPointer(text.end())};
}

SourceRange JsonPlaces::value(llvm::StringRef pointer) const {
  auto found = places.find(pointer);
  return found == places.end() ? SourceRange() : rangeOf(found->second.value);
}

llvm::StringRef JsonPlaces::text(llvm::StringRef pointer) const {
  return places.lookup(pointer).value;
}

SourceRange JsonPlaces::key(llvm::StringRef pointer) const {
  auto found = places.find(pointer);
  return found == places.end() ? SourceRange() : rangeOf(found->second.key);
}

std::optional<json::Value> anec::parseJson(llvm::StringRef text,
                                           JsonError &error, JsonLimits limits,
                                           JsonPlaces *places) {
  return JsonParser(text, limits, error, places).parse();
}

std::optional<json::Value> anec::parseJson(llvm::StringRef text,
                                           diag::Kind<diag::Text> kind,
                                           Diagnostics &diags,
                                           JsonPlaces *places) {
  JsonError error;
  JsonLimits limits;
  std::optional<json::Value> value =
      JsonParser(text, limits, error, places).parse();
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
  std::vector<llvm::StringRef> keys;
  for (const auto &[key, value] : object)
    if (llvm::StringRef member = key; member != "sha256")
      keys.push_back(member);
  llvm::sort(keys);
  std::string text;
  llvm::raw_string_ostream out(text);
  json::OStream members(out);
  members.object([&] {
    for (llvm::StringRef key : keys)
      members.attribute(key, *object.get(key));
  });
  return sha256(llvm::arrayRefFromStringRef(text));
}
