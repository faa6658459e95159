//===- TemporaryFolder.h - a folder that goes with its owner ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_TEMPORARYFOLDER_H
#define ANEC_LIB_SUPPORT_TEMPORARYFOLDER_H

#include "anec/Support/Diagnostics.h"
#include "lib/Support/Unfinished.h"

namespace anec {

/// A folder of its own where the system keeps temporary files (TMPDIR). The
/// destructor removes it with all that is in it.
class TemporaryFolder {
public:
  /// Null, with the reason reported, when it cannot be made.
  [[nodiscard]] static std::shared_ptr<TemporaryFolder>
  create(Diagnostics &diags);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  llvm::StringRef path() const { return folder; }
  /// The path of `name` in it.
  std::string file(llvm::StringRef name) const {
    return folder + "/" + name.str();
  }

private:
  explicit TemporaryFolder(std::string folder)
      : folder(std::move(folder)), unfinished(this->folder) {}
  std::string folder;
  Unfinished unfinished;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_TEMPORARYFOLDER_H
