//===- ProcessRequest.mm - runs by the program object ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--path=process-request`. Programs are made as by `--path=in-memory`, whose
/// model has a `_ANEModel` once it is loaded, and that has the program object
/// that the framework's own methods hand requests to.
///
//===----------------------------------------------------------------------===//

#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "Model.h"
#include "PerfStats.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::ane;

namespace {

class ProcessRequestModel : public Model {
public:
  ProcessRequestModel(std::unique_ptr<Model> made, bool perfStats)
      : inMemory(std::move(made)), perfStats(perfStats) {}

  BOOL compile(NSError **error) override { return inMemory->compile(error); }
  BOOL load(NSError **error) override { return inMemory->load(error); }
  BOOL evaluate(const ModelRun &run, NSError **error) override;
  BOOL unload(NSError **error) override { return inMemory->unload(error); }
  BOOL isCompiled() override { return inMemory->isCompiled(); }
  NSDictionary *attributes() override { return inMemory->attributes(); }
  NSDictionary *weights() const override { return inMemory->weights(); }
  id object() const override { return inMemory->object(); }

private:
  std::unique_ptr<Model> inMemory;
  bool perfStats;
};

} // namespace

BOOL ProcessRequestModel::evaluate(const ModelRun &run, NSError **error) {
  id<AneModel> model = [(id<AneInMemoryModel>)inMemory->object() model];
  id<AneProgram> program = [model program];
  if (!program)
    return failWith("the loaded model has no program object", error);
  unsigned int status = 0;
  // The framework's own call passes nil for a model in memory, others the
  // model; queue 0 is what callers without the mapper of queues pass.
  BOOL done =
      [program processRequest:run.request
                        model:model
                          qos:qualityOfService
                       qIndex:0
                modelStringID:takes(Measure::StringId) ? [model string_id] : 0
                      options:statsOptions(perfStats)
                  returnValue:&status
                        error:error];
  if (done && status == 0)
    return YES;
  return failWith("processRequest gave status=0x" +
                      llvm::utohexstr(status, /*LowerCase=*/true),
                  error);
}

std::unique_ptr<Model> ane::makeProcessRequestModel(const Engine &engine,
                                                    StagedProgram &staged,
                                                    Diagnostics &diags) {
  std::unique_ptr<Model> made = makeInMemoryModel(engine, staged, diags);
  return made ? std::make_unique<ProcessRequestModel>(std::move(made),
                                                      engine.options.perfStats)
              : nullptr;
}
