//===- ValueReader.h - types and literals of MIL text ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_VALUEREADER_H
#define ANEC_LIB_MIL_VALUEREADER_H

#include "Lexer.h"
#include "WeightFiles.h"
#include "anec/IR/IR.h"

namespace anec::mil {

/// More than any program needs, and few enough not to exhaust the stack.
constexpr unsigned maxNesting = 64;

/// An extent that is written `?`.
constexpr int64_t unknownExtent = -1;

/// A type as the reader needs it: tensors, scalars, states and buffers are
/// interpreted, and all other types only parsed.
struct ParsedType {
  enum Kind : uint8_t { Tensor, Dictionary, List, Tuple, State, Buffer };
  Kind kind = Tensor;
  bool unknownExtents = false; ///< among those of `tensor`
  TensorType tensor;           ///< for a state or buffer, the tensor it holds
  std::unique_ptr<BufferLayout> layout;
  SourceRange range;

  /// Whether a value of a program can have this type.
  bool isValue() const {
    return kind == Tensor || kind == State || kind == Buffer;
  }
  Holder holder() const {
    return kind == State    ? Holder::State
           : kind == Buffer ? Holder::Buffer
                            : Holder::Tensor;
  }
};

/// A literal of any type, as written.
struct Literal {
  Token token;   ///< of a literal that is not a list
  char open = 0; ///< `[`, `{` or `(`, of a list
  std::vector<Literal> elements;
};

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
  /// are skipped and leave `value` null.
  bool parseTypedValue(ConstantRef &value, SourceRange &range);
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
