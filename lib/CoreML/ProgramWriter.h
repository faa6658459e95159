//===- ProgramWriter.h - statements to ML programs --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PROGRAMWRITER_H
#define ANEC_LIB_COREML_PROGRAMWRITER_H

#include "Messages.h"
#include "anec/CoreML/Deployment.h"
#include "lib/MIL/ProgramSink.h"

namespace anec::coreml {

/// Serializes a program. Operations are serialized one at a time, so that
/// messages never take more memory than their bytes.
class ProgramWriter : public mil::ProgramSink {
public:
  explicit ProgramWriter(const Deployment &deployment);

  void
  addBuildInfo(llvm::ArrayRef<std::pair<std::string, std::string>> buildInfo);
  void beginFunction(llvm::StringRef name, llvm::StringRef opset,
                     llvm::ArrayRef<mil::WrittenDeclaration> inputs) override;
  void addStatement(const mil::WrittenStatement &statement) override;
  void endFunction(llvm::ArrayRef<llvm::StringRef> results) override;

  /// The serialized `Program`.
  llvm::StringRef bytes() const { return program; }

private:
  std::string blockOf(const mil::WrittenBlock &block);

  const Deployment &deployment;
  std::string program;
  // Of the function, or block, being written.
  std::string functionName, inputs, operations;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PROGRAMWRITER_H
