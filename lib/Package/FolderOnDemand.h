//===- FolderOnDemand.h - a folder of a package in memory -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_FOLDERONDEMAND_H
#define ANEC_LIB_PACKAGE_FOLDERONDEMAND_H

#include "anec/Package/ModelPackage.h"
#include "lib/Support/TemporaryFolder.h"
#include <mutex>

namespace anec {

/// The temporary folder that a package in memory gets when someone asks for
/// one. Packages and sessions that share it can do so in several threads.
class FolderOnDemand {
public:
  /// The path of the folder with the files of `package`. Returns nothing, with
  /// the reason reported, when it cannot be written.
  [[nodiscard]] std::optional<std::string> path(const ModelPackage &package,
                                                Diagnostics &diags);

private:
  std::mutex writing;
  std::shared_ptr<TemporaryFolder> folder; ///< null before one is asked for
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_FOLDERONDEMAND_H
