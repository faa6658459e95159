//===- CoreMLFramework.h - finds Core ML's classes --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_COREMLFRAMEWORK_H
#define ANEC_LIB_RUNTIME_COREML_COREMLFRAMEWORK_H

#include "../Apple/CoreMLProtocols.h"
#include "anec/Runtime/CoreML/CoreMLBackend.h"

namespace anec::coreml {

/// What not every system has.
enum class Feature : uint8_t {
  Models, ///< needed by each program
  States, ///< since macOS 15
  Plans,  ///< since macOS 14.4
};

/// Opens Core ML, and checks that each class and method of models is there.
/// Returns false, with the reason reported, when it is not.
[[nodiscard]] bool openCoreML(const CoreMLBackendOptions &options,
                              Diagnostics &diags);
/// Whether the opened framework has a feature; reports what is missing.
[[nodiscard]] bool checkFeature(Feature feature, Diagnostics &diags);

/// A configuration with the compute units of `options`; autoreleased, nil when
/// there is none.
id<MlModelConfiguration> configurationOf(const CoreMLBackendOptions &options);

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_COREMLFRAMEWORK_H
