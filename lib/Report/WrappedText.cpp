//===- WrappedText.cpp - text in lines of a width -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WrappedText.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

size_t anec::columnsOf(llvm::StringRef text) {
  // All bytes but those that continue a character.
  return size_t(
      llvm::count_if(text, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

void anec::printWrapped(llvm::StringRef text, size_t width, size_t indent,
                        llvm::raw_ostream &out) {
  size_t column = 0;
  while (!(text = text.ltrim(' ')).empty()) {
    auto [word, rest] = text.split(' ');
    size_t columns = columnsOf(word);
    bool isFirst = column == 0;
    if (!isFirst && column + 1 + columns > width) {
      out << '\n';
      isFirst = true;
    }
    if (isFirst)
      out.indent(unsigned(indent));
    else
      out << ' ';
    out << word;
    column = (isFirst ? indent : column + 1) + columns;
    text = rest;
  }
  if (column != 0)
    out << '\n';
}

void anec::printPadded(llvm::StringRef text, size_t width,
                       llvm::raw_ostream &out) {
  size_t columns = columnsOf(text);
  out << text;
  if (columns < width)
    out.indent(unsigned(width - columns));
}
