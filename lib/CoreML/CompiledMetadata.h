//===- CompiledMetadata.h - metadata of compiled models ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_COMPILEDMETADATA_H
#define ANEC_LIB_COREML_COMPILEDMETADATA_H

#include "Messages.h"
#include "ProgramStatistics.h"
#include "anec/CoreML/Deployment.h"

namespace anec::coreml {

/// What `metadata.json` is about.
struct CompiledMetadata {
  const Deployment &deployment;
  const proto::ModelDescription &description;
  /// One for each function of the description, in its order.
  llvm::ArrayRef<FunctionStatistics> functions;
  llvm::StringRef name; ///< of the model

  /// The text, with the keys and spellings of Core ML's compiler.
  std::string text() const;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_COMPILEDMETADATA_H
