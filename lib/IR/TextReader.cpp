//===- TextReader.cpp - words and literals of the IR ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextReader.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/Diags.h"
#include "lib/Support/OrList.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace anec;

/// Limits the memory that one short line can allocate.
static constexpr int64_t maxSplatElements = int64_t(1) << 26;

//===----------------------------------------------------------------------===//
// Cursor
//===----------------------------------------------------------------------===//

void Cursor::skipSpace() {
  while (at != text.end()) {
    if (at[0] == '/' && at + 1 != text.end() && at[1] == '/')
      toLineEnd();
    else if (llvm::isSpace(*at))
      ++at;
    else
      return;
  }
}

void Cursor::toLineEnd() {
  while (at != text.end() && *at != '\n')
    ++at;
}

void Cursor::skipLine(const char *begin) {
  at = std::max(begin, lastTaken);
  toLineEnd();
}

bool Cursor::atEnd() {
  skipSpace();
  return at == text.end();
}

char Cursor::peek() {
  skipSpace();
  return at == text.end() ? '\0' : *at;
}

bool Cursor::consume(llvm::StringRef token) {
  skipSpace();
  if (!llvm::StringRef(at, text.end() - at).starts_with(token))
    return false;
  at += token.size();
  lastTaken = at;
  return true;
}

llvm::StringRef Cursor::word() {
  skipSpace();
  const char *begin = at;
  while (at != text.end() && (llvm::isAlnum(*at) || *at == '_' || *at == '.'))
    ++at;
  return taken(begin);
}

llvm::StringRef Cursor::number() {
  skipSpace();
  const char *begin = at;
  if (at != text.end() && (*at == '-' || *at == '+'))
    ++at;
  while (at != text.end() &&
         (llvm::isAlnum(*at) || *at == '.' ||
          ((*at == '-' || *at == '+') && (at[-1] == 'e' || at[-1] == 'p'))))
    ++at;
  return taken(begin);
}

bool Cursor::quoted(std::string &value) {
  if (!consume("\""))
    return false;
  for (; at != text.end() && *at != '"'; ++at) {
    if (*at == '\\' && at + 1 != text.end()) {
      ++at;
      value += *at == 'n' ? '\n' : *at;
      continue;
    }
    value += *at;
  }
  if (at == text.end())
    return false;
  ++at;
  lastTaken = at;
  return true;
}

bool TextReader::expected(llvm::StringRef what) {
  cursor.skipSpace();
  diags.report(here(), diag::Expected, what);
  return false;
}

bool TextReader::expect(llvm::StringRef token) {
  return cursor.consume(token) || expected(("`" + token + "`").str());
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// A word that can have hyphens.
std::string TextReader::roleWord() {
  std::string word = cursor.word().str();
  while (!word.empty() && cursor.consume("-"))
    word += "-" + cursor.word().str();
  return word;
}

/// "`a`, `b` or `c`", of the roles that fit.
template <typename Roles, typename Filter>
static std::string alternatives(Roles roles, Filter fits) {
  llvm::SmallVector<std::string> words;
  for (const auto &def : roles)
    if (fits(def))
      words.push_back("`" + def.spelling.str() + "`");
  return orList(words);
}

bool TextReader::parseRole(RolePlace place, ValueRole &role) {
  return !cursor.consume("{") || (parseRoleWord(place, role) && expect("}"));
}

bool TextReader::parseRole(ValueRole &role, std::optional<RandomMask> &mask) {
  if (!cursor.consume("{"))
    return true;
  if (!parseRoleWord(RolePlace::Parameter, role))
    return false;
  if (role == ValueRole::RandomMask && cursor.consume(",") &&
      !parseMask(mask.emplace()))
    return false;
  return expect("}");
}

/// `keep = 0.9`, `keep = 0.9, scaled = true`
bool TextReader::parseMask(RandomMask &mask) {
  double keep = 0, scaled = 0;
  if (!expect("keep") || !expect("="))
    return false;
  Cursor before = cursor;
  if (!parseNumber(keep))
    return false;
  mask.keep = float(keep);
  if (!mask.isValid()) {
    cursor = before;
    return expected("a number above 0 and at most 1");
  }
  if (cursor.consume(",") &&
      (!expect("scaled") || !expect("=") || !parseNumber(scaled)))
    return false;
  mask.scaled = scaled != 0;
  return true;
}

bool TextReader::parseRoleWord(RolePlace place, ValueRole &role) {
  if (!expect("role") || !expect("="))
    return false;
  Cursor before = cursor;
  if (std::optional<ValueRole> parsed = parseValueRole(roleWord(), place)) {
    role = *parsed;
    return true;
  }
  cursor = before;
  return expected(alternatives(
      valueRoles(), [&](const ValueRoleDef &def) { return def.fits(place); }));
}

bool TextReader::parseRole(Function &function) {
  Cursor before = cursor;
  if (!cursor.consume("{"))
    return true;
  for (bool first = true; first || !cursor.consume("}"); first = false) {
    if (!first && !expect(","))
      return false;
    llvm::StringRef key = cursor.word();
    bool isKey = (key == "role" || key == "of") && cursor.consume("=");
    if (!isKey && !first)
      return expected("`role = ` or `of = `");
    if (!isKey) {
      // The brace starts the body.
      cursor = before;
      return true;
    }
    if (key == "of") {
      if (!cursor.quoted(function.owner) || function.owner.empty())
        return expected("the name of a model or layer in quotes");
      continue;
    }
    Cursor at = cursor;
    std::optional<FunctionRole> role = parseFunctionRole(roleWord());
    if (!role) {
      cursor = at;
      return expected(alternatives(
          functionRoles(), [](const FunctionRoleDef &) { return true; }));
    }
    function.role = *role;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

bool TextReader::parseType(TensorType &type) {
  cursor.skipSpace();
  const char *begin = cursor.position();
  llvm::StringRef word = cursor.word();
  std::optional<DType> dtype = parseDType(word);
  if (!dtype)
    return expected("a type such as `fp16[4, 8]`");
  type = TensorType(*dtype);
  if (!cursor.consume("["))
    return true;
  while (!cursor.consume("]")) {
    int64_t extent = 0;
    if (cursor.number().getAsInteger(10, extent) || extent < 0)
      return expected("an extent");
    type.shape.push_back(extent);
    if (cursor.peek() != ']' && !expect(","))
      return false;
  }
  if (type.rank() == 0)
    return expected("an extent");
  if (!checkedNumElements(type.shape)) {
    diags.report(rangeFrom(begin), diag::TypeTooLarge, type.str());
    return false;
  }
  return true;
}

bool TextReader::parseNumber(double &value) {
  llvm::StringRef text = cursor.number();
  if (text == "true" || text == "false") {
    value = text == "true";
    return true;
  }
  return !text.empty() && !text.getAsDouble(value) ? true
                                                   : expected("a number");
}

/// The elements of a constant of `type` up to `close`, row-major.
bool TextReader::parseElements(TensorType type, char close,
                               ConstantRef &constant) {
  const char *begin = cursor.position();
  std::vector<double> numbers;
  std::vector<std::string> strings;
  while (cursor.peek() != close) {
    if (type.dtype == DType::String) {
      strings.emplace_back();
      if (!cursor.quoted(strings.back()))
        return expected("a string");
    } else if (!parseNumber(numbers.emplace_back())) {
      return false;
    }
    if (cursor.peek() != close && !expect(","))
      return false;
  }
  if (!expect(llvm::StringRef(&close, 1)))
    return false;
  size_t count = numbers.size() + strings.size();
  if (count != size_t(type.numElements())) {
    diags.report(rangeFrom(begin), diag::ElementCount, type.str(),
                 type.numElements(), count);
    return false;
  }
  constant = type.dtype == DType::String
                 ? Constant::strings(std::move(type), std::move(strings))
                 : Constant::fromDoubles(std::move(type), numbers);
  return true;
}

bool TextReader::parseSplat(const TensorType &type, SourceRange range,
                            ConstantRef &constant) {
  double value;
  if (!parseNumber(value) || !expect(")"))
    return false;
  if (type.numElements() > maxSplatElements) {
    diags.report(range, diag::TypeTooLarge, type.str());
    return false;
  }
  constant = Constant::fromDoubles(
      type, std::vector<double>(type.numElements(), value));
  return true;
}

bool TextReader::parseHex(const TensorType &type, SourceRange range,
                          ConstantRef &constant) {
  std::string digits, bytes;
  if (!cursor.quoted(digits) || !llvm::tryGetFromHex(digits, bytes))
    return expected("hexadecimal bytes");
  if (bytes.size() != type.numBytes()) {
    diags.report(range, diag::ByteCount, type.str(), type.numBytes(),
                 bytes.size());
    return false;
  }
  constant = Constant::copy(type, llvm::arrayRefFromStringRef(bytes));
  return expect(")");
}

bool TextReader::parseBlob(const TensorType &type, const char *begin,
                           ConstantRef &constant) {
  BlobOrigin origin;
  if (!cursor.quoted(origin.path))
    return expected("a path");
  if (!expect(","))
    return false;
  if (cursor.number().getAsInteger(10, origin.offset))
    return expected("an offset");
  if (!expect(")"))
    return false;
  if (resolveBlob)
    constant = resolveBlob(type, origin, rangeFrom(begin));
  else
    diags.report(rangeFrom(begin), diag::NoBlobsHere, origin.path);
  return constant != nullptr;
}

/// The rest of `fp16 derived(0.3333333333333333)`.
bool TextReader::parseDerived(const TensorType &type, ConstantRef &constant) {
  double number;
  if (!parseNumber(number))
    return false;
  constant = derivedConstant(type, number);
  return expect(")");
}

/// `fp16(...)`, `fp16[2] splat(...)`, `fp16[2] hex("...")`,
/// `fp16 derived(...)`, `fp16[2] blob("path", offset)`.
bool TextReader::parseTypedConstant(ConstantRef &constant) {
  cursor.skipSpace();
  const char *begin = cursor.position();
  TensorType type;
  if (!parseType(type))
    return false;
  SourceRange range = rangeFrom(begin);
  if (cursor.consume("blob("))
    return parseBlob(type, begin, constant);
  bool isText = type.dtype == DType::String;
  if (!isText && cursor.consume("hex("))
    return parseHex(type, range, constant);
  // No op produces 8-bit floats, so there is no rounding to them.
  if (isMinifloat(type.dtype))
    return expected("`hex(` or `blob(`");
  bool isOneFloat = isFloat(type.dtype) && type.numElements() == 1;
  if (isOneFloat && cursor.consume("derived("))
    return parseDerived(type, constant);
  if (!isText && cursor.consume("splat("))
    return parseSplat(type, range, constant);
  if (cursor.consume("("))
    return parseElements(type, ')', constant);
  return expected("the elements of the constant");
}

/// The rest of `[1, 2]`, `[0.5, 2]`, `[true, false]` or `["a", "b"]`.
bool TextReader::parseList(ConstantRef &constant) {
  std::vector<double> values;
  std::vector<std::string> strings;
  bool isText = cursor.peek() == '"';
  DType dtype = llvm::isAlpha(cursor.peek()) ? DType::Bool : DType::Int32;
  while (!cursor.consume("]")) {
    if (isText ? !cursor.quoted(strings.emplace_back())
               : !parseNumber(values.emplace_back()))
      return isText ? expected("a string") : false;
    if (cursor.peek() != ']' && !expect(","))
      return false;
  }
  auto isInteger = [](double value) {
    return value == std::floor(value) && std::abs(value) <= INT32_MAX;
  };
  if (dtype == DType::Int32 && !llvm::all_of(values, isInteger))
    dtype = DType::FP64;
  Shape shape = {int64_t(isText ? strings.size() : values.size())};
  constant = isText
                 ? Constant::strings({DType::String, shape}, std::move(strings))
                 : Constant::fromDoubles({dtype, shape}, values);
  return true;
}

bool TextReader::parseConstant(ConstantRef &constant) {
  char next = cursor.peek();
  if (next == '"') {
    std::string value;
    if (!cursor.quoted(value))
      return expected("the end of the string");
    constant = Constant::string(value);
    return true;
  }
  if (cursor.consume("["))
    return parseList(constant);
  for (bool value : {false, true})
    if (cursor.consume(value ? "true" : "false")) {
      constant = Constant::boolean(value);
      return true;
    }
  for (llvm::StringRef special : {"inf", "nan"})
    if (cursor.consume(special)) {
      double value;
      special.getAsDouble(value);
      constant = Constant::scalar(DType::FP64, value);
      return true;
    }
  if (!llvm::isDigit(next) && next != '-')
    return parseTypedConstant(constant);
  llvm::StringRef text = cursor.number();
  int64_t integer;
  double number;
  if (!text.getAsInteger(10, integer) && llvm::isInt<32>(integer))
    constant = Constant::int32(integer);
  else if (!text.getAsDouble(number))
    constant = Constant::scalar(DType::FP64, number);
  else
    return expected("a number");
  return true;
}
