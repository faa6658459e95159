//===- Client.mm - the double's client ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// _ANEModel and _ANEClient, as strict as all published accounts of them taken
/// together: models are compiled for their folder and key, a folder is one of
/// Core ML's unless options say MIL, when it is compiled and when it is loaded,
/// and the folder has to be there each time.
///
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "lib/Support/Digest.h"
#include "llvm/Support/FileSystem.h"

using namespace ane_double;

@implementation _ANEModel
+ (id)modelAtURL:(NSURL *)url key:(NSString *)key {
  if (isToFail(NULL) || ![url isKindOfClass:[NSURL class]] || ![url isFileURL])
    return nil;
  _ANEModel *made = [[[self alloc] init] autorelease];
  made->url = [url retain];
  made->key = [key copy];
  ++ledger().models;
  return made;
}
- (void)dealloc {
  if (url)
    --ledger().models;
  // Without unloading, the engine keeps the program: `loaded` stays as it is.
  delete program;
  [url release];
  [key release];
  [super dealloc];
}
- (NSDictionary *)modelAttributes {
  return isToFail(NULL) ? nil : attributesOf(program);
}
@end

static std::string clientFolderOf(const _ANEModel *model) {
  return [[model->url path] UTF8String];
}

/// What sets the compiled programs of a folder apart: their keys.
static std::string tagOf(const _ANEModel *model) {
  std::string key = model->key ? [model->key UTF8String] : "";
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(key.data()),
                                key.size());
  return anec::sha256(bytes).substr(0, 8) + "-";
}

/// What keeps the options from being those of a MIL program.
static std::string refusalOf(NSDictionary *options) {
  NSString *type = [options objectForKey:@"kANEFModelType"];
  if (!type)
    return "ANECCompile() FAILED: err=(cannot open model.espresso.net)";
  if (![type isEqual:@"kANEFModelMIL"])
    return "ANECCompile() FAILED: err=(not a model of this type)";
  return "";
}

/// Runs a model, which may be nil, by any method.
static BOOL run(_ANEModel *model, NSDictionary *options, _ANERequest *request,
                NSError **error) {
  LoadedProgram *program = model ? model->program : nullptr;
  if (!evaluate(program, request, error))
    return NO;
  leaveStats(program, options, request);
  return YES;
}

@implementation _ANEClient
+ (id)sharedConnection {
  static _ANEClient *shared = [[self alloc] init];
  return isToFail(NULL) ? nil : shared;
}

- (BOOL)compileModel:(_ANEModel *)model
             options:(NSDictionary *)options
                 qos:(unsigned int)qos
               error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (!model)
    return fail(error, "compileModel: bad argument");
  if (++ledger().compiles > ledger().compileLimit)
    return NO;
  if (std::string refusal = refusalOf(options); !refusal.empty())
    return fail(error, refusal);
  if (!llvm::sys::fs::exists(clientFolderOf(model)))
    return fail(error, "compileModel: no access to " + clientFolderOf(model));
  CompileJob job{clientFolderOf(model), tagOf(model)};
  if (NSString *name = [options objectForKey:@"kANEFNetPlistFilenameKey"])
    job.textFile = [name UTF8String];
  std::string failure = compile(job);
  return failure.empty() ? YES : fail(error, failure);
}

- (BOOL)compiledModelExistsFor:(_ANEModel *)model {
  return !isToFail(NULL) && model &&
         isCompiled(clientFolderOf(model), tagOf(model));
}

- (BOOL)loadModel:(_ANEModel *)model
          options:(NSDictionary *)options
              qos:(unsigned int)qos
            error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (!model)
    return fail(error, "loadModel: bad argument");
  if (std::string refusal = refusalOf(options); !refusal.empty())
    return fail(error, refusal);
  if (!loadInto(model->program, clientFolderOf(model), tagOf(model), error))
    return NO;
  wantStats(model->program, options);
  return YES;
}

- (BOOL)unloadModel:(_ANEModel *)model
            options:(NSDictionary *)options
                qos:(unsigned int)qos
              error:(NSError **)error {
  if (!model || !model->program)
    return fail(error, "the model was not loaded by the client");
  // It is unloaded even when it says that it is not: nothing can be done.
  unload(model->program);
  return !isToFail(error);
}

- (BOOL)evaluateWithModel:(_ANEModel *)model
                  options:(NSDictionary *)options
                  request:(_ANERequest *)request
                      qos:(unsigned int)qos
                    error:(NSError **)error {
  return run(model, options, request, error);
}

- (BOOL)doEvaluateDirectWithModel:(_ANEModel *)model
                          options:(NSDictionary *)options
                          request:(_ANERequest *)request
                              qos:(unsigned int)qos
                            error:(NSError **)error {
  ++ledger().directEvaluations;
  return run(model, options, request, error);
}

- (BOOL)evaluateRealTimeWithModel:(_ANEModel *)model
                          options:(NSDictionary *)options
                          request:(_ANERequest *)request
                            error:(NSError **)error {
  ++ledger().realTimeEvaluations;
  return run(model, options, request, error);
}

// Without the entitlement, nobody may.
- (BOOL)beginRealTimeTask {
  return NO;
}
- (BOOL)loadRealTimeModel:(_ANEModel *)model
                  options:(NSDictionary *)options
                      qos:(unsigned int)qos
                    error:(NSError **)error {
  return fail(error, "loadRealTimeModel: the entitlement is missing");
}
@end
