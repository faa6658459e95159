//===- ViewReader.h - reads the text of a view ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_VIEWREADER_H
#define ANEC_LIB_IR_VIEWREADER_H

#include "anec/IR/ArrayView.h"

namespace anec {

/// Reads one text from its beginning. After a failure, `why` has the reason.
class ViewReader {
public:
  ViewReader(llvm::StringRef text, std::string &why) : rest(text), why(why) {}

  void skipSpace() { rest = rest.ltrim(' '); }
  bool atEnd() {
    skipSpace();
    return rest.empty();
  }
  bool accept(char symbol) {
    skipSpace();
    return rest.consume_front(llvm::StringRef(&symbol, 1));
  }
  bool expect(char symbol) {
    if (accept(symbol))
      return true;
    fail("`" + std::string(1, symbol) + "`");
    return false;
  }
  /// A number that is not negative.
  std::optional<int64_t> integer();
  /// `[64, 64]`
  bool integers(Shape &values);
  /// All steps up to the end, of an array of `shape`.
  std::optional<ArrayView> steps(llvm::ArrayRef<int64_t> shape);
  /// Says that there should be `expected` here.
  void fail(llvm::StringRef expected);

  llvm::StringRef rest;
  std::string &why;

private:
  bool ranges(ViewStep &step, llvm::ArrayRef<int64_t> shape);
  std::optional<ViewStep> step(llvm::ArrayRef<int64_t> shape);
};

} // namespace anec

#endif // ANEC_LIB_IR_VIEWREADER_H
