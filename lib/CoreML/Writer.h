//===- Writer.h - IR to Core ML packages ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_WRITER_H
#define ANEC_LIB_COREML_WRITER_H

#include "anec/CoreML/Deployment.h"
#include "anec/MIL/ModelDescription.h"
#include "anec/MIL/Printer.h"

namespace anec {

/// The function of packages that do not list functions.
inline constexpr llvm::StringLiteral plainFunction = "main";

struct CoreMLWriteOptions : CoreMLForm {
  /// What the source says of its functions: images, summaries, metadata. May be
  /// null.
  const ModelDescription *description = nullptr;

  // As in MILPrintOptions.
  ResolveWeight resolve;
  std::function<void()> written;
  Executor *executor = nullptr;
};

/// Writes the kernels of `module` as the folder `path`, a package
/// (`.mlpackage`): `Manifest.json`, the serialized model, and its weight file.
/// The same module gives the same bytes. Inputs and outputs of types that
/// features cannot have get casts, which are added to `module`. Returns false,
/// with the reason reported and nothing written, when an op is not in the opset
/// of the deployment or a function has no form in a package.
[[nodiscard]] bool writeCoreMLPackage(Module &module, llvm::StringRef path,
                                      const CoreMLWriteOptions &options,
                                      Diagnostics &diags);

/// Writes the kernels of `module` as the folder `path`, a compiled model
/// (`.mlmodelc`) like those of Core ML's compiler: `model.mil`,
/// `weights/weight.bin`, `metadata.json`, `coremldata.bin` and
/// `analytics/coremldata.bin`. Of classifiers, the last two are left out, whose
/// form is not public, with a warning: Core ML does not load the folder without
/// them. Otherwise as writeCoreMLPackage.
[[nodiscard]] bool writeCompiledCoreML(Module &module, llvm::StringRef path,
                                       const CoreMLWriteOptions &options,
                                       Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_COREML_WRITER_H
