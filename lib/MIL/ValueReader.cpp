//===- ValueReader.cpp - literals of MIL text -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ValueReader.h"
#include "Number.h"
#include "lib/IR/Diags.h"
#include "lib/IR/Elements.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

SourceRange ValueReader::rangeFrom(const char *begin) const {
  return {SMLoc::getFromPointer(begin),
          SMLoc::getFromPointer(std::max(begin, lexer.previousEnd()))};
}

bool ValueReader::expected(StringRef what) {
  const Token &token = lexer.peek();
  if (token.kind == Token::Broken)
    return false;
  std::string found = "the end of the text";
  if (token.kind != Token::End) {
    StringRef text = token.text.take_until([](char c) { return c == '\n'; });
    found = "`" + text.take_front(40).str() + "`";
    if (isASCII(text[0]) && !isPrint(text[0]))
      found = "the character " + std::to_string(unsigned(text[0]));
  }
  diags.report(token.range(), diag::ExpectedSyntax, what, found);
  return false;
}

bool ValueReader::expect(char punctuation) {
  return lexer.take(punctuation) ||
         expected(std::string{'`', punctuation, '`'});
}

bool ValueReader::separate(char close) {
  if (lexer.peek().is(close))
    return true;
  if (!lexer.take(','))
    return expected(std::string("`,` or `") + close + "`");
  return !lexer.peek().is(close) || expected("what follows the `,`");
}

bool ValueReader::parseAttributes(
    llvm::function_ref<bool(const Token &name)> read) {
  if (!lexer.take('['))
    return true;
  while (!lexer.take(']')) {
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return expected("the name of an attribute");
    lexer.take();
    if (!expect('=') || !read(name) || !separate(']'))
      return false;
  }
  return true;
}

bool ValueReader::unsupported(SourceRange range, StringRef what) {
  diags.report(range, diag::Unsupported, what);
  return false;
}

/// `1` instead of `int32(1)`, a common mistake.
bool ValueReader::isUntyped(StringRef name) {
  const Token &token = lexer.peek();
  std::string typed;
  if (token.kind == Token::String) {
    typed = "string(\"valid\")";
  } else if (token.isWord("true") || token.isWord("false")) {
    typed = ("bool(" + token.text + ")").str();
  } else if (token.is('[')) {
    typed = "tensor<int32, [2]>([0, 1])";
  } else if (token.kind == Token::Number) {
    bool isDecimal =
        token.text.find_first_not_of("+-0123456789") != StringRef::npos;
    typed = isDecimal ? "fp16(0x1p-1)" : "int32(1)";
  } else {
    return false;
  }
  StringRef shown = token.is('[') ? "[...]" : token.text.take_front(40);
  diags.report(token.range(), diag::UntypedValue, shown, name, typed);
  return true;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// The elements read so far, in the form that constants are created from.
class ValueReader::Elements {
public:
  explicit Elements(DType dtype) : dtype(dtype) {}

  int64_t count = 0;

  void addString(std::string value) {
    text.push_back(std::move(value));
    ++count;
  }
  void addFloat(double value) {
    bytes.resize(byteSize(dtype, count + 1));
    storeElement(dtype, bytes.data(), count++, value);
  }
  void addInteger(uint64_t bits) {
    bytes.resize(byteSize(dtype, count + 1));
    storeBits(dtype, bytes.data(), count++, bits);
  }
  ConstantRef make(TensorType type) {
    if (dtype == DType::String)
      return Constant::strings(std::move(type), std::move(text));
    return Constant::copy(std::move(type), bytes);
  }

private:
  DType dtype;
  SmallVector<uint8_t, 64> bytes;
  std::vector<std::string> text;
};

bool ValueReader::parseString(std::string &text) {
  if (lexer.peek().kind != Token::String)
    return expected("a string");
  text = unescape(lexer.take().text);
  return true;
}

bool ValueReader::parseElement(const TensorType &type, Elements &elements) {
  DType dtype = type.dtype;
  const Token &token = lexer.peek();
  if (dtype == DType::String) {
    std::string text;
    if (!parseString(text))
      return false;
    elements.addString(std::move(text));
    return true;
  }
  bool isTrue = token.isWord("true");
  if (dtype == DType::Bool) {
    if (!isTrue && !token.isWord("false"))
      return expected("`true` or `false`");
    elements.addInteger(isTrue);
    lexer.take();
    return true;
  }
  if (token.kind != Token::Number && token.kind != Token::Identifier)
    return expected("a number");
  if (isFloat(dtype)) {
    std::optional<double> value = parseFloat(token.text, dtype);
    if (!value)
      return expected("a number");
    if (std::isinf(*value) && !token.text.ends_with("inf"))
      diags.report(token.range(), diag::LiteralOverflow, token.text,
                   spelling(dtype));
    elements.addFloat(*value);
  } else {
    uint64_t bits;
    switch (parseInteger(token.text, dtype, bits)) {
    case IntegerVerdict::Fits:
      elements.addInteger(bits);
      break;
    case IntegerVerdict::OutOfRange:
      diags.report(token.range(), diag::LiteralRange, token.text,
                   spelling(dtype));
      return false;
    case IntegerVerdict::NoInteger:
      return expected("an integer");
    }
  }
  lexer.take();
  return true;
}

/// A list at nesting `level`. There is normally one level per axis; some
/// writers use one flat list for any rank.
bool ValueReader::parseList(const TensorType &type, unsigned level,
                            Elements &elements) {
  const char *begin = lexer.peek().begin();
  if (!expect('['))
    return false;
  bool nested = lexer.peek().is('[');
  if (nested && level + 1 >= type.rank()) {
    diags.report(lexer.peek().range(), diag::LiteralShape, spellType(type));
    return false;
  }
  int64_t count = 0;
  while (!lexer.take(']')) {
    if (nested ? !parseList(type, level + 1, elements)
               : !parseElement(type, elements))
      return false;
    ++count;
    if (!separate(']'))
      return false;
  }
  bool innermost = level + 1 == type.rank();
  bool flat = !nested && level == 0;
  if (flat && count != type.numElements()) {
    diags.report(rangeFrom(begin), diag::ElementCount, spellType(type),
                 type.numElements(), count);
    return false;
  }
  // An empty list can replace any number of empty lists.
  bool empty = count == 0 && type.numElements() == 0;
  if (!flat && !empty && (count != type.shape[level] || nested == innermost)) {
    diags.report(rangeFrom(begin), diag::LiteralShape, spellType(type));
    return false;
  }
  return true;
}

bool ValueReader::parseBlob(const TensorType &type, ConstantRef &value) {
  const char *begin = lexer.take().begin();
  if (!expect('('))
    return false;
  ConstantRef path, offset;
  SourceRange pathRange, offsetRange;
  do {
    const Token &key = lexer.peek();
    bool isPath = key.isWord("path") && !path;
    if (!isPath && (!key.isWord("offset") || offset))
      return expected("`path` or `offset`");
    lexer.take();
    if (!expect('='))
      return false;
    if (!atType())
      return expected(isPath ? "`string(...)`" : "`uint64(...)`");
    if (!parseTypedValue(isPath ? path : offset,
                         isPath ? pathRange : offsetRange))
      return false;
  } while (lexer.take(','));
  if (!expect(')'))
    return false;
  SourceRange range = rangeFrom(begin);
  if (!path || !(path->type() == TensorType(DType::String)) || !offset ||
      !(offset->type() == TensorType(DType::UInt64))) {
    diags.report(range, diag::BlobReference);
    return false;
  }
  value = weights.read(type, path->asString(), pathRange,
                       uint64_t(offset->asInt()), range);
  return value != nullptr;
}

bool ValueReader::parseLiteral(const TensorType &type, ConstantRef &value) {
  if (lexer.peek().isWord("BLOBFILE"))
    return parseBlob(type, value);
  if (isMinifloat(type.dtype))
    return unsupported(lexer.peek().range(),
                       "an 8-bit float outside a weight file");
  Elements elements(type.dtype);
  bool parsed = type.isScalar() ? parseElement(type, elements)
                                : parseList(type, 0, elements);
  if (!parsed)
    return false;
  value = elements.make(type);
  return true;
}

/// The character that closes the list that `token` opens; 0 when it opens none.
static char closingBracket(const Token &token) {
  return token.is('[') ? ']' : token.is('{') ? '}' : token.is('(') ? ')' : 0;
}

/// Any literal, brackets and braces matched.
bool ValueReader::skipLiteral(unsigned depth) {
  if (depth > maxNesting) {
    diags.report(lexer.peek().range(), diag::NestedTooDeeply, maxNesting);
    return false;
  }
  char close = closingBracket(lexer.peek());
  if (!close) {
    if (lexer.peek().kind == Token::End ||
        lexer.peek().kind == Token::Punctuation)
      return expected("a value");
    lexer.take();
    return true;
  }
  lexer.take();
  while (!lexer.take(close)) {
    if (!skipLiteral(depth + 1))
      return false;
    if (!separate(close))
      return false;
  }
  return true;
}

bool ValueReader::parseAnyLiteral(Literal &literal, unsigned depth) {
  if (depth > maxNesting) {
    diags.report(lexer.peek().range(), diag::NestedTooDeeply, maxNesting);
    return false;
  }
  char close = closingBracket(lexer.peek());
  literal.token = lexer.peek();
  if (!close)
    return skipLiteral(depth);
  literal.open = lexer.take().text[0];
  while (!lexer.take(close)) {
    if (!parseAnyLiteral(literal.elements.emplace_back(), depth + 1) ||
        !separate(close))
      return false;
  }
  return true;
}

bool ValueReader::parseTypedLiteral(Literal &literal, SourceRange &range) {
  const char *begin = lexer.peek().begin();
  ParsedType type;
  if (!parseType(type))
    return false;
  if (!lexer.peek().is('('))
    return expect('(');
  if (!parseAnyLiteral(literal, 0))
    return false;
  range = rangeFrom(begin);
  return true;
}

bool ValueReader::parseTypedValue(ConstantRef &value, SourceRange &range,
                                  bool *isList) {
  const char *begin = lexer.peek().begin();
  ParsedType type;
  value = nullptr;
  if (!parseType(type) || !expect('('))
    return false;
  // The lists that ops take: classes and positions.
  bool isScalarList = type.kind == ParsedType::List &&
                      type.tensor.rank() == 1 && !type.unknownExtents &&
                      !isFloat(type.tensor.dtype);
  if (isList)
    *isList = isScalarList;
  if (type.kind == ParsedType::Tensor || isScalarList) {
    if (type.unknownExtents)
      return unsupported(type.range, "a tensor of unknown extents");
    if (!parseLiteral(type.tensor, value))
      return false;
  } else {
    // A tuple can have parentheses in addition to those of the typed value.
    while (!lexer.peek().is(')')) {
      if (!skipLiteral(1))
        return false;
      if (!separate(')'))
        return false;
    }
  }
  if (!expect(')'))
    return false;
  range = rangeFrom(begin);
  return true;
}

bool ValueReader::parseStringPairs(
    std::vector<std::pair<std::string, std::string>> &pairs) {
  if (!expect('(') || !expect('{'))
    return false;
  while (!lexer.take('}')) {
    auto &[key, text] = pairs.emplace_back();
    if (!expect('{') || !parseString(key) || !expect(',') ||
        !parseString(text) || !expect('}'))
      return false;
    if (!separate('}'))
      return false;
  }
  return expect(')');
}
