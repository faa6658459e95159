//===- ValueReader.h - types and literals of MIL text ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_VALUEREADER_H
#define ANEC_LIB_MIL_VALUEREADER_H

#include "Lexer.h"
#include "lib/MIL/Statement.h"
#include "lib/MIL/WeightFiles.h"

namespace anec::mil {

/// A literal of any type, as written.
struct Literal {
  Token token;   ///< of a literal that is not a list
  char open = 0; ///< `[`, `{` or `(`, of a list
  std::vector<Literal> elements;
};

class FlexibleShapes;
/// Reads the value of the attribute FlexibleShapeInformation; returns false
/// when it is invalid, which is not reported.
bool readFlexibleShapes(const Literal &literal, FlexibleShapes &shapes);

/// Reads types and typed values. Functions that return false have reported the
/// reason.
class ValueReader {
public:
  ValueReader(llvm::StringRef text, WeightFiles &weights, Diagnostics &diags)
      : lexer(text, diags), weights(weights), diags(diags) {}

  Lexer lexer;

  /// Whether a type is next, not a name.
  bool atType();
  bool parseType(ParsedType &type);
  /// The same for a value of the program: a tensor, a state or a buffer. Only a
  /// tensor can have unknown extents.
  bool parseValueType(ParsedType &type);
  /// A type and its literal in parentheses. Values of types other than tensors
  /// and lists of strings, integers or booleans are skipped and leave `value`
  /// null; `isList` says whether it is a list.
  bool parseTypedValue(ConstantRef &value, SourceRange &range,
                       bool *isList = nullptr);
  /// The same for a value of any type, unread.
  bool parseTypedLiteral(Literal &literal, SourceRange &range);
  /// `[name = ..., ...]`, which is optional; `read` reads what follows `=`.
  bool parseAttributes(llvm::function_ref<bool(const Token &name)> read);
  /// `({{"key", "value"}, ...})`, the literal of a dictionary of strings.
  bool
  parseStringPairs(std::vector<std::pair<std::string, std::string>> &pairs);

  // Reports that `what` was expected; returns false.
  bool expected(llvm::StringRef what);
  bool expect(char punctuation);
  /// Consumes the `,` before the next element of a list, unless `close` ends
  /// it.
  bool separate(char close);
  bool unsupported(SourceRange range, llvm::StringRef what);
  /// Whether a value without a type is next, which is reported as that of
  /// `name`.
  bool isUntyped(llvm::StringRef name);
  /// From `begin` to the end of the last consumed token.
  SourceRange rangeFrom(const char *begin) const;

private:
  class Elements;
  bool parseElementType(ParsedType &type);
  bool parseTypeArguments(ParsedType &type, unsigned depth);
  bool parseTypeAt(ParsedType &type, unsigned depth);
  bool parseExtents(ParsedType &type);
  bool parseListLength(ParsedType &type, const ParsedType &inner);
  bool parseBufferArguments(ParsedType &type);
  bool parseIntegers(llvm::StringRef key, size_t count, Shape &values);
  bool parseLiteral(const TensorType &type, ConstantRef &value);
  bool parseList(const TensorType &type, unsigned level, Elements &elements);
  bool parseElement(const TensorType &type, Elements &elements);
  bool parseBlob(const TensorType &type, ConstantRef &value);
  bool parseString(std::string &text);
  bool skipLiteral(unsigned depth);
  bool parseAnyLiteral(Literal &literal, unsigned depth);

  WeightFiles &weights;
  Diagnostics &diags;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_VALUEREADER_H
