//===- CoreMLBackend.mm - programs by Core ML -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CoreML/CoreMLBackend.h"
#include "../Apple/ConstantBytes.h"
#include "../Apple/Machine.h"
#include "../Apple/SharedPrograms.h"
#include "ComputePlan.h"
#include "ModelExecutable.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::coreml;

/// Reports states of types that Core ML has no states of.
static bool checkStates(const Function &function, Diagnostics &diags) {
  bool ok = true, hasStates = false;
  for (const auto &param : function.parameters()) {
    if (param->holder != Holder::State)
      continue;
    hasStates = true;
    if (param->type.dtype == DType::FP16)
      continue;
    diags.report(param->range(), diag::CoreMLStateType, param->name,
                 param->type.str());
    ok = false;
  }
  return ok && (!hasStates || checkFeature(Feature::States, diags));
}

namespace {

class CoreMLBackend : public Backend {
public:
  CoreMLBackend(const BackendRow &row, const CoreMLBackendOptions &options)
      : Backend(row.name, row.capabilities), options(options) {
    if (!options.executor)
      this->options.executor = std::make_shared<Executor>(1);
  }

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &,
                                   Diagnostics &diags) override;

private:
  CoreMLBackendOptions options;
  SharedPrograms<LoadedModel> models;
};

} // namespace

std::unique_ptr<Executable> CoreMLBackend::load(const Function &function,
                                                const LoadOptions &,
                                                Diagnostics &diags) {
  if (!checkPorts(function, diags) || !checkStates(function, diags))
    return nullptr;
  std::optional<WrittenPackage> package =
      WrittenPackage::write(function, *options.executor, diags);
  if (!package)
    return nullptr;
  std::shared_ptr<LoadedModel> model = models.find(package->digest, [&] {
    return LoadedModel::load(*package, options, diags);
  });
  if (!model)
    return nullptr;
  return ModelExecutable::make(std::move(model), *package,
                               bytesOfConstants(function), diags);
}

std::unique_ptr<Backend>
anec::createCoreMLBackend(const CoreMLBackendOptions &options,
                          Diagnostics &diags) {
  if (!openCoreML(options, diags))
    return nullptr;
  return std::make_unique<CoreMLBackend>(coreMLBackendNotBuilt(), options);
}

BackendRow anec::coreMLBackend() {
  BackendRow row = coreMLBackendNotBuilt();
  row.isBuilt = true;
  row.open = [](const BackendSettings &settings, Diagnostics &diags) {
    return createCoreMLBackend(coreMLBackendOptions(settings), diags);
  };
  row.machine = [](const BackendSettings &) {
    return MachineNames{chipName(), systemName()};
  };
  row.place = [](const PlacementQuestion &question,
                 const BackendSettings &settings, Diagnostics &diags) {
    return askPlan(question, coreMLBackendOptions(settings), diags);
  };
  return row;
}
