//===- Programs.mm - what the double's models have in common --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace ane_double;

static NSError *errorSaying(const std::string &text) {
  NSString *description = [NSString stringWithUTF8String:text.c_str()];
  return [NSError errorWithDomain:@"com.apple.appleneuralengine"
                             code:1
                         userInfo:@{NSLocalizedDescriptionKey : description}];
}

BOOL ane_double::fail(NSError **error, const std::string &text) {
  if (error && !text.empty())
    *error = errorSaying(text);
  return NO;
}

bool ane_double::isToFail(NSError **error) {
  const char *failure = countCall();
  if (!failure)
    return false;
  if (std::string(failure) == "raise")
    [NSException raise:NSInvalidArgumentException
                format:@"unrecognized selector"];
  if (std::string(failure) == "throw")
    @throw @"a string";
  fail(error, failure);
  return true;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

BOOL ane_double::loadInto(LoadedProgram *&program, const std::string &folder,
                          const std::string &tag, NSError **error) {
  if (unsigned(ledger().loaded) >= ledger().loadedLimit)
    return fail(error, "Program load failure (status=0x50004)");
  std::string failure;
  std::unique_ptr<LoadedProgram> made = load(folder, tag, failure);
  if (!made)
    return fail(error, failure);
  delete program;
  program = made.release();
  ++ledger().loads;
  ++ledger().loaded;
  return YES;
}

void ane_double::unload(LoadedProgram *&program) {
  delete program;
  program = nullptr;
  --ledger().loaded;
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

static NSUInteger procedureCount() {
  return ledger().odd == "procedures" ? 2 : 1;
}

BOOL ane_double::evaluate(LoadedProgram *program, _ANERequest *request,
                          NSError **error) {
  if (isToFail(error))
    return NO;
  if (!program || !request)
    return fail(error, "Program is not loaded");
  // Since macOS 27, validating asks for the count of what is given.
  (void)[request->perfStatsGiven count];
  if (request->procedureIndex >= procedureCount())
    return fail(error, "Program Inference error: no such procedure");
  ledger().lastProcedure = unsigned(request->procedureIndex);
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

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

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
    NSString *name = [[NSString stringWithUTF8String:placement.name.c_str()]
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

NSDictionary *ane_double::attributesOf(const LoadedProgram *program) {
  if (ledger().isQuiet || !program)
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
    @"ANEFModelProcedures" : procedureCount() == 2 ? @[ procedure, procedure ]
                                                   : @[ procedure ]
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

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

@interface _ANEPerformanceStats : NSObject
@end

@implementation _ANEPerformanceStats
- (unsigned long long)hwExecutionTime {
  return 93000;
}
@end

static bool wantsStats(NSDictionary *options) {
  return [[options objectForKey:@"kANEFPerformanceStatsMask"]
             unsignedIntValue] != 0;
}

void ane_double::wantStats(LoadedProgram *program, NSDictionary *options) {
  program->hasStats = wantsStats(options);
}

void ane_double::leaveStats(const LoadedProgram *program, NSDictionary *options,
                            _ANERequest *request) {
  [request->perfStats release];
  request->perfStats = nil;
  if (program->hasStats && wantsStats(options) && ledger().odd != "no-stats")
    request->perfStats = [[_ANEPerformanceStats alloc] init];
}
