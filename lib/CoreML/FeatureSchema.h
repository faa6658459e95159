//===- FeatureSchema.h - features as JSON -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_FEATURESCHEMA_H
#define ANEC_LIB_COREML_FEATURESCHEMA_H

#include "Messages.h"
#include "llvm/Support/JSON.h"

namespace anec::coreml {

/// Writes an input, output or state as Core ML's compiler describes it: all
/// values are strings, flags `0` and `1`.
void writeFeature(llvm::json::OStream &out,
                  const proto::FeatureDescription &feature);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_FEATURESCHEMA_H
