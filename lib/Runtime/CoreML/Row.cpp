//===- Row.cpp - the coreml backend as a row of the table -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The description of the backend without its library: its options and
/// capabilities. Part of the library anec, so that a program built without the
/// backend can report what it lacks.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CoreML/CoreMLBackend.h"
#include "lib/Runtime/Diags.h"

using namespace anec;

using Option = BackendOption;

/// In the order of ComputeUnits.
static constexpr Option::Value units[] = {
    {"all", "the engine, the GPU and the CPU (default)"},
    {"cpu-and-engine", "the engine and the CPU"},
    {"cpu-and-gpu", "the GPU and the CPU"},
    {"cpu", "the CPU"},
};

static constexpr Option options[] = {
    {"compute-units", Option::Choice, Option::Machine,
     "what Core ML may choose from", "", "all", units},
    {.name = "framework",
     .kind = Option::Path,
     .scope = Option::Machine,
     .help = "the framework's binary, instead of the system's",
     .environment = "ANEC_COREML_FRAMEWORK"},
};

BackendRow anec::coreMLBackendNotBuilt() {
  BackendRow row;
  row.name = "coreml";
  row.summary = "Core ML, on macOS; see docs/use/coreml-backend.md";
  row.capabilities.portTypes = {DType::FP16,  DType::FP32, DType::Int32,
                                DType::Int16, DType::Int8, DType::UInt16,
                                DType::UInt8, DType::Bool};
  row.capabilities.takesWeightsAsInputs = true;
  row.capabilities.hasStates = true;
  row.capabilities.loadsInBackground = true;
  row.options = options;
  row.isBuilt = false;
  row.open = [](const BackendSettings &, Diagnostics &diags) {
    diags.report({}, diag::CoreMLNotBuilt);
    return std::unique_ptr<Backend>();
  };
  row.machine = [](const BackendSettings &) { return MachineNames(); };
  return row;
}

CoreMLBackendOptions
anec::coreMLBackendOptions(const BackendSettings &settings) {
  BackendRow row = coreMLBackendNotBuilt();
  CoreMLBackendOptions result;
  llvm::StringRef wanted = row.valueOf("compute-units", settings);
  for (size_t i = 0; i < std::size(units); ++i)
    if (units[i].name == wanted)
      result.units = ComputeUnits(i);
  result.framework = row.valueOf("framework", settings).str();
  result.executor = settings.executor;
  return result;
}
