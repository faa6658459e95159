//===- CompiledFolder.h - what a compiled model's folder holds --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_COMPILEDFOLDER_H
#define ANEC_LIB_COREML_COMPILEDFOLDER_H

#include "lib/Support/AtomicFolder.h"

namespace anec::coreml::compiled {

// The files, as Core ML's compiler names them.
inline constexpr llvm::StringLiteral textFile = "model.mil";
inline constexpr llvm::StringLiteral weightFile = "weights/weight.bin";
inline constexpr llvm::StringLiteral dataFile = "coremldata.bin";
inline constexpr llvm::StringLiteral analyticsFile = "analytics/coremldata.bin";
inline constexpr llvm::StringLiteral metadataFile = "metadata.json";

/// Compiled models with just these files, of packages or programs that anec
/// wrote, which can be replaced.
const FolderKind &folder();

} // namespace anec::coreml::compiled

#endif // ANEC_LIB_COREML_COMPILEDFOLDER_H
