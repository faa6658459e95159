//===- CoreMLBackend.mm - programs by Core ML -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CoreML/CoreMLBackend.h"
#include "../Apple/Machine.h"
#include "ComputePlan.h"
#include "ModelExecutable.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/StringMap.h"

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

static uint64_t bytesOfConstants(const Function &function) {
  uint64_t bytes = 0;
  for (const Op &op : function.body())
    for (const ConstantRef &constant : op.constants())
      if (constant && constant->dtype() != DType::String)
        bytes += constant->type().numBytes();
  return bytes;
}

namespace {

class CoreMLBackend : public Backend {
public:
  CoreMLBackend(const BackendRow &row, const CoreMLOptions &options)
      : Backend(row.name, row.capabilities), options(options) {
    if (!options.executor)
      this->options.executor = std::make_shared<Executor>(1);
  }

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &,
                                   Diagnostics &diags) override;

private:
  std::shared_ptr<LoadedModel> modelOf(const WrittenPackage &package,
                                       Diagnostics &diags);

  CoreMLOptions options;
  /// Models by the digests of their packages, as long as they are used.
  llvm::StringMap<std::weak_ptr<LoadedModel>> models;
  std::mutex tableMutex;
};

} // namespace

/// Equal programs are compiled and loaded once.
std::shared_ptr<LoadedModel>
CoreMLBackend::modelOf(const WrittenPackage &package, Diagnostics &diags) {
  {
    std::lock_guard<std::mutex> lock(tableMutex);
    if (std::shared_ptr<LoadedModel> known = models[package.digest].lock())
      return known;
  }
  std::shared_ptr<LoadedModel> made =
      LoadedModel::load(package, options, diags);
  std::lock_guard<std::mutex> lock(tableMutex);
  // Each update of baked weights adds models, and releases the previous ones.
  for (auto entry = models.begin(); entry != models.end();) {
    auto gone = entry++;
    if (gone->second.expired())
      models.erase(gone);
  }
  if (made)
    models[package.digest] = made;
  return made;
}

std::unique_ptr<Executable> CoreMLBackend::load(const Function &function,
                                                const LoadOptions &,
                                                Diagnostics &diags) {
  if (!checkPorts(function, diags) || !checkStates(function, diags))
    return nullptr;
  std::optional<WrittenPackage> package =
      WrittenPackage::write(function, *options.executor, diags);
  std::shared_ptr<LoadedModel> model =
      package ? modelOf(*package, diags) : nullptr;
  if (!model)
    return nullptr;
  return ModelExecutable::make(std::move(model), *package,
                               bytesOfConstants(function), diags);
}

std::unique_ptr<Backend> anec::createCoreMLBackend(const CoreMLOptions &options,
                                                   Diagnostics &diags) {
  if (!openCoreML(options, diags))
    return nullptr;
  return std::make_unique<CoreMLBackend>(coreMLBackendNotBuilt(), options);
}

BackendRow anec::coreMLBackend() {
  BackendRow row = coreMLBackendNotBuilt();
  row.isBuilt = true;
  row.open = [](const BackendSettings &settings, Diagnostics &diags) {
    return createCoreMLBackend(coreMLOptions(settings), diags);
  };
  row.machine = [](const BackendSettings &) {
    return MachineNames{chipName(), systemName()};
  };
  row.place = [](const PlacementQuestion &question,
                 const BackendSettings &settings, Diagnostics &diags) {
    return askPlan(question, coreMLOptions(settings), diags);
  };
  return row;
}
