//===- Classes.mm - the double's classes ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The classes of the engine's framework that the ane backend calls, with what
/// is published of how the real ones fail. A shared library that stands for the
/// framework's binary.
///
//===----------------------------------------------------------------------===//

#include "../Shim/Ledger.h"
#include "Compiler.h"
#include "anec/Support/Digest.h"
#import <Foundation/Foundation.h>
#import <IOSurface/IOSurfaceRef.h>
#include <memory>

using namespace ane_double;

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

static NSError *errorSaying(const std::string &text) {
  NSString *description = [NSString stringWithUTF8String:text.c_str()];
  return [NSError errorWithDomain:@"com.apple.appleneuralengine"
                             code:1
                         userInfo:@{NSLocalizedDescriptionKey : description}];
}

static BOOL fail(NSError **error, const std::string &text) {
  if (error && !text.empty())
    *error = errorSaying(text);
  return NO;
}

/// Whether this call is one that has to fail, as it was told.
static bool isToFail(NSError **error) {
  const char *failure = countCall();
  if (!failure)
    return false;
  if (std::string(failure) == "raise")
    [NSException raise:NSInvalidArgumentException
                format:@"unrecognized selector"];
  fail(error, failure);
  return true;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

@interface _ANEInMemoryModelDescriptor : NSObject {
@public
  NSData *text;
  NSDictionary *weights;
}
@end

@implementation _ANEInMemoryModelDescriptor
+ (id)modelWithMILText:(NSData *)text
               weights:(NSDictionary *)weights
          optionsPlist:(NSData *)options {
  if (isToFail(NULL))
    return nil;
  // A string is no data.
  if (![text isKindOfClass:[NSData class]])
    return nil;
  _ANEInMemoryModelDescriptor *made = [[[self alloc] init] autorelease];
  made->text = [text retain];
  made->weights = [weights retain];
  return made;
}
- (void)dealloc {
  [text release];
  [weights release];
  [super dealloc];
}
@end

//===----------------------------------------------------------------------===//
// Surfaces and requests
//===----------------------------------------------------------------------===//

@interface _ANEIOSurfaceObject : NSObject {
@public
  IOSurfaceRef surface;
}
@end

@implementation _ANEIOSurfaceObject
+ (id)objectWithIOSurface:(IOSurfaceRef)surface {
  if (isToFail(NULL) || !surface)
    return nil;
  _ANEIOSurfaceObject *made = [[[self alloc] init] autorelease];
  made->surface = (IOSurfaceRef)CFRetain(surface);
  return made;
}
- (void)dealloc {
  if (surface)
    CFRelease(surface);
  [super dealloc];
}
@end

@interface _ANERequest : NSObject {
@public
  NSArray *inputs, *inputIndices, *outputs, *outputIndices;
}
@end

@implementation _ANERequest
+ (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
          weightsBuffer:(id)weightsBuffer
              perfStats:(NSArray *)perfStats
         procedureIndex:(NSNumber *)procedureIndex {
  if (isToFail(NULL) || [inputs count] != [inputIndices count] ||
      [outputs count] != [outputIndices count] || !procedureIndex)
    return nil;
  _ANERequest *made = [[[self alloc] init] autorelease];
  made->inputs = [inputs copy];
  made->inputIndices = [inputIndices copy];
  made->outputs = [outputs copy];
  made->outputIndices = [outputIndices copy];
  ++ledger().requests;
  return made;
}
- (void)dealloc {
  if (inputs)
    --ledger().requests;
  [inputs release];
  [inputIndices release];
  [outputs release];
  [outputIndices release];
  [super dealloc];
}
@end

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

@interface _ANEInMemoryModel : NSObject {
  _ANEInMemoryModelDescriptor *descriptor;
  NSString *identifier;
  LoadedProgram *program;
}
@end

static llvm::ArrayRef<uint8_t> bytesOf(NSData *data) {
  return {static_cast<const uint8_t *>([data bytes]), size_t([data length])};
}

/// Text, weights, options: what the real name is a digest of.
static NSString *identify(_ANEInMemoryModelDescriptor *descriptor) {
  std::string weights;
  NSArray *keys = [[descriptor->weights allKeys]
      sortedArrayUsingSelector:@selector(compare:)];
  for (NSString *key in keys) {
    NSDictionary *entry = [descriptor->weights objectForKey:key];
    weights += [key UTF8String];
    weights += anec::sha256(bytesOf([entry objectForKey:@"data"]));
  }
  llvm::ArrayRef<uint8_t> weightBytes(
      reinterpret_cast<const uint8_t *>(weights.data()), weights.size());
  std::string name = anec::sha256(bytesOf(descriptor->text)) + "_" +
                     anec::sha256(weightBytes) + "_" +
                     anec::sha256(llvm::ArrayRef<uint8_t>());
  return [NSString stringWithUTF8String:name.c_str()];
}

@implementation _ANEInMemoryModel
+ (id)inMemoryModelWithDescriptor:(_ANEInMemoryModelDescriptor *)descriptor {
  if (isToFail(NULL) || !descriptor)
    return nil;
  _ANEInMemoryModel *made = [[[self alloc] init] autorelease];
  made->descriptor = [descriptor retain];
  made->identifier = [identify(descriptor) retain];
  ++ledger().models;
  return made;
}

- (void)dealloc {
  if (descriptor)
    --ledger().models;
  // Without unloading, the engine keeps the program: `loaded` stays as it is.
  delete program;
  [descriptor release];
  [identifier release];
  [super dealloc];
}

- (NSString *)hexStringIdentifier {
  return isToFail(NULL) ? nil : identifier;
}

static std::string folderOf(NSString *identifier) {
  return std::string([NSTemporaryDirectory() UTF8String]) + "/" +
         [identifier UTF8String];
}

- (BOOL)compiledModelExists {
  return !isToFail(NULL) && isCompiled(folderOf(identifier));
}

- (BOOL)compileWithQoS:(unsigned int)qos
               options:(NSDictionary *)options
                 error:(NSError **)error {
  if (isToFail(error))
    return NO;
  // What is too much fails without a word, and so does nil for no weights.
  if (++ledger().compiles > ledger().compileLimit || !descriptor->weights ||
      !options)
    return NO;
  std::set<std::string> paths;
  for (NSString *key in descriptor->weights) {
    NSDictionary *entry = [descriptor->weights objectForKey:key];
    if ([[entry objectForKey:@"data"] isKindOfClass:[NSData class]] &&
        [entry objectForKey:@"offset"])
      paths.insert([key UTF8String]);
  }
  std::string failure = compile(folderOf(identifier), paths);
  return failure.empty() ? YES : fail(error, failure);
}

- (BOOL)loadWithQoS:(unsigned int)qos
            options:(NSDictionary *)options
              error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (unsigned(ledger().loaded) >= ledger().loadedLimit)
    return fail(error, "Program load failure (status=0x50004)");
  std::string failure;
  std::unique_ptr<LoadedProgram> made = load(folderOf(identifier), failure);
  if (!made)
    return fail(error, failure);
  delete program;
  program = made.release();
  ++ledger().loads;
  ++ledger().loaded;
  return YES;
}

- (BOOL)unloadWithQoS:(unsigned int)qos error:(NSError **)error {
  if (!program)
    return fail(error, "Program is not loaded");
  // It is unloaded even when it says that it is not: nothing can be done.
  delete program;
  program = nullptr;
  --ledger().loaded;
  if (ledger().isTidy)
    [[NSFileManager defaultManager]
        removeItemAtPath:[NSString stringWithUTF8String:folderOf(identifier).c_str()]
                   error:NULL];
  return !isToFail(error);
}

/// What the surfaces at symbols hold; false when one of them is too small.
static bool findSurfaces(NSArray *objects, NSArray *indices,
                         llvm::ArrayRef<Placement> placements,
                         std::vector<IOSurfaceRef> &surfaces) {
  surfaces.assign(placements.size(), nullptr);
  for (NSUInteger i = 0; i < [objects count]; ++i) {
    NSUInteger symbol = [[indices objectAtIndex:i] unsignedIntegerValue];
    if (symbol >= placements.size())
      return false;
    IOSurfaceRef surface =
        ((_ANEIOSurfaceObject *)[objects objectAtIndex:i])->surface;
    if (IOSurfaceGetAllocSize(surface) < placements[symbol].bytes())
      return false;
    surfaces[symbol] = surface;
  }
  return llvm::all_of(surfaces, [](IOSurfaceRef surface) { return surface; });
}

- (BOOL)evaluateWithQoS:(unsigned int)qos
                options:(NSDictionary *)options
                request:(_ANERequest *)request
                  error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (!program || !request)
    return fail(error, "Program is not loaded");
  std::vector<IOSurfaceRef> inputs, outputs;
  if (!findSurfaces(request->inputs, request->inputIndices, program->inputs,
                    inputs) ||
      !findSurfaces(request->outputs, request->outputIndices, program->outputs,
                    outputs))
    return fail(error, "Program Inference error: status=0x1d");
  ++ledger().evaluations;
  // The engine sees memory whether or not someone has it locked.
  std::vector<const uint8_t *> in;
  std::vector<uint8_t *> out;
  for (IOSurfaceRef surface : inputs)
    in.push_back(anecShimMemory(surface));
  for (IOSurfaceRef surface : outputs)
    out.push_back(anecShimMemory(surface));
  run(*program, in, out);
  return YES;
}

static NSArray *symbolsOf(llvm::ArrayRef<Placement> placements,
                          NSString *suffix) {
  NSMutableArray *names = [NSMutableArray array];
  if (ledger().odd == "names")
    suffix = [@"_0" stringByAppendingString:suffix];
  for (const Placement &placement : placements)
    [names addObject:[[NSString stringWithUTF8String:placement.name.c_str()]
                         stringByAppendingString:suffix]];
  return names;
}

static NSArray *numbersUpTo(size_t count) {
  NSMutableArray *numbers = [NSMutableArray array];
  for (size_t i = 0; i < count; ++i)
    [numbers addObject:[NSNumber numberWithUnsignedLong:i]];
  return numbers;
}

static NSArray *layoutsOf(llvm::ArrayRef<Placement> placements,
                          NSString *suffix) {
  NSMutableArray *layouts = [NSMutableArray array];
  for (const Placement &placement : placements) {
    NSString *name =
        [[NSString stringWithUTF8String:placement.name.c_str()]
            stringByAppendingString:suffix];
    size_t height = placement.type.shape.size() >= 2
                        ? size_t(placement.type.shape.rbegin()[1])
                        : 1;
    [layouts addObject:@{
      @"Name" : name,
      @"Height" : [NSNumber numberWithUnsignedLong:height],
      @"RowStride" : [NSNumber numberWithUnsignedLong:placement.stride],
      @"PlaneStride" :
          [NSNumber numberWithUnsignedLong:placement.stride * height],
      @"Interleave" : ledger().odd == "layout" ? @4 : @1
    }];
  }
  return layouts;
}

- (NSDictionary *)modelAttributes {
  if (isToFail(NULL) || ledger().isQuiet || !program)
    return nil;
  NSDictionary *procedure = @{
    @"ANEFModelProcedureID" : @0,
    @"ANEFModelInputSymbolIndexArray" : numbersUpTo(program->inputs.size()),
    @"ANEFModelOutputSymbolIndexArray" : numbersUpTo(program->outputs.size())
  };
  NSDictionary *description = @{
    @"kANEFModelInputSymbolsArrayKey" : symbolsOf(program->inputs, @""),
    @"kANEFModelOutputSymbolsArrayKey" :
        symbolsOf(program->outputs, @"@output"),
    @"ANEFModelProcedures" : @[ procedure ]
  };
  NSDictionary *status = @{
    @"LiveInputList" : layoutsOf(program->inputs, @""),
    @"LiveOutputList" : layoutsOf(program->outputs, @"@output")
  };
  return @{
    @"ANEFModelDescription" : description,
    @"NetworkStatusList" : @[ status ]
  };
}
@end
