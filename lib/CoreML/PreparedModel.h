//===- PreparedModel.h - modules that Core ML can have ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PREPAREDMODEL_H
#define ANEC_LIB_COREML_PREPAREDMODEL_H

#include "DescriptionWriter.h"
#include "lib/CoreML/Writer.h"

namespace anec::coreml {

/// A module that Core ML can have: inputs and outputs of types that features
/// have, ops of the deployment's opset, and constants placed. Refers to the
/// module and the options that it was made from.
struct PreparedModel {
  const Module &module;
  const Deployment &deployment;
  const ModelDescription &known;
  llvm::StringMap<Classifier> classifiers; ///< by function
  PlacedMIL placed;

  /// Adds casts to `module`. Returns nothing, with the reason reported, when
  /// the deployment does not have something in the module.
  [[nodiscard]] static std::optional<PreparedModel>
  prepare(Module &module, const CoreMLWriteOptions &options,
          Diagnostics &diags);

  /// Gives the functions to `sink`, classifiers as `classify`, and returns
  /// their description.
  proto::ModelDescription emit(mil::ProgramSink &sink) const;
  /// Of the source, or else anec's.
  std::vector<std::pair<std::string, std::string>> buildInfo() const;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PREPAREDMODEL_H
