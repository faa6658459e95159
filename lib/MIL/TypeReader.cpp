//===- TypeReader.cpp - reads types of MIL text ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The part of ValueReader that reads types.
///
//===----------------------------------------------------------------------===//

#include "ValueReader.h"
#include "lib/IR/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

static std::optional<ParsedType::Kind> typeConstructor(StringRef word) {
  return StringSwitch<std::optional<ParsedType::Kind>>(word)
      .Case("tensor", ParsedType::Tensor)
      .Case("dict", ParsedType::Dictionary)
      .Case("list", ParsedType::List)
      .Case("tuple", ParsedType::Tuple)
      .Case("state", ParsedType::State)
      .Case("tensor_buffer", ParsedType::Buffer)
      .Default(std::nullopt);
}

/// Types are not reserved words: `tensor` and `fp16` can also be names of
/// values.
bool ValueReader::atType() {
  const Token &token = lexer.peek();
  if (token.kind != Token::Identifier)
    return false;
  char behind = lexer.peekBehind();
  if (typeConstructor(token.text))
    return behind == '<';
  return parseDType(token.text) && behind != ',' && behind != ')' &&
         behind != '=';
}

bool ValueReader::parseExtents(ParsedType &type) {
  if (!expect('['))
    return false;
  while (!lexer.take(']')) {
    int64_t extent = 0;
    if (lexer.take('?')) {
      type.unknownExtents = true;
      extent = unknownExtent;
    } else if (lexer.peek().kind != Token::Number ||
               lexer.peek().text.getAsInteger(10, extent) || extent < 0) {
      return expected("an extent");
    } else {
      lexer.take();
    }
    if (type.tensor.rank() == maxNesting) {
      diags.report(lexer.peek().range(), diag::NestedTooDeeply, maxNesting);
      return false;
    }
    type.tensor.shape.push_back(extent);
    if (!separate(']'))
      return false;
  }
  return true;
}

/// `, key=[1, 2]`, with `count` elements.
bool ValueReader::parseIntegers(StringRef key, size_t count, Shape &values) {
  if (!expect(','))
    return false;
  if (!lexer.peek().isWord(key))
    return expected(("`" + key + "`").str());
  lexer.take();
  if (!expect('=') || !expect('['))
    return false;
  while (!lexer.take(']')) {
    int64_t value = 0;
    if (lexer.peek().kind != Token::Number ||
        lexer.peek().text.getAsInteger(10, value) || value < 1)
      return expected("a number from 1 on");
    if (values.size() == count)
      return expected("`]`");
    lexer.take();
    values.push_back(value);
    if (!separate(']'))
      return false;
  }
  return values.size() == count || expected("a number for each axis");
}

/// Of a tensor or a buffer.
bool ValueReader::parseElementType(ParsedType &type) {
  Token word = lexer.peek();
  std::optional<DType> dtype = parseDType(word.text);
  if (word.kind != Token::Identifier || !dtype)
    return expected("an element type");
  lexer.take();
  type.tensor.dtype = *dtype;
  return true;
}

/// `fp16, shape=[1, 8], strides=[32, 1], interleave_factors=[1, 1]`
bool ValueReader::parseBufferArguments(ParsedType &type) {
  if (!parseElementType(type) || !expect(','))
    return false;
  if (!lexer.peek().isWord("shape"))
    return expected("`shape`");
  lexer.take();
  if (!expect('=') || !parseExtents(type))
    return false;
  type.layout = std::make_unique<BufferLayout>();
  unsigned rank = type.tensor.rank();
  return parseIntegers("strides", rank, type.layout->strides) &&
         parseIntegers("interleave_factors", rank, type.layout->interleave);
}

/// The last part of `list<tensor<fp16, [2]>, 3>`. A list of tensors is treated
/// as the tensor that it equals.
bool ValueReader::parseListLength(ParsedType &type, const ParsedType &inner) {
  int64_t length = unknownExtent;
  bool isUnknown = lexer.peek().is('?');
  if (!isUnknown && (lexer.peek().kind != Token::Number ||
                     lexer.peek().text.getAsInteger(10, length) || length < 0))
    return expected("a length or `?`");
  lexer.take();
  if (inner.kind != ParsedType::Tensor || inner.tensor.rank() == maxNesting)
    return true;
  type.tensor = inner.tensor;
  type.tensor.shape.insert(type.tensor.shape.begin(), length);
  type.unknownExtents = isUnknown || inner.unknownExtents;
  return true;
}

/// The part between `<` and `>`.
bool ValueReader::parseTypeArguments(ParsedType &type, unsigned depth) {
  ParsedType inner;
  switch (type.kind) {
  case ParsedType::Tensor:
    return parseElementType(type) && expect(',') && parseExtents(type);
  case ParsedType::Dictionary:
    return parseTypeAt(inner, depth + 1) && expect(',') &&
           parseTypeAt(inner, depth + 1);
  case ParsedType::List:
    if (!parseTypeAt(inner, depth + 1) || !expect(','))
      return false;
    return parseListLength(type, inner);
  case ParsedType::Tuple:
    do {
      if (!parseTypeAt(inner, depth + 1))
        return false;
    } while (lexer.take(','));
    return true;
  case ParsedType::State:
    if (!parseTypeAt(inner, depth + 1))
      return false;
    if (inner.kind != ParsedType::Tensor)
      return unsupported(inner.range, "a state of anything but a tensor");
    type.tensor = std::move(inner.tensor);
    type.unknownExtents = inner.unknownExtents;
    return true;
  case ParsedType::Buffer:
    return parseBufferArguments(type);
  }
  return false;
}

bool ValueReader::parseTypeAt(ParsedType &type, unsigned depth) {
  if (depth > maxNesting) {
    diags.report(lexer.peek().range(), diag::NestedTooDeeply, maxNesting);
    return false;
  }
  Token word = lexer.peek();
  if (word.kind != Token::Identifier)
    return expected("a type");
  type = ParsedType();
  if (std::optional<DType> dtype = parseDType(word.text)) {
    lexer.take();
    type.tensor.dtype = *dtype;
    type.range = word.range();
    return true;
  }
  std::optional<ParsedType::Kind> kind = typeConstructor(word.text);
  if (!kind) {
    diags.report(word.range(), diag::UnknownType, word.text);
    return false;
  }
  lexer.take();
  type.kind = *kind;
  if (!expect('<') || !parseTypeArguments(type, depth) || !expect('>'))
    return false;
  type.range = rangeFrom(word.begin());
  // Sizes in bits must fit, too.
  Shape known = type.tensor.shape;
  if (type.unknownExtents)
    std::replace(known.begin(), known.end(), unknownExtent, int64_t(1));
  if (!checkedNumElements(known)) {
    diags.report(type.range, diag::TypeTooLarge, spellType(type.tensor));
    return false;
  }
  return true;
}

bool ValueReader::parseType(ParsedType &type) { return parseTypeAt(type, 0); }

bool ValueReader::parseValueType(ParsedType &type) {
  if (!parseType(type))
    return false;
  if (!type.isValue())
    return unsupported(type.range, "a value that is not a tensor");
  if (type.unknownExtents && type.kind != ParsedType::Tensor)
    return unsupported(type.range,
                       (describe(type.holder()) + " of unknown extents").str());
  return true;
}
