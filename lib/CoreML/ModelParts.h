//===- ModelParts.h - a serialized model and its parts ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_MODELPARTS_H
#define ANEC_LIB_COREML_MODELPARTS_H

#include "Messages.h"
#include "ModelKind.h"
#include "anec/Support/Diagnostics.h"
#include <vector>

namespace anec::coreml {

/// A message `Model`, and the models in it if it is a pipeline.
struct ModelParts {
  const ModelKind *kind = nullptr; ///< never null in what `split` gives
  proto::ModelDescription description;
  Bytes body;       ///< the message of its kind
  std::string name; ///< in its pipeline; may be empty
  /// Of a model that is no pipeline: its place among all of them.
  uint64_t number = 0;
  std::vector<ModelParts> parts;

  /// Returns nothing, with the reason reported for `path`, when the bytes are
  /// no valid model.
  [[nodiscard]] static std::optional<ModelParts>
  split(Bytes bytes, llvm::StringRef path, Diagnostics &diags);

  /// The models that are no pipelines, in the order in which they run.
  std::vector<const ModelParts *> leaves() const;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_MODELPARTS_H
