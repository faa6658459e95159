//===- Chaining.mm - whether runs can be chained --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The request has the form that was published to be valid: buffers of the
/// client's model, a surface for statistics, and no loopback symbols. It was
/// refused with code 15 then, so nothing else is made of it.
///
//===----------------------------------------------------------------------===//

#include "Chaining.h"
#include "../Apple/Call.h"
#include "../Apple/Retained.h"
#include "Model.h"
#include "SmallProgram.h"
#include "Surface.h"

using namespace anec;
using namespace anec::ane;

namespace {

/// The classes of chained requests.
struct ChainingClasses {
  id<AneBufferClass> buffers = (id<AneBufferClass>)classNamed("_ANEBuffer");
  id<AneOutputSetsClass> outputSets =
      (id<AneOutputSetsClass>)classNamed("_ANEIOSurfaceOutputSets");
  id<AneChainingClass> requests =
      (id<AneChainingClass>)classNamed("_ANEChainingRequest");

  bool areThere() const { return buffers && outputSets && requests; }
};

/// A model of the small program that is loaded, and unloaded in the end.
class LoadedModel {
public:
  LoadedModel(std::unique_ptr<Model> made, AneInspection &found);
  ~LoadedModel() {
    if (isLoaded)
      (void)callFramework(
          Stage::Unload, [&](NSError **error) { return model->unload(error); });
  }
  /// The framework's object; nil when a step failed.
  id object() const { return isLoaded ? model->object() : nil; }

private:
  std::unique_ptr<Model> model;
  bool isLoaded = false;
};

} // namespace

static void conclude(AneInspection &found, llvm::StringRef verdict,
                     llvm::StringRef error) {
  found.chaining = verdict.str();
  found.chainingError = error.str();
}

static std::string firstOf(const Diagnostics &diags) {
  return diags.all().empty() ? "" : diags.all().front().message;
}

LoadedModel::LoadedModel(std::unique_ptr<Model> made, AneInspection &found)
    : model(std::move(made)) {
  std::optional<FrameworkError> error = callFramework(
      Stage::Compile, [&](NSError **reason) { return model->compile(reason); });
  if (!error)
    error = callFramework(
        Stage::Load, [&](NSError **reason) { return model->load(reason); });
  isLoaded = !error;
  if (error)
    conclude(found, "not-tried", error->raw);
}

/// The request; nil when a part cannot be made.
static id<AneChaining> makeRequest(const Engine &engine,
                                   const ChainingClasses &classes,
                                   const Surface &input, const Surface &output,
                                   const Surface &statistics) {
  auto buffer = [&](const Surface &surface, long long source) -> id {
    id wrapped = [engine.framework.surfaces objectWithIOSurface:surface.get()];
    return wrapped ? [classes.buffers bufferWithIOSurfaceObject:wrapped
                                                    symbolIndex:@0
                                                         source:source]
                   : nil;
  };
  id in = buffer(input, 0), out = buffer(output, 1);
  id set = out ? [classes.outputSets objectWithstatsSurRef:statistics.get()
                                              outputBuffer:@[ out ]]
               : nil;
  if (!in || !set)
    return nil;
  return [classes.requests chainingRequestWithInputs:@[ in ]
                                          outputSets:@[ set ]
                                     lbInputSymbolId:nil
                                    lbOutputSymbolId:nil
                                      procedureIndex:nil
                                        signalEvents:@[]
                                   transactionHandle:@0
                                      fwEnqueueDelay:@0
                                        memoryPoolId:@0];
}

static void askFor(const Engine &engine, const ChainingClasses &classes,
                   id model, AneInspection &found) {
  Diagnostics diags;
  Port port{"x", smallProgramType()};
  RowLayout layout = paddedLayout(port.type);
  auto input = Surface::create(port, layout, diags),
       output = Surface::create(port, layout, diags),
       statistics = Surface::create(port, layout, diags);
  if (!input || !output || !statistics)
    return conclude(found, "not-tried", firstOf(diags));
  id<AneChaining> request = nil;
  bool isValid = false;
  std::string raised = guardFramework([&] {
    request = makeRequest(engine, classes, *input, *output, *statistics);
    isValid = [request validate];
  });
  if (!isValid)
    return conclude(found, "invalid",
                    !raised.empty() ? raised
                    : request       ? "the framework finds the request invalid"
                                    : "the framework made no request");
  std::optional<FrameworkError> error =
      callFramework(Stage::Evaluate, [&](NSError **reason) {
        return
            [engine.framework.client prepareChainingWithModel:model
                                                      options:@{}
                                                  chainingReq:request
                                                          qos:qualityOfService
                                                        error:reason];
      });
  conclude(found, error ? "refused" : "prepared", error ? error->raw : "");
}

void ane::tryChaining(const AneOptions &options, AneInspection &found) {
  AneOptions byClient = options;
  byClient.path = AnePath::Client;
  Diagnostics diags;
  std::shared_ptr<Engine> engine = Engine::open(byClient, diags);
  if (!engine)
    return conclude(found, "not-tried", firstOf(diags));
  @autoreleasepool {
    ChainingClasses classes;
    if (!classes.areThere() ||
        ![engine->framework.client
            respondsToSelector:@selector
            (prepareChainingWithModel:options:chainingReq:qos:error:)])
      return conclude(found, "not-tried",
                      "the framework has no chained requests");
    std::unique_ptr<Module> module = smallProgram();
    std::optional<StagedProgram> staged = StagedProgram::write(
        *module->functions.front(), "1.3", 1, engine->temporaryFolder,
        engine->nextSalt(), *engine->options.executor, diags);
    std::unique_ptr<Model> made =
        staged ? makeClientModel(*engine, *staged, diags) : nullptr;
    if (!made)
      return conclude(found, "not-tried", firstOf(diags));
    ++*engine->options.compiles;
    LoadedModel model(std::move(made), found);
    if (model.object())
      askFor(*engine, classes, model.object(), found);
  }
}
