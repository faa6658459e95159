//===- ClientModel.mm - programs by the framework's client ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--path=client`, and `direct` and `real-time`, which evaluate by other
/// methods. A model is identified by a folder and a key, and is compiled for
/// both: different programs must not share them.
///
//===----------------------------------------------------------------------===//

#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "../Apple/Retained.h"
#include "Model.h"
#include "PerfStats.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

/// Without these, the compiler treats the folder as one of Core ML and looks
/// for `model.espresso.net`.
static NSDictionary *optionsForMil() {
  if (!takes(Measure::ModelType))
    return @{};
  return @{
    @"kANEFModelType" : @"kANEFModelMIL",
    @"kANEFNetPlistFilenameKey" : @"model.mil"
  };
}

namespace {

class ClientModel : public Model {
public:
  ClientModel(const AneOptions &options, id<AneClient> client,
              id<AneModel> model)
      : path(options.path), perfStats(options.perfStats), client(client),
        model(model) {}

  BOOL compile(NSError **error) override {
    return [client compileModel:model.get()
                        options:optionsForMil()
                            qos:qualityOfService
                          error:error];
  }
  BOOL load(NSError **error) override {
    return [client loadModel:model.get()
                     options:withStats(optionsForMil(), perfStats)
                         qos:qualityOfService
                       error:error];
  }
  BOOL evaluate(const ModelRun &run, NSError **error) override;
  BOOL unload(NSError **error) override {
    return [client unloadModel:model.get()
                       options:optionsForMil()
                           qos:qualityOfService
                         error:error];
  }
  BOOL isCompiled() override {
    return [client respondsToSelector:@selector(compiledModelExistsFor:)] &&
           [client compiledModelExistsFor:model.get()];
  }
  NSDictionary *attributes() override {
    id<AneModel> known = model.get();
    return [known respondsToSelector:@selector(modelAttributes)]
               ? [known modelAttributes]
               : nil;
  }

  id object() const override { return model.get(); }

private:
  AnePath path;
  bool perfStats;
  id<AneClient> client;
  Retained<id<AneModel>> model;
};

} // namespace

BOOL ClientModel::evaluate(const ModelRun &run, NSError **error) {
  NSDictionary *options = statsOptions(perfStats);
  switch (path) {
  case AnePath::Direct:
    return [client doEvaluateDirectWithModel:model.get()
                                     options:options
                                     request:run.request
                                         qos:qualityOfService
                                       error:error];
  case AnePath::RealTime:
    return [client evaluateRealTimeWithModel:model.get()
                                     options:options
                                     request:run.request
                                       error:error];
  default:
    return [client evaluateWithModel:model.get()
                             options:options
                             request:run.request
                                 qos:qualityOfService
                               error:error];
  }
}

std::unique_ptr<Model> ane::makeClientModel(const Engine &engine,
                                            StagedProgram &staged,
                                            Diagnostics &diags) {
  if (!moveToOwnFolder(engine, staged, diags))
    return nullptr;
  id<AneModel> made = nil;
  std::string raised = guardFramework([&] {
    NSURL *url = [NSURL fileURLWithPath:toNSString(staged.folder())
                            isDirectory:YES];
    made = [engine.framework.models modelAtURL:url
                                           key:toNSString(staged.name())];
  });
  if (!made) {
    diags.report({}, diag::AneNoObject, "model",
                 raised.empty() ? "it gave nil" : raised);
    return nullptr;
  }
  return std::make_unique<ClientModel>(engine.options, engine.framework.client,
                                       made);
}
