//===- InMemoryModel.mm - programs by in-memory descriptors ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--path=in-memory`. The framework receives text and weights, and names a
/// folder after them; the files must be in it nevertheless.
///
//===----------------------------------------------------------------------===//

#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "../Apple/Retained.h"
#include "Model.h"
#include "PerfStats.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::ane;

namespace {

class InMemoryModel : public Model {
public:
  InMemoryModel(id<AneInMemoryModel> model, NSDictionary *weightFiles,
                bool perfStats)
      : model(model), weightFiles(weightFiles), perfStats(perfStats) {}

  BOOL compile(NSError **error) override {
    if (perfStats)
      setStatsMask(model.get());
    return [model.get() compileWithQoS:qualityOfService
                               options:@{}
                                 error:error];
  }
  BOOL load(NSError **error) override {
    return [model.get() loadWithQoS:qualityOfService
                            options:statsOptions(perfStats)
                              error:error];
  }
  BOOL evaluate(const ModelRun &run, NSError **error) override {
    return [model.get() evaluateWithQoS:qualityOfService
                                options:statsOptions(perfStats)
                                request:run.request
                                  error:error];
  }
  BOOL unload(NSError **error) override {
    return [model.get() unloadWithQoS:qualityOfService error:error];
  }
  BOOL isCompiled() override {
    id<AneInMemoryModel> known = model.get();
    return [known respondsToSelector:@selector(compiledModelExists)] &&
           [known compiledModelExists];
  }
  NSDictionary *attributes() override {
    id<AneInMemoryModel> known = model.get();
    if (!takes(Measure::InnerAttributes))
      return [(id<AneModel>)known modelAttributes];
    id<AneModel> inner =
        [known respondsToSelector:@selector(model)] ? [known model] : nil;
    return [inner respondsToSelector:@selector(modelAttributes)]
               ? [inner modelAttributes]
               : nil;
  }
  NSDictionary *weights() const override { return weightFiles.get(); }
  id object() const override { return model.get(); }

private:
  Retained<id<AneInMemoryModel>> model;
  Retained<NSDictionary *> weightFiles;
  bool perfStats;
};

} // namespace

/// The contents of the weight files, by their path in the text.
static NSDictionary *readWeights(const StagedProgram &staged,
                                 Diagnostics &diags) {
  NSMutableDictionary *files = [NSMutableDictionary dictionary];
  for (const std::string &path : staged.weightPaths()) {
    std::string file = staged.weightFile(path);
    NSData *bytes = [NSData dataWithContentsOfFile:toNSString(file)];
    if (!bytes) {
      diags.reportFile(file, diag::AneStaging, "it cannot be read back");
      return nil;
    }
    [files setObject:bytes forKey:toNSString(path)];
  }
  return files;
}

/// The weights in the form of a descriptor. Without weights an empty
/// dictionary, because nil fails without an error.
static NSDictionary *entriesOf(const StagedProgram &staged,
                               NSDictionary *files) {
  NSMutableDictionary *entries = [NSMutableDictionary dictionary];
  for (const std::string &pathInText : staged.weightPaths()) {
    NSString *path = toNSString(pathInText);
    NSDictionary *entry =
        @{@"offset" : @0,
          @"data" : [files objectForKey:path]};
    [entries setObject:entry forKey:path];
  }
  return entries;
}

std::unique_ptr<Model> ane::makeInMemoryModel(const Engine &engine,
                                              StagedProgram &staged,
                                              Diagnostics &diags) {
  NSDictionary *files = readWeights(staged, diags);
  if (!files)
    return nullptr;
  // NSData, because a string yields no descriptor.
  const std::string &text = staged.text();
  id data = takes(Measure::TextAsData)
                ? (id)[NSData dataWithBytes:text.data() length:text.size()]
                : (id)toNSString(text);
  id descriptor = nil;
  id<AneInMemoryModel> made = nil;
  NSString *name = nil;
  NSDictionary *weights = entriesOf(staged, files);
  if (![weights count] && !takes(Measure::EmptyWeights))
    weights = nil;
  std::string raised = guardFramework([&] {
    descriptor = [engine.framework.descriptors modelWithMILText:data
                                                        weights:weights
                                                   optionsPlist:nil];
    if (descriptor)
      made = [engine.framework.inMemoryModels
          inMemoryModelWithDescriptor:descriptor];
    name = [made hexStringIdentifier];
  });
  if (!made || ![name length]) {
    diags.report({}, diag::AneNoObject,
                 !descriptor ? "descriptor"
                 : made      ? "identifier"
                             : "model",
                 raised.empty() ? "it gave nil" : raised);
    return nullptr;
  }
  auto model =
      std::make_unique<InMemoryModel>(made, files, engine.options.perfStats);
  llvm::SmallString<128> folder(engine.temporaryFolder);
  llvm::sys::path::append(folder, toString(name));
  if (takes(Measure::StagedInPlace) && !staged.moveTo(folder, diags))
    return nullptr;
  return model;
}
