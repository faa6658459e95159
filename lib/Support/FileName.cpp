//===- FileName.cpp - names that become file names ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/FileName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

bool anec::isFileName(llvm::StringRef name) {
  return !name.empty() && name.size() <= mostFileName && name != "." &&
         name != ".." && llvm::none_of(name, [](unsigned char c) {
           return c < ' ' || c == 0x7f || c == '/' || c == '\\';
         });
}

bool anec::isFilePath(llvm::StringRef path) {
  while (path.contains('/')) {
    auto [name, rest] = path.split('/');
    if (!isFileName(name))
      return false;
    path = rest;
  }
  return isFileName(path);
}

std::string anec::showFileName(llvm::StringRef name) {
  constexpr size_t most = 60;
  std::string shown;
  llvm::raw_string_ostream out(shown);
  llvm::printEscapedString(name.take_front(most), out);
  return shown + (name.size() > most ? "..." : "");
}

std::string anec::pathIn(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return std::string(path);
}
