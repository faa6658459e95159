//===- Programs.mm - what the double's models have in common --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace ane_double;

static NSError *errorSaying(const std::string &text, int code) {
  NSString *description = [NSString stringWithUTF8String:text.c_str()];
  return [NSError errorWithDomain:@"com.apple.appleneuralengine"
                             code:code
                         userInfo:@{NSLocalizedDescriptionKey : description}];
}

BOOL ane_double::fail(NSError **error, const std::string &text, int code) {
  if (error && !text.empty())
    *error = errorSaying(text, code);
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
  if (ledger().isTrapped("virtual-machine"))
    return fail(error, "loadModel: the host is too old");
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

/// What an engine says that went to sleep; empty when it is awake. macOS 27
/// refuses what is submitted while it wakes up; on earlier systems, the engine
/// does not come back.
static std::string sleepOf(Ledger &known) {
  using Seconds = std::chrono::duration<double>;
  auto now = std::chrono::steady_clock::now();
  if (now < known.awakeAt) {
    ++known.cancelled;
    return "status=0x12: Request cancelled";
  }
  // Work that comes after it has woken up finds it awake.
  bool hasWoken = known.awakeAt > known.lastWork &&
                  now - known.awakeAt < Seconds(known.sleepSeconds);
  if (hasWoken || now - known.lastWork < Seconds(known.sleepSeconds))
    return "";
  if (known.system < 27)
    return "the engine does not answer: DART 0x80080008";
  known.awakeAt = now + std::chrono::milliseconds(10);
  ++known.cancelled;
  return "status=0x12: Request cancelled";
}

/// Of macOS 27 on, statistics are an array: the single object of earlier
/// systems has no count.
static void validate(const _ANERequest *request) {
  if (request->perfStatsGiven && ledger().system >= 27 &&
      ![request->perfStatsGiven respondsToSelector:@selector(count)])
    [NSException raise:NSInvalidArgumentException
                format:@"-[_ANEPerformanceStats count]: unrecognized selector"];
}

/// What comes of a surface that is too small.
static BOOL failForSurfaces(_ANERequest *request, NSError **error) {
  Ledger &known = ledger();
  if (known.isTrapped("silent-surfaces")) {
    for (_ANEIOSurfaceObject *output in request->outputs)
      std::memset(anecShimMemory(output->surface), 0,
                  IOSurfaceGetAllocSize(output->surface));
    return YES;
  }
  return known.system >= 27
             ? fail(error,
                    "IOSurface smaller than the model expects (status=0x1d)",
                    42)
             : fail(error, "Program Inference error: status=0x1d");
}

/// With the trap `decay`, whether this run of `program` is a slow one.
static bool isSlow(LoadedProgram &program) {
  return ++program.runs > ledger().fastRuns && ledger().isTrapped("decay");
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
  if (std::string sleep = sleepOf(ledger()); !sleep.empty())
    return fail(error, sleep);
  validate(request);
  if (request->procedureIndex >= procedureCount())
    return fail(error, "Program Inference error: no such procedure");
  ledger().lastProcedure = unsigned(request->procedureIndex);
  std::vector<IOSurfaceRef> inputs, outputs;
  if (!findSurfaces(request->inputs, request->inputIndices, program->inputs,
                    inputs) ||
      !findSurfaces(request->outputs, request->outputIndices, program->outputs,
                    outputs))
    return failForSurfaces(request, error);
  ++ledger().evaluations;
  if (isSlow(*program))
    ++ledger().slowRuns;
  // The engine sees memory whether or not someone has it locked.
  std::vector<const uint8_t *> in;
  std::vector<uint8_t *> out;
  for (IOSurfaceRef surface : inputs)
    in.push_back(anecShimMemory(surface));
  for (IOSurfaceRef surface : outputs)
    out.push_back(anecShimMemory(surface));
  run(*program, in, out);
  ledger().lastWork = std::chrono::steady_clock::now();
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

static NSNumber *number(size_t value) {
  return [NSNumber numberWithUnsignedLong:value];
}

static NSString *typeOf(const Placement &placement) {
  switch (placement.type.dtype) {
  case anec::DType::FP16:
    return @"Float16";
  case anec::DType::FP32:
    return @"Float32";
  default:
    return @"Int32";
  }
}

static NSArray *layoutsOf(llvm::ArrayRef<Placement> placements,
                          NSString *suffix) {
  NSMutableArray *layouts = [NSMutableArray array];
  for (const Placement &placement : placements) {
    NSString *name = [[NSString stringWithUTF8String:placement.name.c_str()]
        stringByAppendingString:suffix];
    NSString *key = ledger().isTrapped("symbol-keys") ? @"Symbol" : @"Name";
    const anec::Shape &shape = placement.type.shape;
    auto extent = [&](size_t fromEnd) {
      return shape.size() > fromEnd ? size_t(shape.rbegin()[fromEnd]) : 1;
    };
    // Axes: batches, channels, depth, height, width. Those of rank 4 have no
    // depth.
    bool isDeep = shape.size() > 4;
    size_t planes = placement.rows / placement.planeRows;
    size_t batches = extent(isDeep ? 4 : 3);
    [layouts addObject:@{
      key : name,
      @"Type" : typeOf(placement),
      @"Batches" : number(batches),
      @"Channels" : number(extent(isDeep ? 3 : 2)),
      @"Depth" : number(isDeep ? extent(2) : 1),
      @"Height" : number(extent(1)),
      @"Width" : number(extent(0)),
      @"RowStride" : number(placement.stride),
      @"PlaneStride" : number(placement.planeStride),
      @"BatchStride" : number(placement.planeStride * planes / batches),
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
  llvm::ArrayRef<Placement> inputs(program->inputs), params;
  if (ledger().isTrapped("input-params")) {
    params = inputs.take_back();
    inputs = inputs.drop_back();
  }
  NSDictionary *status = @{
    @"LiveInputList" : layoutsOf(inputs, @""),
    @"LiveInputParamList" : layoutsOf(params, @""),
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
