//===- ValueReader.h - types and literals of MIL text ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_VALUEREADER_H
#define ANEC_LIB_MIL_VALUEREADER_H

#include "Lexer.h"
#include "WeightFiles.h"
#include "anec/IR/Constant.h"

namespace anec::mil {

/// A type as far as the reader cares: tensors and scalars are known, and
/// everything else is only parsed.
struct ParsedType {
  enum Kind : uint8_t { Tensor, Dictionary, List, Tuple, State, Buffer };
  Kind kind = Tensor;
  bool unknownExtents = false; ///< a `?` among the extents of a tensor
  TensorType tensor;
  SourceRange range;
};

/// Reads types and typed values. What returns false has reported why.
class ValueReader {
public:
  ValueReader(llvm::StringRef text, WeightFiles &weights, Diagnostics &diags)
      : lexer(text, diags), weights(weights), diags(diags) {}

  Lexer lexer;

  /// Whether a type comes next, and not a name.
  bool atType();
  bool parseType(ParsedType &type);
  /// The same for a value of the program, which has to be a tensor of known
  /// extents.
  bool parseTensorType(TensorType &type, SourceRange &range);
  /// A type and its literal in parentheses. Values of other types than tensors
  /// are skipped and leave `value` null.
  bool parseTypedValue(ConstantRef &value, SourceRange &range);
  /// `({{"key", "value"}, ...})`, the literal of a dictionary of strings.
  bool
  parseStringPairs(std::vector<std::pair<std::string, std::string>> &pairs);

  // Reports that something else was expected; false.
  bool expected(llvm::StringRef what);
  bool expect(char punctuation);
  /// Takes the `,` before the next element of a list, if `close` does not end
  /// it.
  bool separate(char close);
  bool unsupported(SourceRange range, llvm::StringRef what);
  /// Whether a value comes next that lacks its type, reported as that of
  /// `name`.
  bool isUntyped(llvm::StringRef name);
  /// From `begin` to the end of the last token taken.
  SourceRange rangeFrom(const char *begin) const;

private:
  class Elements;
  bool parseTypeArguments(ParsedType &type, unsigned depth);
  bool parseTypeAt(ParsedType &type, unsigned depth);
  bool parseExtents(ParsedType &type);
  bool parseLiteral(const TensorType &type, ConstantRef &value);
  bool parseList(const TensorType &type, unsigned level, Elements &elements);
  bool parseElement(const TensorType &type, Elements &elements);
  bool parseBlob(const TensorType &type, ConstantRef &value);
  bool parseString(std::string &text);
  bool skipLiteral(unsigned depth);

  WeightFiles &weights;
  Diagnostics &diags;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_VALUEREADER_H
