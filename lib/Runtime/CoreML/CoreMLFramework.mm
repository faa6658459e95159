//===- CoreMLFramework.mm - finds Core ML's classes -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CoreMLFramework.h"
#include "../Apple/Framework.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::apple;
using namespace anec::coreml;

namespace {
struct Needed {
  Feature feature;
  const char *className;
  char kind; ///< `+` of the class, `-` of its instances
  const char *selector;
};
} // namespace

static constexpr Needed methods[] = {
    {Feature::Models, "MLModel", '+', "compileModelAtURL:error:"},
    {Feature::Models, "MLModel", '+',
     "modelWithContentsOfURL:configuration:error:"},
    {Feature::Models, "MLModel", '-', "modelDescription"},
    {Feature::Models, "MLModel", '-', "predictionFromFeatures:options:error:"},
    {Feature::Models, "MLModelConfiguration", '-', "setComputeUnits:"},
    {Feature::Models, "MLMultiArray", '-',
     "initWithDataPointer:shape:dataType:strides:deallocator:error:"},
    {Feature::Models, "MLDictionaryFeatureProvider", '-',
     "initWithDictionary:error:"},
    {Feature::Models, "MLPredictionOptions", '-', "init"},
    {Feature::States, "MLModel", '-', "newState"},
    {Feature::States, "MLModel", '-',
     "predictionFromFeatures:usingState:options:error:"},
    {Feature::States, "MLState", '-', "getMultiArrayForStateNamed:handler:"},
    {Feature::Plans, "MLComputePlan", '+',
     "loadContentsOfURL:configuration:completionHandler:"},
    {Feature::Plans, "MLComputePlan", '-', "modelStructure"},
    {Feature::Plans, "MLComputePlan", '-',
     "computeDeviceUsageForMLProgramOperation:"},
    {Feature::Plans, "MLComputePlan", '-',
     "estimatedCostOfMLProgramOperation:"},
};

static llvm::StringRef since(Feature feature) {
  switch (feature) {
  case Feature::Models:
    return "macOS 12";
  case Feature::States:
    return "macOS 15";
  case Feature::Plans:
    return "macOS 14.4";
  }
  llvm_unreachable("no such feature");
}

bool coreml::checkFeature(Feature feature, Diagnostics &diags) {
  @autoreleasepool {
    for (const Needed &method : methods)
      if (method.feature == feature &&
          !hasMethod(method.className, method.kind, method.selector)) {
        diags.report({}, diag::CoreMLNoMethod,
                     std::string(1, method.kind) + "[" + method.className +
                         " " + method.selector + "]",
                     since(feature));
        return false;
      }
  }
  return true;
}

bool coreml::openCoreML(const CoreMLBackendOptions &options,
                        Diagnostics &diags) {
  std::string path = options.framework.empty()
                         ? "/System/Library/Frameworks/CoreML.framework/CoreML"
                         : options.framework;
  OpenedFramework opened = openFramework(path);
  if (!opened.error.empty()) {
    diags.reportFile(path, diag::CoreMLNoFramework, opened.error);
    return false;
  }
  return checkFeature(Feature::Models, diags);
}

static NSInteger valueOf(ComputeUnits units) {
  switch (units) {
  case ComputeUnits::All:
    return mlAllUnits;
  case ComputeUnits::CpuAndEngine:
    return mlCpuAndNeuralEngine;
  case ComputeUnits::CpuAndGpu:
    return mlCpuAndGpu;
  case ComputeUnits::Cpu:
    return mlCpuOnly;
  }
  llvm_unreachable("no such units");
}

id<MlModelConfiguration>
coreml::configurationOf(const CoreMLBackendOptions &options) {
  id<MlModelConfiguration> made =
      [(id)[(NSObject *)allocated("MLModelConfiguration") init] autorelease];
  [made setComputeUnits:valueOf(options.units)];
  return made;
}
