//===- FileOfBytes.h - bytes as a file -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_FILEOFBYTES_H
#define ANEC_TEST_FUZZ_FILEOFBYTES_H

#include "lib/Support/TemporaryFolder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace anec {

/// A folder of this process, for readers that take paths.
inline const TemporaryFolder &fuzzFolder() {
  static const std::shared_ptr<TemporaryFolder> folder = [] {
    Diagnostics diags;
    std::shared_ptr<TemporaryFolder> made = TemporaryFolder::create(diags);
    if (!made)
      std::abort();
    return made;
  }();
  return *folder;
}

inline void writeFile(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes) {
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  out.close();
  if (code || out.has_error())
    std::abort();
}

/// The path of a file called `name` with these bytes.
inline std::string fileOfBytes(llvm::StringRef name,
                               llvm::ArrayRef<uint8_t> bytes) {
  std::string path = fuzzFolder().file(name);
  writeFile(path, bytes);
  return path;
}

/// A reader gives a result or reports an error, and not both.
inline void expectOneOf(bool hasResult, const Diagnostics &diags) {
  if (hasResult == diags.hasErrors())
    std::abort();
  llvm::raw_null_ostream out;
  diags.print(out);
}

} // namespace anec

#endif // ANEC_TEST_FUZZ_FILEOFBYTES_H
