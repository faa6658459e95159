//===- Model.mm - the double's models of Core ML --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Core ML's public way from a package to results. Compiling copies the package
/// to a folder of the caller's in the temporary folder. Arrays have to be
/// exactly what the description says, states belong to their model, and a model
/// is for one thread at a time.
///
//===----------------------------------------------------------------------===//

#include "CoreML.h"
#include "lib/CoreML/Reader.h"
#include "lib/Ops/Ops.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace ane_double;

/// Codes of MLModelError.
enum { Generic = 0, FeatureType = 1, IO = 3 };

BOOL ane_double::failInCoreML(NSError **error, const std::string &text,
                              int code) {
  NSString *description = [NSString stringWithUTF8String:text.c_str()];
  if (error)
    *error =
        [NSError errorWithDomain:@"com.apple.CoreML"
                            code:code
                        userInfo:@{NSLocalizedDescriptionKey : description}];
  return NO;
}

//===----------------------------------------------------------------------===//
// Compiled packages
//===----------------------------------------------------------------------===//

/// The package in a compiled model.
static NSString *packageIn(NSURL *compiled) {
  return [[compiled path] stringByAppendingPathComponent:@"copy.mlpackage"];
}

static std::string firstError(const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all())
    return diagnostic.message;
  return "no reason";
}

static std::unique_ptr<Module> readPackage(NSString *path, NSString *function,
                                           std::string &error) {
  Diagnostics diags;
  MILReadOptions options;
  if (function)
    options.function = [function UTF8String];
  std::unique_ptr<Module> module =
      readCoreMLPackage([path UTF8String], opTable(), diags, options);
  if (module && !diags.hasErrors())
    return module;
  error = firstError(diags);
  return nullptr;
}

std::unique_ptr<Module> ane_double::readCompiled(NSURL *url, NSString *function,
                                                 NSError **error) {
  NSString *package = packageIn(url);
  if (![[url pathExtension] isEqual:@"mlmodelc"] ||
      ![[NSFileManager defaultManager] fileExistsAtPath:package]) {
    failInCoreML(error, "Unable to load model: it is not a compiled model", IO);
    return nullptr;
  }
  std::string wrong;
  std::unique_ptr<Module> module = readPackage(package, function, wrong);
  if (!module)
    failInCoreML(error, "Unable to load model: " + wrong, Generic);
  return module;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static NSInteger describedType(const Port &port) {
  return ledger().odd == "description" ? Float32 : dataTypeOf(port.type.dtype);
}

static NSDictionary *describe(llvm::ArrayRef<Port> ports) {
  NSMutableDictionary *named = [NSMutableDictionary dictionary];
  for (const Port &port : ports) {
    MLMultiArrayConstraint *constraint =
        [MLMultiArrayConstraint constraintWithShape:shapeOf(port.type)
                                           dataType:describedType(port)];
    MLFeatureDescription *feature =
        constraint
            ? [MLFeatureDescription featureDescriptionWithName:nameOf(port)
                                                          type:5
                                                      optional:NO
                                                   constraints:@[ constraint ]]
            : nil;
    if (feature)
      [named setObject:feature forKey:nameOf(port)];
  }
  return named;
}

/// Marks a model as used; false when another thread uses it.
namespace {
struct Use {
  explicit Use(MLModel *model)
      : flag(*model->isUsed), isOnly(!flag.exchange(true)) {}
  ~Use() {
    if (isOnly)
      flag = false;
  }
  std::atomic<bool> &flag;
  bool isOnly;
};
} // namespace

@implementation MLModel
+ (NSURL *)compileModelAtURL:(NSURL *)url error:(NSError **)error {
  if (isToFail(error))
    return nil;
  ++ledger().compiles;
  NSFileManager *files = [NSFileManager defaultManager];
  std::string wrong;
  if (![files fileExistsAtPath:[url path]])
    wrong = "the file does not exist";
  else
    (void)readPackage([url path], nil, wrong);
  if (!wrong.empty()) {
    failInCoreML(error, "Failed to compile the model: " + wrong, Generic);
    return nil;
  }
  static std::atomic<unsigned> number{0};
  NSString *name = [NSString
      stringWithFormat:@"%@_%d_%u.mlmodelc",
                       [[[url path] lastPathComponent]
                           stringByDeletingPathExtension],
                       int([[NSProcessInfo processInfo] processIdentifier]),
                       unsigned(++number)];
  NSURL *compiled =
      [NSURL fileURLWithPath:[NSTemporaryDirectory()
                                 stringByAppendingPathComponent:name]];
  if (![files createDirectoryAtPath:[compiled path]
          withIntermediateDirectories:YES
                           attributes:nil
                                error:error] ||
      ![files copyItemAtPath:[url path] toPath:packageIn(compiled) error:error])
    return nil;
  return compiled;
}

+ (id)modelWithContentsOfURL:(NSURL *)url
               configuration:(MLModelConfiguration *)configuration
                       error:(NSError **)error {
  if (isToFail(error))
    return nil;
  if (![configuration isKindOfClass:[MLModelConfiguration class]])
    [NSException raise:NSInvalidArgumentException format:@"no configuration"];
  std::unique_ptr<Module> module = readCompiled(url, nil, error);
  if (!module)
    return nil;
  Diagnostics diags;
  static const std::unique_ptr<Backend> cpu = createCpuBackend();
  std::unique_ptr<Executable> executable =
      cpu->load(*module->functions.front(), {}, diags);
  if (!executable) {
    failInCoreML(error, "Unable to load model: " + firstError(diags), Generic);
    return nil;
  }
  MLModel *model = [[[self alloc] init] autorelease];
  model->isUsed = new std::atomic<bool>(false);
  model->program = new LoadedProgram{};
  ++ledger().models;
  ++ledger().loads;
  ++ledger().loaded;
  model->program->executable = std::move(executable);
  const Executable &made = *model->program->executable;
  model->description = [[MLModelDescription alloc]
       initWithInputDescriptions:describe(made.inputs())
              outputDescriptions:describe(made.outputs())
            predictedFeatureName:nil
      predictedProbabilitiesName:nil
                        metadata:@{}];
  return model;
}

- (void)dealloc {
  if (program) {
    --ledger().models;
    unload(program);
  }
  delete isUsed;
  [description release];
  [super dealloc];
}

- (MLModelDescription *)modelDescription {
  return isToFail(NULL) ? nil : description;
}

- (id)newState {
  if (isToFail(NULL))
    return nil;
  NSMutableDictionary *zeros = [NSMutableDictionary dictionary];
  for (const Port &port : program->executable->states())
    [zeros
        setObject:[MLMultiArray paddedArrayOfShape:shapeOf(port.type)
                                          dataType:dataTypeOf(port.type.dtype)]
           forKey:nameOf(port)];
  MLState *state = [[MLState alloc] init];
  state->model = [self retain];
  state->arrays = [zeros copy];
  return state;
}

- (id)predictionFromFeatures:(MLDictionaryFeatureProvider *)features
                     options:(MLPredictionOptions *)options
                       error:(NSError **)error {
  if (program->executable->states().empty())
    return [self predictionFromFeatures:features
                             usingState:nil
                                options:options
                                  error:error];
  failInCoreML(error, "The model has states, and no MLState is given.",
               Generic);
  return nil;
}

- (id)predictionFromFeatures:(MLDictionaryFeatureProvider *)features
                  usingState:(MLState *)state
                     options:(MLPredictionOptions *)options
                       error:(NSError **)error {
  if (isToFail(error))
    return nil;
  Use use(self);
  if (!use.isOnly || (state && state->model != self)) {
    failInCoreML(error,
                 use.isOnly ? "The state is one of another model."
                            : "Two threads use the model.",
                 Generic);
    return nil;
  }
  Executable &executable = *program->executable;
  return predict(
      executable, features, options,
      [&](auto inputs, auto outputs) {
        Diagnostics diags;
        for (auto [index, port] : llvm::enumerate(executable.states())) {
          std::vector<uint8_t> bytes(port.type.numBytes());
          copyFrom([state->arrays objectForKey:nameOf(port)], bytes.data());
          (void)executable.setState(unsigned(index), bytes, diags);
        }
        runDense(*program, inputs, outputs);
        for (auto [index, port] : llvm::enumerate(executable.states())) {
          std::vector<uint8_t> bytes(port.type.numBytes());
          (void)executable.getState(unsigned(index), bytes, diags);
          copyTo([state->arrays objectForKey:nameOf(port)], bytes.data());
        }
      },
      error);
}
@end

@implementation MLState
- (void)getMultiArrayForStateNamed:(NSString *)name
                           handler:(void (^)(MLMultiArray *))visitor {
  MLMultiArray *array = [arrays objectForKey:name];
  if (isToFail(NULL) || !array)
    [NSException raise:NSInvalidArgumentException
                format:@"there is no state of that name"];
  visitor(array);
}
- (void)dealloc {
  [arrays release];
  [model release];
  [super dealloc];
}
@end
