//===- LoadedModel.mm - a model that Core ML loaded -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadedModel.h"
#include "../Apple/Call.h"
#include "../Apple/Framework.h"
#include "lib/Runtime/Diags.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::coreml;

void coreml::reportFailure(Stage stage, const FrameworkError &error,
                           Diagnostics &diags) {
  report(stage, error, /*text=*/"", diags);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static NSURL *urlOf(llvm::StringRef path) {
  return [NSURL fileURLWithPath:toNSString(path) isDirectory:YES];
}

std::optional<CompiledModel> CompiledModel::compile(llvm::StringRef package,
                                                    Diagnostics &diags) {
  @autoreleasepool {
    std::string path;
    std::optional<FrameworkError> error =
        callFramework(Stage::Compile, [&](NSError **reason) -> BOOL {
          auto models = (id<MlModelClass>)classNamed("MLModel");
          NSURL *made = [models compileModelAtURL:urlOf(package) error:reason];
          path = made ? toString([made path]) : "";
          return !path.empty();
        });
    if (!error)
      return CompiledModel(path);
    reportFailure(Stage::Compile, *error, diags);
    return std::nullopt;
  }
}

CompiledModel::~CompiledModel() {
  // A destructor cannot report errors; the folder is a temporary one. What has
  // another name is not what Core ML makes.
  if (llvm::sys::path::extension(path) == ".mlmodelc")
    (void)llvm::sys::fs::remove_directories(path);
}

NSURL *CompiledModel::url() const { return urlOf(path); }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// What is wrong with descriptions of `ports`; empty when nothing is.
static std::string mismatch(NSDictionary *described,
                            llvm::ArrayRef<PackagedPort> ports) {
  if ([described count] != ports.size())
    return llvm::formatv("it has {0} features instead of {1}",
                         [described count], ports.size())
        .str();
  for (const PackagedPort &each : ports) {
    const std::string &name = each.port.name;
    id<MlFeatureDescription> feature =
        [described objectForKey:toNSString(name)];
    id<MlMultiArrayConstraint> constraint =
        feature && [feature type] == mlFeatureMultiArray
            ? [feature multiArrayConstraint]
            : nil;
    if (!constraint)
      return "it has no array `" + name + "`";
    Shape shape = arrayShape(each.port.type);
    if (llvm::ArrayRef(shape) != llvm::ArrayRef(valuesOf([constraint shape])))
      return "`" + name + "` has another shape";
    if ([constraint dataType] != dataTypeOf(each.elements))
      return "`" + name + "` has another element type";
  }
  return "";
}

/// The same for a model; the text of an exception if there is one.
static std::string mismatch(id<MlModel> model, const WrittenPackage &package) {
  std::string wrong;
  std::string raised = guardFramework([&] {
    id<MlPublicModelDescription> description = [model modelDescription];
    wrong = mismatch([description inputDescriptionsByName], package.inputs);
    if (wrong.empty())
      wrong = mismatch([description outputDescriptionsByName], package.outputs);
  });
  return raised.empty() ? wrong : raised;
}

std::shared_ptr<LoadedModel>
LoadedModel::load(const WrittenPackage &package,
                  const CoreMLBackendOptions &options, Diagnostics &diags) {
  std::optional<CompiledModel> compiled =
      CompiledModel::compile(package.path, diags);
  if (!compiled)
    return nullptr;
  @autoreleasepool {
    id<MlModel> model = nil;
    std::optional<FrameworkError> error =
        callFramework(Stage::Load, [&](NSError **reason) -> BOOL {
          auto models = (id<MlModelClass>)classNamed("MLModel");
          model = [models modelWithContentsOfURL:compiled->url()
                                   configuration:configurationOf(options)
                                           error:reason];
          return model != nil;
        });
    if (error) {
      reportFailure(Stage::Load, *error, diags);
      return nullptr;
    }
    if (std::string wrong = mismatch(model, package); !wrong.empty()) {
      diags.report({}, diag::CoreMLDescription, wrong);
      return nullptr;
    }
    return std::shared_ptr<LoadedModel>(
        new LoadedModel(std::move(*compiled), model));
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Retained<id<MlState>> LoadedModel::makeState(Diagnostics &diags) {
  @autoreleasepool {
    id<MlState> made = nil;
    std::optional<FrameworkError> error =
        callFramework(Stage::Load, [&](NSError **reason) -> BOOL {
          made = [[model.get() newState] autorelease];
          return made || failWith("there is no state", reason);
        });
    if (error)
      reportFailure(Stage::Load, *error, diags);
    return Retained<id<MlState>>(error ? nil : made);
  }
}

/// Options with `outputs` as the memory of results; Core ML may still use
/// memory of its own.
static id optionsWith(NSDictionary *outputs) {
  id<MlPredictionOptions> options =
      [(id)[(NSObject *)allocated("MLPredictionOptions") init] autorelease];
  if ([options respondsToSelector:@selector(setOutputBackings:)])
    [options setOutputBackings:outputs];
  return options;
}

static BOOL predictOnce(id<MlModel> model, llvm::ArrayRef<HostArray> inputs,
                        llvm::MutableArrayRef<HostArray> outputs,
                        id<MlState> state, NSError **error) {
  NSDictionary *given = wrapAll(inputs, error);
  NSDictionary *backings = given ? wrapAll(outputs, error) : nil;
  if (!backings)
    return failWith("there is no array for an input or output", error);
  id features = [[(id<MlDictionaryFeatureProvider>)allocated(
      "MLDictionaryFeatureProvider") initWithDictionary:given
                                                  error:error] autorelease];
  id options = optionsWith(backings);
  if (!features || !options)
    return failWith("there is no provider of features", error);
  id<MlFeatureProvider> computed = state
                                       ? [model predictionFromFeatures:features
                                                            usingState:state
                                                               options:options
                                                                 error:error]
                                       : [model predictionFromFeatures:features
                                                               options:options
                                                                 error:error];
  if (!computed)
    return NO;
  for (HostArray &array : outputs) {
    id<MlFeatureValue> value =
        [computed featureValueForName:toNSString(array.port().name)];
    if (!take([value multiArrayValue], array, error))
      return NO;
  }
  return YES;
}

bool LoadedModel::predict(llvm::ArrayRef<HostArray> inputs,
                          llvm::MutableArrayRef<HostArray> outputs,
                          id<MlState> state, Diagnostics &diags) {
  std::lock_guard<std::mutex> lock(use);
  @autoreleasepool {
    std::optional<FrameworkError> error =
        callFramework(Stage::Evaluate, [&](NSError **reason) {
          return predictOnce(model.get(), inputs, outputs, state, reason);
        });
    if (error)
      reportFailure(Stage::Evaluate, *error, diags);
    return !error;
  }
}
