//===- StopTexts.cpp - texts that end a generated text --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Generate/StopTexts.h"

using namespace anec;

std::string StopTexts::next(llvm::StringRef piece) {
  if (!match.empty())
    return "";
  held += piece;
  llvm::StringRef text = held;
  size_t first = llvm::StringRef::npos;
  for (const std::string &stop : texts)
    if (size_t at = text.find(stop); at < first) {
      first = at;
      match = stop;
    }
  size_t certain = first;
  if (match.empty()) {
    // The longest end of the text that a stop text begins with stays.
    certain = text.size();
    for (const std::string &stop : texts)
      for (size_t size = std::min(stop.size() - 1, text.size()); size; --size)
        if (text.ends_with(llvm::StringRef(stop).take_front(size))) {
          certain = std::min(certain, text.size() - size);
          break;
        }
  }
  std::string shown = held.substr(0, certain);
  held.erase(0, match.empty() ? certain : held.size());
  return shown;
}

std::string StopTexts::finish() { return std::exchange(held, ""); }
