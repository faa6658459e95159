//===- SerializedModel.h - models as messages -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_SERIALIZEDMODEL_H
#define ANEC_LIB_COREML_SERIALIZEDMODEL_H

#include "KeptShapes.h"
#include "PreparedModel.h"

namespace anec::coreml {

struct SerializedModel {
  proto::ModelDescription description;
  std::string bytes; ///< the message `Model`

  /// With the shapes of `kept`, unless it is null. Returns nothing when a
  /// message cannot have as many bytes, which is reported for `path`.
  [[nodiscard]] static std::optional<SerializedModel>
  make(const PreparedModel &prepared, KeptShapes *kept, llvm::StringRef path,
       Diagnostics &diags);
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_SERIALIZEDMODEL_H
