//===- Reader.h - Core ML models to IR --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_READER_H
#define ANEC_LIB_COREML_READER_H

#include "anec/MIL/Reader.h"

namespace anec {

/// Whether the folder `path` has the manifest of a Core ML package.
bool isCoreMLPackage(llvm::StringRef path);
/// Whether the file `path` begins like a serialized Core ML model.
bool isCoreMLModel(llvm::StringRef path);

/// Reads the ML program of the package at `path`, a folder `.mlpackage`. Links
/// in the package are not followed. Every chosen function becomes a kernel.
/// Returns null after errors. See readMIL for `options`.
[[nodiscard]] std::unique_ptr<Module>
readCoreMLPackage(llvm::StringRef path, const OpTable &ops, Diagnostics &diags,
                  MILReadOptions options = {});
/// The same for a `.mlmodel` file, whose weights are in the folder `weights`
/// beside it.
[[nodiscard]] std::unique_ptr<Module>
readCoreMLModel(llvm::StringRef path, const OpTable &ops, Diagnostics &diags,
                MILReadOptions options = {});

} // namespace anec

#endif // ANEC_LIB_COREML_READER_H
