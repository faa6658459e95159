//===- TextReader.h - words and literals of the IR -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The lower level of the IR's parser: characters, words, numbers, types and
/// constants.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_TEXTREADER_H
#define ANEC_LIB_IR_TEXTREADER_H

#include "lib/IR/Text.h"

namespace anec {

/// Scans the text at the character level.
class Cursor {
public:
  explicit Cursor(llvm::StringRef text) : text(text), at(text.begin()) {}

  const char *position() const { return at; }
  void skipSpace();
  /// Skips to the end of the line of the last consumed token, or of `begin`
  /// when none was consumed since.
  void skipLine(const char *begin);
  bool atEnd();
  /// The next non-space character, not consumed; 0 at the end.
  char peek();
  bool consume(llvm::StringRef token);
  /// Letters, digits, `_` and `.`; empty when there is none.
  llvm::StringRef word();
  /// A number, `inf` or `nan`, with sign and exponent.
  llvm::StringRef number();
  /// The characters of a quoted string; returns false when it is unterminated.
  bool quoted(std::string &value);

private:
  void toLineEnd();
  llvm::StringRef taken(const char *begin) {
    if (at != begin)
      lastTaken = at;
    return {begin, size_t(at - begin)};
  }

  llvm::StringRef text;
  const char *at;
  const char *lastTaken = nullptr; ///< after the last token
};

/// Reads types and constants. Failures have been reported.
class TextReader {
public:
  TextReader(llvm::StringRef text, Diagnostics &diags,
             const BlobResolver &resolveBlob)
      : cursor(text), diags(diags), resolveBlob(resolveBlob) {}

  bool parseType(TensorType &type);
  bool parseConstant(ConstantRef &constant);
  /// `{role = target}`, of a parameter or result; does not change `role` when
  /// it is absent.
  bool parseRole(RolePlace place, ValueRole &role);
  /// The same of a parameter, with how a random mask is drawn:
  /// `{role = random-mask, keep = 0.9, scaled = true}`.
  bool parseRole(ValueRole &role, std::optional<RandomMask> &mask);
  /// The same of a function: `{role = train, of = "llama"}`.
  bool parseRole(Function &function);

  SourceRange here() const { return rangeFrom(cursor.position()); }
  SourceRange rangeFrom(const char *begin) const {
    return {llvm::SMLoc::getFromPointer(begin),
            llvm::SMLoc::getFromPointer(cursor.position())};
  }
  /// Reports that `what` was expected here; returns false.
  bool expected(llvm::StringRef what);
  bool expect(llvm::StringRef token);

  Cursor cursor;
  Diagnostics &diags;

private:
  std::string roleWord();
  bool parseRoleWord(RolePlace place, ValueRole &role);
  bool parseMask(RandomMask &mask);
  bool parseNumber(double &value);
  bool parseElements(TensorType type, char close, ConstantRef &constant);
  bool parseSplat(const TensorType &type, SourceRange range,
                  ConstantRef &constant);
  bool parseHex(const TensorType &type, SourceRange range,
                ConstantRef &constant);
  bool parseBlob(const TensorType &type, const char *begin,
                 ConstantRef &constant);
  bool parseDerived(const TensorType &type, ConstantRef &constant);
  bool parseTypedConstant(ConstantRef &constant);
  bool parseList(ConstantRef &constant);

  const BlobResolver &resolveBlob;
};

} // namespace anec

#endif // ANEC_LIB_IR_TEXTREADER_H
