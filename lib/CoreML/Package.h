//===- Package.h - the files of a Core ML package ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PACKAGE_H
#define ANEC_LIB_COREML_PACKAGE_H

#include "anec/Support/MappedFile.h"

namespace anec::coreml {

/// A serialized model and the folder of its weight files.
struct ModelFiles {
  std::string modelPath;
  MappedFile model;
  /// None when there is no such folder.
  std::optional<Folder> weights;
  std::string weightPath;
};

/// The files that the manifest of the package at `path` names. Returns nothing,
/// with the reason reported, when it is not a package.
[[nodiscard]] std::optional<ModelFiles> openPackage(llvm::StringRef path,
                                                    Diagnostics &diags);
/// The model file at `path` and the folder `weights` beside it.
[[nodiscard]] std::optional<ModelFiles> openModel(llvm::StringRef path,
                                                  Diagnostics &diags);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PACKAGE_H
