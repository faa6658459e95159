//===- PackageFolder.h - what the folder of a package holds -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PACKAGEFOLDER_H
#define ANEC_LIB_COREML_PACKAGEFOLDER_H

#include "lib/Support/AtomicFolder.h"

namespace anec::coreml {

// The files of packages that are written, as coremltools names them.
inline constexpr llvm::StringLiteral manifestFile = "Manifest.json";
inline constexpr llvm::StringLiteral modelFile =
    "Data/com.apple.CoreML/model.mlmodel";
inline constexpr llvm::StringLiteral weightFile =
    "Data/com.apple.CoreML/weights/weight.bin";

/// Packages with just these files, which can be replaced.
const FolderKind &coreMLFolder();

/// The text of the manifest. Identifiers follow from the serialized model.
std::string manifestOf(llvm::StringRef model, bool hasWeights);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PACKAGEFOLDER_H
