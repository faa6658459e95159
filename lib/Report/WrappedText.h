//===- WrappedText.h - text in lines of a width -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_WRAPPEDTEXT_H
#define ANEC_LIB_REPORT_WRAPPEDTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace anec {

/// The number of columns that UTF-8 text takes, one for each character.
size_t columnsOf(llvm::StringRef text);

/// Prints the words of `text` in lines of at most `width` columns, each with
/// `indent` spaces before it. A longer word has a line of its own.
void printWrapped(llvm::StringRef text, size_t width, size_t indent,
                  llvm::raw_ostream &out);

/// Prints `text` and spaces up to `width` columns.
void printPadded(llvm::StringRef text, size_t width, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_WRAPPEDTEXT_H
