//===- TemporaryFolder.h - a folder that a test may fill -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_UNIT_TEMPORARYFOLDER_H
#define ANEC_TEST_UNIT_TEMPORARYFOLDER_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace anec::test {

/// A new folder, removed with all it holds.
class TemporaryFolder {
public:
  TemporaryFolder() {
    (void)llvm::sys::fs::createUniqueDirectory("anec-test", folder);
  }
  ~TemporaryFolder() { (void)llvm::sys::fs::remove_directories(folder); }

  std::string operator/(llvm::StringRef name) const {
    llvm::SmallString<256> path = folder;
    llvm::sys::path::append(path, name);
    return std::string(path);
  }
  /// The names in it, sorted; those of folders end in `/`.
  std::vector<std::string> names(llvm::StringRef below = "") const {
    std::vector<std::string> all;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(*this / below, code), end;
         it != end && !code; it.increment(code))
      all.push_back(llvm::sys::path::filename(it->path()).str() +
                    (llvm::sys::fs::is_directory(it->path()) ? "/" : ""));
    llvm::sort(all);
    return all;
  }
  std::string write(llvm::StringRef name, llvm::StringRef contents) const {
    std::string path = *this / name;
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << contents;
    return path;
  }

private:
  llvm::SmallString<256> folder;
};

inline std::string readBytes(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "<cannot read>";
}

/// A file in memory, of the given bytes and at any alignment.
inline MappedFile inMemory(llvm::StringRef bytes) {
  return MappedFile(llvm::MemoryBuffer::getMemBufferCopy(bytes));
}

/// The messages of all diagnostics, one per line.
inline std::string messages(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &diag : diags.all())
    text += diag.message + " [" + diag.kind->id.str() + "]\n";
  return text;
}

} // namespace anec::test

#endif // ANEC_TEST_UNIT_TEMPORARYFOLDER_H
