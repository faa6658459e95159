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

#include "Call.h"
#include "Model.h"
#include "Retained.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::ane;

/// Without these, the compiler treats the folder as one of Core ML and looks
/// for `model.espresso.net`.
static NSDictionary *optionsForMil() {
  return @{
    @"kANEFModelType" : @"kANEFModelMIL",
    @"kANEFNetPlistFilenameKey" : @"model.mil"
  };
}

namespace {

class ClientModel : public Model {
public:
  ClientModel(AnePath path, id<AneClient> client, id<AneModel> model)
      : path(path), client(client), model(model) {}

  BOOL compile(NSError **error) override {
    return [client compileModel:model.get()
                        options:optionsForMil()
                            qos:qualityOfService
                          error:error];
  }
  BOOL load(NSError **error) override {
    return [client loadModel:model.get()
                     options:optionsForMil()
                         qos:qualityOfService
                       error:error];
  }
  BOOL evaluate(id request, NSError **error) override;
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

private:
  AnePath path;
  id<AneClient> client;
  Retained<id<AneModel>> model;
};

} // namespace

BOOL ClientModel::evaluate(id request, NSError **error) {
  switch (path) {
  case AnePath::Direct:
    return [client doEvaluateDirectWithModel:model.get()
                                     options:@{}
                                     request:request
                                         qos:qualityOfService
                                       error:error];
  case AnePath::RealTime:
    return [client evaluateRealTimeWithModel:model.get()
                                     options:@{}
                                     request:request
                                       error:error];
  case AnePath::Client:
  case AnePath::InMemory:
    return [client evaluateWithModel:model.get()
                             options:@{}
                             request:request
                                 qos:qualityOfService
                               error:error];
  }
  llvm_unreachable("no such path");
}

std::unique_ptr<Model> ane::makeClientModel(const Engine &engine,
                                            StagedProgram &staged,
                                            Diagnostics &diags) {
  llvm::SmallString<128> folder(engine.temporaryFolder);
  llvm::sys::path::append(folder, staged.name());
  if (!staged.moveTo(folder, diags))
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
  return std::make_unique<ClientModel>(engine.options.path,
                                       engine.framework.client, made);
}

std::unique_ptr<Model> ane::makeModel(const Engine &engine,
                                      StagedProgram &staged,
                                      Diagnostics &diags) {
  return engine.options.path == AnePath::InMemory
             ? makeInMemoryModel(engine, staged, diags)
             : makeClientModel(engine, staged, diags);
}
