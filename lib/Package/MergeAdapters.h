//===- MergeAdapters.h - adapters added to their weights --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_MERGEADAPTERS_H
#define ANEC_LIB_PACKAGE_MERGEADAPTERS_H

#include "anec/Package/ModelPackage.h"
#include "lib/Arrays/ModelFolder.h"

namespace anec {

/// Writes the arrays of `weights.source` to `path` under their names and in
/// their element types; to a matrix `w` that has an adapter in
/// `weights.adapter`, `b @ a` times the factor of `package` is added, in double
/// precision. `path` is a .safetensors file, or a .gguf file, which gets the
/// metadata of a source of that kind, or a folder, which gets config.json and
/// the files for text of a folder, and what `folder` says. `package` was
/// compiled with adapters. Returns false, with the reason reported and nothing
/// written, when these do not belong together.
[[nodiscard]] bool mergeAdapters(const ModelPackage &package,
                                 const WeightOptions &weights,
                                 llvm::StringRef path,
                                 const ModelFolderOptions &folder,
                                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_MERGEADAPTERS_H
