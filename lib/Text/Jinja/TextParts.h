//===- TextParts.h - texts from parts of texts ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_TEXTPARTS_H
#define ANEC_LIB_TEXT_JINJA_TEXTPARTS_H

#include "Evaluator.h"

namespace anec::jinja {

/// Python's str.replace; all of them if `count` is negative.
std::string replaced(Evaluator &eval, llvm::StringRef text,
                     llvm::StringRef from, llvm::StringRef to, int64_t count);
/// Python's str.split, at white space where `separator` is null; from the right
/// if `fromRight`.
std::vector<llvm::StringRef> splitParts(Evaluator &eval, llvm::StringRef text,
                                        const std::string *separator,
                                        int64_t most, bool fromRight);
/// `text` in the middle of so many characters, where `place` is `^`; at their
/// beginning for `<`, at their end for `>`.
std::string justified(Evaluator &eval, llvm::StringRef text, int64_t width,
                      llvm::StringRef fill, char place);
/// textwrap.wrap of one line.
std::vector<std::string> wrapped(Evaluator &eval, llvm::StringRef line,
                                 int64_t width, bool breaksWords,
                                 bool breaksAtHyphens);
/// HTML without tags, and with characters for entities.
std::string withoutTags(Evaluator &eval, llvm::StringRef text);
std::string unescaped(Evaluator &eval, llvm::StringRef text);
/// urllib.parse.quote; `isQuery` for a part of a query.
std::string urlQuoted(llvm::StringRef text, bool isQuery);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_TEXTPARTS_H
