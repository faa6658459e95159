//===- E5Model.mm - programs by Core ML's E5 engine -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--path=e5`. Core ML compiles the MIL text to a program library, and its
/// engine runs the library with arrays by name. It runs a program from its own
/// operations only: operations made by hand report success and compute nothing.
///
//===----------------------------------------------------------------------===//

#include "../Apple/Call.h"
#include "../Apple/MultiArray.h"
#include "../Apple/Retained.h"
#include "E5Protocols.h"
#include "Model.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

class E5Model : public Model {
public:
  E5Model(std::string textFile, const ProgramPorts &ports)
      : textFile(std::move(textFile)), ports(ports) {}

  BOOL compile(NSError **error) override;
  BOOL load(NSError **error) override;
  BOOL evaluate(const ModelRun &run, NSError **error) override;
  BOOL unload(NSError **) override {
    engine = Retained<id<MlE5Engine>>();
    return YES;
  }
  // The library belongs to the process that compiled it.
  BOOL isCompiled() override { return NO; }
  NSDictionary *attributes() override { return nil; }

private:
  id description() const;

  std::string textFile;
  ProgramPorts ports;
  // Destroyed in reverse order.
  Retained<id<MlModelConfiguration>> configuration;
  Retained<id<MlE5ProgramLibrary>> library;
  Retained<id<MlE5Engine>> engine;
};

} // namespace

BOOL E5Model::compile(NSError **error) {
  library = Retained<id<MlE5ProgramLibrary>>();
  id<MlModelConfiguration> made =
      [(id)[(NSObject *)allocated("MLModelConfiguration") init] autorelease];
  if (!made)
    return failWith("there is no configuration", error);
  [made setComputeUnits:mlCpuAndNeuralEngine];
  NSURL *url = [NSURL fileURLWithPath:toNSString(textFile) isDirectory:NO];
  // No container: it is what Core ML knows of a compiled package, and there is
  // none.
  id compilation = [[(id<MlE5Compilation>)allocated(
      "MLE5ProgramLibraryOnDeviceAOTCompilationImpl") initWithMILTextAtURL:url
                                                                 container:nil
                                                             configuration:made]
      autorelease];
  if (!compilation)
    return failWith("there is no compilation of the text", error);
  id<MlE5ProgramLibrary> compiled =
      [[(id<MlE5ProgramLibrary>)allocated("MLE5ProgramLibrary")
           initWithImpl:compilation
              container:nil
          configuration:made] autorelease];
  if (!compiled)
    return failWith("there is no program library", error);
  if (![compiled prepareAndReturnError:error])
    return NO;
  configuration = Retained<id<MlModelConfiguration>>(made);
  library = Retained<id<MlE5ProgramLibrary>>(compiled);
  return YES;
}

/// The descriptions of `ports`, by name.
static NSDictionary *describe(llvm::ArrayRef<Port> described,
                              const ProgramPorts &ports) {
  auto constraints =
      (id<MlMultiArrayConstraintClass>)classNamed("MLMultiArrayConstraint");
  auto features =
      (id<MlFeatureDescriptionClass>)classNamed("MLFeatureDescription");
  NSMutableDictionary *named = [NSMutableDictionary dictionary];
  for (const Port &port : described) {
    id constraint =
        [constraints constraintWithShape:numbersOf(arrayShape(port.type))
                                dataType:dataTypeOf(ports.elementType(port))];
    id feature =
        constraint ? [features featureDescriptionWithName:toNSString(port.name)
                                                     type:mlFeatureMultiArray
                                                 optional:NO
                                              constraints:@[ constraint ]]
                   : nil;
    if (!feature)
      return nil;
    [named setObject:feature forKey:toNSString(port.name)];
  }
  return named;
}

/// Nil when a part cannot be made.
id E5Model::description() const {
  NSDictionary *inputs = describe(ports.inputs, ports);
  NSDictionary *outputs = describe(ports.outputs, ports);
  if (!inputs || !outputs)
    return nil;
  return [[(id<MlModelDescription>)allocated("MLModelDescription")
       initWithInputDescriptions:inputs
              outputDescriptions:outputs
            predictedFeatureName:nil
      predictedProbabilitiesName:nil
                        metadata:@{}] autorelease];
}

BOOL E5Model::load(NSError **error) {
  if (!library)
    return failWith("Program load failure: the model is not compiled", error);
  id described = description();
  if (!described)
    return failWith("there is no description of the model", error);
  id<MlE5Engine> made = [[(id<MlE5Engine>)allocated("MLE5Engine")
             initWithProgramLibrary:library.get()
                   modelDescription:described
                      configuration:configuration.get()
                       functionName:@"main"
      classProbabilitiesFeatureName:nil
         optionalInputDefaultValues:nil
                compilerVersionInfo:nil] autorelease];
  if (!made)
    return failWith("there is no engine for the program library", error);
  if (![made prepareWithConcurrencyHint:1 error:error])
    return NO;
  engine = Retained<id<MlE5Engine>>(made);
  return YES;
}

BOOL E5Model::evaluate(const ModelRun &run, NSError **error) {
  NSDictionary *inputs = wrapAll(run.inputs, error);
  NSDictionary *outputs = inputs ? wrapAll(run.outputs, error) : nil;
  if (!outputs)
    return failWith("there is no array for an input or output", error);
  id features = [[(id<MlDictionaryFeatureProvider>)allocated(
      "MLDictionaryFeatureProvider") initWithDictionary:inputs
                                                  error:error] autorelease];
  id<MlPredictionOptions> options =
      [(id)[(NSObject *)allocated("MLPredictionOptions") init] autorelease];
  if (!features || !options)
    return failWith("there is no provider of features", error);
  if ([options respondsToSelector:@selector(setOutputBackings:)])
    [options setOutputBackings:outputs];
  id<MlFeatureProvider> computed = [engine.get() predictionFromFeatures:features
                                                                options:options
                                                                  error:error];
  if (!computed)
    return NO;
  for (HostArray &array : run.outputs) {
    id<MlFeatureValue> value =
        [computed featureValueForName:toNSString(array.port().name)];
    if (!take([value multiArrayValue], array, error))
      return NO;
  }
  return YES;
}

std::unique_ptr<Model> ane::makeE5Model(const Engine &engine,
                                        StagedProgram &staged,
                                        const ProgramPorts &ports,
                                        Diagnostics &diags) {
  // The folder's name is a digest: Core ML keeps compiled programs by the
  // location of their text.
  if (!moveToOwnFolder(engine, staged, diags))
    return nullptr;
  return std::make_unique<E5Model>(staged.textFile(), ports);
}
