//===- CoreMLBackend.h - programs by Core ML --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backend that hands packages to Core ML, by its public methods alone.
/// docs/use/coreml-backend.md documents it. It is a separate library,
/// anec-coreml, which has no name of a private framework.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_COREML_COREMLBACKEND_H
#define ANEC_RUNTIME_COREML_COREMLBACKEND_H

#include "anec/Runtime/Backends.h"

namespace anec {

/// The row of the backend, which is in the library anec-coreml.
BackendRow coreMLBackend();
/// The row of a program without that library: it has the options, and reports
/// what is missing when it is opened.
BackendRow coreMLBackendNotBuilt();

/// The units that Core ML may choose from.
enum class ComputeUnits : uint8_t { All, CpuAndEngine, CpuAndGpu, Cpu };

struct CoreMLBackendOptions {
  ComputeUnits units = ComputeUnits::All;
  /// The framework's binary; empty for the system's. Tests set a double of it.
  std::string framework;
  /// Writes weights; null creates one without workers for this backend.
  std::shared_ptr<Executor> executor = nullptr;
};

/// The options given by `settings` of the row.
CoreMLBackendOptions coreMLBackendOptions(const BackendSettings &settings);

/// Returns null, with the reason reported, when this system has no Core ML.
[[nodiscard]] std::unique_ptr<Backend>
createCoreMLBackend(const CoreMLBackendOptions &options, Diagnostics &diags);

} // namespace anec

#endif // ANEC_RUNTIME_COREML_COREMLBACKEND_H
