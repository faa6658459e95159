//===- ComputePlan.mm - where Core ML runs ops ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ComputePlan.h"
#include "../Apple/Call.h"
#include "../Apple/Framework.h"
#include "lib/CoreML/Reader.h"
#include "lib/CoreML/Writer.h"
#include "lib/Runtime/Diags.h"
#include <condition_variable>

using namespace anec;
using namespace anec::coreml;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {
/// What a handler is called with, by another thread.
struct Answer {
  std::mutex mutex;
  std::condition_variable given;
  bool isGiven = false;
  Retained<id<MlComputePlan>> plan;
  Retained<NSError *> error;

  void give(id<MlComputePlan> made, NSError *reason) {
    std::lock_guard<std::mutex> lock(mutex);
    plan = Retained<id<MlComputePlan>>(made);
    error = Retained<NSError *>(reason);
    isGiven = true;
    given.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    given.wait(lock, [&] { return isGiven; });
  }
};
} // namespace

/// The plan of a compiled model; empty, with the reason reported, on failure.
static Retained<id<MlComputePlan>> loadPlan(const CompiledModel &compiled,
                                            const CoreMLBackendOptions &options,
                                            Diagnostics &diags) {
  Answer answer;
  Answer *asked = &answer; // so that the block copies a pointer
  std::optional<FrameworkError> error =
      callFramework(Stage::Load, [&](NSError **reason) -> BOOL {
        auto plans = (id<MlComputePlanClass>)classNamed("MLComputePlan");
        [plans loadContentsOfURL:compiled.url()
                   configuration:configurationOf(options)
               completionHandler:^(id<MlComputePlan> plan, NSError *failure) {
                 asked->give(plan, failure);
               }];
        asked->wait();
        *reason = asked->error.get();
        return bool(asked->plan);
      });
  if (error)
    reportFailure(Stage::Load, *error, diags);
  return std::move(answer.plan);
}

//===----------------------------------------------------------------------===//
// Its operations
//===----------------------------------------------------------------------===//

static Device deviceOf(id device) {
  static constexpr std::pair<const char *, Device> classes[] = {
      {"MLNeuralEngineComputeDevice", Device::Engine},
      {"MLGPUComputeDevice", Device::GPU},
      {"MLCPUComputeDevice", Device::CPU},
  };
  for (auto [name, kind] : classes)
    if (Class known = classNamed(name); known && [device isKindOfClass:known])
      return kind;
  return Device::Unknown;
}

/// The name of an operation without its opset: `conv` of `ios17.conv`.
static std::string plainName(NSString *name) {
  std::string text = toString(name);
  return llvm::StringRef(text).rsplit('.').second.empty()
             ? text
             : llvm::StringRef(text).rsplit('.').second.str();
}

static void addOperations(id<MlProgramBlock> block, id<MlComputePlan> plan,
                          std::vector<AskedPlace> &places) {
  for (id<MlProgramOperation> operation in [block operations]) {
    id<MlDeviceUsage> usage =
        [plan computeDeviceUsageForMLProgramOperation:operation];
    if (usage) {
      id<MlNamedValue> first = [[operation outputs] count]
                                   ? [[operation outputs] objectAtIndex:0]
                                   : nil;
      AskedPlace place{plainName([operation operatorName]),
                       first ? toString([first name]) : "",
                       deviceOf([usage preferredComputeDevice]),
                       {},
                       {}};
      for (id device in [usage supportedComputeDevices])
        place.supported.push_back(deviceOf(device));
      if (id<MlPlanCost> cost =
              [plan estimatedCostOfMLProgramOperation:operation])
        place.cost = [cost weight];
      places.push_back(std::move(place));
    }
    for (id<MlProgramBlock> inner in [operation blocks])
      addOperations(inner, plan, places);
  }
}

std::optional<std::vector<AskedPlace>>
coreml::askPlan(const PlacementQuestion &question,
                const CoreMLBackendOptions &options, Diagnostics &diags) {
  if (!openCoreML(options, diags) || !checkFeature(Feature::Plans, diags))
    return std::nullopt;
  std::string package = question.source, name = question.function.name;
  std::optional<WrittenPackage> written;
  if (!isCoreMLPackage(package)) {
    Executor caller(1);
    written = WrittenPackage::write(
        question.function, options.executor ? *options.executor : caller,
        diags);
    if (!written)
      return std::nullopt;
    package = written->path;
    name = plainFunction.str();
  }
  @autoreleasepool {
    std::optional<CompiledModel> compiled =
        CompiledModel::compile(package, diags);
    if (!compiled)
      return std::nullopt;
    Retained<id<MlComputePlan>> plan = loadPlan(*compiled, options, diags);
    if (!plan)
      return std::nullopt;
    std::vector<AskedPlace> places;
    bool isFound = false;
    std::string raised = guardFramework([&] {
      id<MlProgramStructure> program = [[plan.get() modelStructure] program];
      id<MlProgramFunction> function =
          [[program functions] objectForKey:toNSString(name)];
      isFound = function != nil;
      addOperations([function block], plan.get(), places);
    });
    if (isFound && raised.empty())
      return places;
    diags.report({}, diag::CoreMLNoPlan, name,
                 raised.empty() ? "the plan has no such function" : raised);
    return std::nullopt;
  }
}
