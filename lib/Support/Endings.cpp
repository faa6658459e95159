//===- Endings.cpp - endings of paths that choose a format ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Endings.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;

llvm::StringRef anec::endingOf(llvm::StringRef path) {
  return llvm::sys::path::extension(path.rtrim('/'));
}

llvm::StringRef anec::closestEnding(llvm::StringRef path,
                                    llvm::ArrayRef<llvm::StringRef> endings) {
  std::string mistyped = endingOf(path).lower();
  if (mistyped.empty())
    return "";
  if (auto it = llvm::find(endings, mistyped); it != endings.end())
    return *it == endingOf(path) ? "" : *it;
  Suggestion suggestion(mistyped);
  for (llvm::StringRef ending : endings)
    suggestion.consider(ending);
  return suggestion.found();
}

bool anec::isSpecialFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return false;
  return llvm::sys::fs::exists(status) &&
         !llvm::sys::fs::is_regular_file(status) &&
         !llvm::sys::fs::is_directory(status);
}

std::string anec::wrongEnding(llvm::StringRef path,
                              llvm::ArrayRef<llvm::StringRef> endings) {
  if (llvm::is_contained(endings, endingOf(path)) || isSpecialFile(path))
    return "";
  std::string text =
      ("`" + path + "` ends in none of ").str() + llvm::join(endings, ", ");
  llvm::StringRef meant = closestEnding(path, endings);
  if (meant.empty())
    return text;
  llvm::StringRef stem = path.rtrim('/').drop_back(endingOf(path).size());
  return text + didYouMean((stem + meant).str());
}
