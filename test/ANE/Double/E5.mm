//===- E5.mm - the double's E5 engine -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Core ML's private classes that compile MIL text and run it. A library is
/// kept by the location of its text, whatever the text says by now. The engine
/// takes arrays that are exactly what the description and the program say.
/// Operations that somebody else makes report success and compute nothing.
///
//===----------------------------------------------------------------------===//

#include "CoreML.h"

using namespace anec;
using namespace ane_double;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

@interface MLE5ProgramLibraryOnDeviceAOTCompilationImpl : NSObject {
@public
  NSURL *url;
}
@end

@implementation MLE5ProgramLibraryOnDeviceAOTCompilationImpl
- (id)initWithMILTextAtURL:(NSURL *)text
                 container:(id)container
             configuration:(MLModelConfiguration *)configuration {
  if (isToFail(NULL) || ![text isKindOfClass:[NSURL class]] ||
      ![configuration isKindOfClass:[MLModelConfiguration class]]) {
    [self release];
    return nil;
  }
  url = [text retain];
  return self;
}
- (void)dealloc {
  [url release];
  [super dealloc];
}
@end

@interface MLE5ProgramLibrary : NSObject {
@public
  MLE5ProgramLibraryOnDeviceAOTCompilationImpl *compilation;
  bool isPrepared;
}
@end

/// The folder of the text, and what sets the library apart from the other
/// compiled programs there.
static std::string folderOf(const MLE5ProgramLibrary *library) {
  return [[[library->compilation->url path] stringByDeletingLastPathComponent]
      UTF8String];
}
static constexpr const char tag[] = "e5-";

@implementation MLE5ProgramLibrary
- (id)initWithImpl:(MLE5ProgramLibraryOnDeviceAOTCompilationImpl *)impl
         container:(id)container
     configuration:(MLModelConfiguration *)configuration {
  if (isToFail(NULL) || !impl) {
    [self release];
    return nil;
  }
  compilation = [impl retain];
  ++ledger().models;
  return self;
}
- (void)dealloc {
  if (compilation)
    --ledger().models;
  [compilation release];
  [super dealloc];
}
- (BOOL)prepareAndReturnError:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (++ledger().compiles > ledger().compileLimit)
    return NO;
  if (ledger().isTrapped("e5-crash"))
    std::abort();
  // What was compiled from a file of this name stands for its text.
  if (!isCompiled(folderOf(self), tag)) {
    CompileJob job{folderOf(self), tag};
    job.textFile = [[[compilation->url path] lastPathComponent] UTF8String];
    std::string failure = compile(job);
    if (!failure.empty())
      return fail(error, failure);
  }
  isPrepared = true;
  return YES;
}
@end

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

@interface MLE5Engine : NSObject {
  MLE5ProgramLibrary *library;
  MLModelDescription *description;
  NSString *function;
  LoadedProgram *program;
}
@end

/// What is wrong with descriptions of `ports`; empty when nothing is.
static std::string mismatch(NSDictionary *described,
                            llvm::ArrayRef<Port> ports) {
  if ([described count] != ports.size())
    return "the description has another number of features";
  for (const Port &port : ports) {
    MLFeatureDescription *feature = [described
        objectForKey:[NSString stringWithUTF8String:port.name.c_str()]];
    if (!feature)
      return "the description has no feature " + port.name;
    if (![feature->constraint->shape isEqual:shapeOf(port.type)] ||
        feature->constraint->dataType != dataTypeOf(port.type.dtype))
      return "the description of " + port.name + " does not match the program";
  }
  return "";
}

@implementation MLE5Engine
- (id)initWithProgramLibrary:(MLE5ProgramLibrary *)compiled
                 modelDescription:(MLModelDescription *)model
                    configuration:(MLModelConfiguration *)configuration
                     functionName:(NSString *)name
    classProbabilitiesFeatureName:(NSString *)probabilities
       optionalInputDefaultValues:(NSDictionary *)defaults
              compilerVersionInfo:(id)version {
  if (isToFail(NULL) || ![compiled isKindOfClass:[MLE5ProgramLibrary class]] ||
      ![model isKindOfClass:[MLModelDescription class]]) {
    [self release];
    return nil;
  }
  library = [compiled retain];
  description = [model retain];
  function = [name copy];
  ++ledger().requests;
  return self;
}

- (void)dealloc {
  if (program)
    unload(program);
  if (library)
    --ledger().requests;
  [library release];
  [description release];
  [function release];
  [super dealloc];
}

- (BOOL)prepareWithConcurrencyHint:(long long)hint error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (![function isEqual:@"main"])
    return fail(error, "the program has no such function");
  if (!library->isPrepared)
    return fail(error, "Program load failure: the model is not compiled");
  if (!loadInto(program, folderOf(library), tag, error))
    return NO;
  std::string wrong =
      mismatch(description->inputs, program->executable->inputs());
  if (wrong.empty())
    wrong = mismatch(description->outputs, program->executable->outputs());
  return wrong.empty() ? YES : fail(error, wrong);
}

- (id)predictionFromFeatures:(MLDictionaryFeatureProvider *)features
                     options:(MLPredictionOptions *)options
                       error:(NSError **)error {
  if (isToFail(error))
    return nil;
  if (!program) {
    fail(error, "the engine is not prepared");
    return nil;
  }
  return predict(
      *program->executable, features, options,
      [&](auto inputs, auto outputs) {
        ++ledger().e5Runs;
        runDense(*program, inputs, outputs);
      },
      error);
}
@end

//===----------------------------------------------------------------------===//
// Operations of one's own
//===----------------------------------------------------------------------===//

@interface MLE5ExecutionStreamOperation : NSObject {
  MLModelDescription *description;
}
@end

@implementation MLE5ExecutionStreamOperation
- (id)initWithProgramLibrary:(MLE5ProgramLibrary *)library
                functionName:(NSString *)name
            modelDescription:(MLModelDescription *)model
               configuration:(MLModelConfiguration *)configuration
                  debugLabel:(NSString *)label
             modelSignpostId:(unsigned long long)signpost {
  description = [model retain];
  return self;
}
- (void)dealloc {
  [description release];
  [super dealloc];
}
- (BOOL)preloadAndReturnError:(NSError **)error {
  return YES;
}
- (BOOL)prepareForInputFeatures:(id)features
                        options:(id)options
                          error:(NSError **)error {
  return YES;
}
/// Zeros, whatever ran.
- (id)outputFeatures {
  NSMutableDictionary *zeros = [NSMutableDictionary dictionary];
  for (NSString *name in description->outputs) {
    MLMultiArrayConstraint *constraint =
        ((MLFeatureDescription *)[description->outputs objectForKey:name])
            ->constraint;
    [zeros setObject:[MLMultiArray paddedArrayOfShape:constraint->shape
                                             dataType:constraint->dataType]
              forKey:name];
  }
  return [[[MLDictionaryFeatureProvider alloc] initWithDictionary:zeros
                                                            error:NULL]
      autorelease];
}
@end

@interface MLE5ExecutionStream : NSObject
@end

@implementation MLE5ExecutionStream
- (void)setOperations:(NSArray *)operations {
}
- (BOOL)executeForInputFeatures:(id)features
                        options:(id)options
                          error:(NSError **)error {
  return YES;
}
@end
