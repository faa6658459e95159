//===- ComputePlan.h - where Core ML runs ops -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_COMPUTEPLAN_H
#define ANEC_LIB_RUNTIME_COREML_COMPUTEPLAN_H

#include "LoadedModel.h"
#include "anec/Runtime/AskedPlace.h"

namespace anec::coreml {

/// Asks Core ML for its plan of `question`. Returns nothing, with the reason
/// reported, when it has none.
[[nodiscard]] std::optional<std::vector<AskedPlace>>
askPlan(const PlacementQuestion &question, const CoreMLBackendOptions &options,
        Diagnostics &diags);

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_COMPUTEPLAN_H
