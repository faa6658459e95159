//===- ViewReader.h - reads the text of a view ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_VIEWREADER_H
#define ANEC_LIB_IR_VIEWREADER_H

#include "anec/IR/ArrayView.h"

namespace anec {

/// Reads one text from its start. After a failure, `why` has the reason.
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
  /// A non-negative number.
  std::optional<int64_t> integer();
  /// `[64, 64]`
  bool integers(Shape &values);
  /// All steps up to the end, for an array of `shape`.
  std::optional<ArrayView> steps(llvm::ArrayRef<int64_t> shape);
  /// Sets the reason: `expected` is missing here.
  void fail(llvm::StringRef expected);

  llvm::StringRef rest;
  std::string &why;

private:
  bool ranges(ViewStep &step, llvm::ArrayRef<int64_t> shape);
  std::optional<ViewStep> step(llvm::ArrayRef<int64_t> shape);
};

} // namespace anec

#endif // ANEC_LIB_IR_VIEWREADER_H
