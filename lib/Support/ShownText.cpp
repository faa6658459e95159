//===- ShownText.cpp - text of files in messages --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

/// The bytes of the control character at the start of `text`; 0 when there is
/// none.
static size_t controlBytes(llvm::StringRef text) {
  auto first = uint8_t(text[0]);
  if (first < 0x20 || first == 0x7f)
    return 1;
  bool isSecondSet = first == 0xc2 && text.size() > 1 &&
                     uint8_t(text[1]) >= 0x80 && uint8_t(text[1]) < 0xa0;
  return isSecondSet ? 2 : 0;
}

bool anec::hasControl(llvm::StringRef text) {
  for (; !text.empty(); text = text.drop_front())
    if (controlBytes(text))
      return true;
  return false;
}

std::string anec::showText(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    size_t count = controlBytes(text);
    for (char c : text.take_front(count)) {
      shown += '\\';
      shown += llvm::hexdigit(uint8_t(c) >> 4);
      shown += llvm::hexdigit(uint8_t(c) & 15);
    }
    if (count == 0)
      shown += text[count++];
    text = text.drop_front(count);
  }
  return shown;
}

bool anec::isShownLine(llvm::StringRef line) {
  llvm::StringRef begin = line.ltrim();
  if (begin.starts_with("::") || begin.starts_with("##"))
    return false;
  return llvm::none_of(llvm::split(line, '\t'), hasControl);
}
