//===- TrapTest.mm - drivers that do one thing wrong ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A driver as short as one can be, which can be told to make a mistake that
/// others have made. The double must let it fail as the engine does: otherwise
/// the tests of the real driver prove nothing.
///
//===----------------------------------------------------------------------===//

#include "WrongDriver.h"

using namespace anec;
using ane_double::ledger;

namespace {

enum Mistake {
  None,
  TextAsString,
  NilWeights,
  NoStaging,
  NoWeightFile,
  OtherKey,
  DataOffset,
  PackedSurfaces,
  DeclaredOrder,
  NoUnload,
};

struct Outcome {
  std::string failed; ///< the step, empty when all went well
  std::string error;
  std::vector<float> y, y2;
};

} // namespace

/// Runs the program of two inputs and outputs with b = 3 and a = 1.
static Outcome drive(Mistake mistake, const Files &files, bool isConv) {
  Outcome outcome;
  dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
  auto cls = [](NSString *name) { return NSClassFromString(name); };
  std::string text = files.text;
  if (mistake == DataOffset) {
    // Of the data, 64 bytes behind the record's header.
    size_t at = text.find("offset = uint64(64)");
    EXPECT_NE(at, std::string::npos) << text;
    text.replace(at, 19, "offset = uint64(128)");
  }
  id milText = mistake == TextAsString
                   ? (id)[NSString stringWithUTF8String:text.c_str()]
                   : (id)[NSData dataWithBytes:text.data() length:text.size()];
  NSString *key = mistake == OtherKey ? @"weights/weight.bin"
                                      : @"@model_path/weights/weight.bin";
  NSData *bytes = [NSData dataWithBytes:files.weights.data()
                                 length:files.weights.size()];
  NSDictionary *weights = isConv
                              ? @{key : @{@"offset" : @0, @"data" : bytes}}
                              : @{};
  if (mistake == NilWeights)
    weights = nil;
  id descriptor = [(id<AneDescriptorClass>)cls(@"_ANEInMemoryModelDescriptor")
      modelWithMILText:milText
               weights:weights
          optionsPlist:nil];
  if (!descriptor)
    return {"descriptor"};
  id<AneInMemoryModel> model =
      [(id<AneInMemoryModelClass>)cls(@"_ANEInMemoryModel")
          inMemoryModelWithDescriptor:descriptor];
  std::string folder = [[NSTemporaryDirectory()
      stringByAppendingPathComponent:[model hexStringIdentifier]] UTF8String];
  if (mistake != NoStaging) {
    (void)llvm::sys::fs::create_directories(folder + "/weights");
    writeFile(folder + "/model.mil", text);
    if (isConv && mistake != NoWeightFile)
      writeFile(folder + "/weights/weight.bin", files.weights);
  }
  NSError *error = nil;
  auto ended = [&](const char *step) {
    (void)llvm::sys::fs::remove_directories(folder);
    return Outcome{step, sayError(error)};
  };
  if (![model compileWithQoS:21 options:@{} error:&error])
    return ended("compile");
  if (![model loadWithQoS:21 options:@{} error:&error])
    return ended("load");

  size_t row = mistake == PackedSurfaces ? 80 : 128;
  std::vector<IOSurfaceRef> surfaces;
  for (size_t rows : {8, 8, isConv ? 32 : 8, 8})
    surfaces.push_back(makeSurface(rows * row));
  fill(surfaces[0], 0x4200);
  fill(surfaces[1], 0x3c00);
  auto wrap = [&](unsigned index) {
    return [(id<AneSurfaceClass>)cls(@"_ANEIOSurfaceObject")
        objectWithIOSurface:surfaces[index]];
  };
  // Declared are b, a and y, y2; by name it is a, b and y2@output, y@output.
  bool declared = mistake == DeclaredOrder;
  NSArray *in = isConv     ? @[ wrap(0) ]
                : declared ? @[ wrap(0), wrap(1) ]
                           : @[ wrap(1), wrap(0) ];
  NSArray *out = isConv     ? @[ wrap(2) ]
                 : declared ? @[ wrap(2), wrap(3) ]
                            : @[ wrap(3), wrap(2) ];
  NSArray *indices = isConv ? @[ @0 ] : @[ @0, @1 ];
  id request =
      [(id<AneRequestClass>)cls(@"_ANERequest") requestWithInputs:in
                                                     inputIndices:indices
                                                          outputs:out
                                                    outputIndices:indices
                                                    weightsBuffer:nil
                                                        perfStats:nil
                                                   procedureIndex:@0];
  if (![model evaluateWithQoS:21 options:@{} request:request error:&error])
    outcome = {"evaluate", sayError(error)};
  else
    outcome.y = {firstOf(surfaces[2])}, outcome.y2 = {firstOf(surfaces[3])};
  if (mistake != NoUnload)
    [model unloadWithQoS:21 error:&error];
  for (IOSurfaceRef surface : surfaces)
    CFRelease(surface);
  (void)llvm::sys::fs::remove_directories(folder);
  return outcome;
}

static Outcome driveInPool(Mistake mistake, const Files &files, bool isConv) {
  // A slow machine is not what these are about: the engine is awake.
  ledger().lastWork = std::chrono::steady_clock::now();
  @autoreleasepool {
    return drive(mistake, files, isConv);
  }
}

TEST(AneTraps, RightDriver) {
  Outcome outcome = driveInPool(None, printed(twoByTwo()), false);
  EXPECT_EQ(outcome.failed, "") << outcome.error;
  EXPECT_EQ(outcome.y.front(), 2);
  EXPECT_EQ(outcome.y2.front(), 4);
  outcome = driveInPool(None, printed(convolution(1)), true);
  EXPECT_EQ(outcome.failed, "") << outcome.error;
  EXPECT_EQ(ledger().surfaces, 0);
  EXPECT_EQ(ledger().loaded, 0);
}

TEST(AneTraps, TextAsString) {
  EXPECT_EQ(driveInPool(TextAsString, printed(twoByTwo()), false).failed,
            "descriptor");
}

TEST(AneTraps, NilWeights) {
  Outcome outcome = driveInPool(NilWeights, printed(twoByTwo()), false);
  EXPECT_EQ(outcome.failed, "compile");
  EXPECT_EQ(outcome.error, ""); // without a word
}

/// What the compiler says of files, before macOS 27 and since.
static void expectRefused(Mistake mistake, const Files &files, bool isConv,
                          const char *now) {
  ledger().system = 26.5;
  for (const char *said : {"InvalidMILProgram", now}) {
    Outcome outcome = driveInPool(mistake, files, isConv);
    EXPECT_EQ(outcome.failed, "compile");
    EXPECT_EQ(outcome.error.rfind(said, 0), 0u) << outcome.error;
    ledger().system = 27;
  }
}

TEST(AneTraps, NothingStaged) {
  expectRefused(NoStaging, printed(twoByTwo()), false, "verifyBundleAtPath");
}

TEST(AneTraps, WeightFiles) {
  Files files = printed(convolution(1));
  expectRefused(NoWeightFile, files, true, "verifyBundleAtPath");
  expectRefused(OtherKey, files, true, "InvalidMILProgram");
  expectRefused(DataOffset, files, true, "InvalidMILProgram");
}

TEST(AneTraps, SurfacesWithoutPadding) {
  Outcome outcome = driveInPool(PackedSurfaces, printed(twoByTwo()), false);
  EXPECT_EQ(outcome.failed, "evaluate");
  EXPECT_NE(outcome.error.find("0x1d"), std::string::npos);
}

// Nothing fails, and everything is wrong.
TEST(AneTraps, DeclaredOrder) {
  Outcome outcome = driveInPool(DeclaredOrder, printed(twoByTwo()), false);
  EXPECT_EQ(outcome.failed, "");
  // a - b instead of b - a, where the sum should be.
  EXPECT_EQ(outcome.y.front(), 4);
  EXPECT_EQ(outcome.y2.front(), -2);
}

TEST(AneTraps, NoUnload) {
  driveInPool(NoUnload, printed(twoByTwo()), false);
  EXPECT_EQ(ledger().loaded, 1);
  ledger().loaded = 0;
}

TEST(AneTraps, CompileLimit) {
  Files files = printed(twoByTwo());
  unsigned before = ledger().compileLimit;
  ledger().compiles = 0;
  ledger().compileLimit = 119;
  for (int i = 1; i < 120; ++i)
    ASSERT_EQ(driveInPool(None, files, false).failed, "") << i;
  Outcome outcome = driveInPool(None, files, false);
  EXPECT_EQ(outcome.failed, "compile");
  EXPECT_EQ(outcome.error, "");
  ledger().compileLimit = before;
}

TEST(AneTraps, LoadedLimit) {
  Files files = printed(twoByTwo());
  ledger().compileLimit = 1u << 30;
  for (int i = 1; i < 128; ++i)
    ASSERT_EQ(driveInPool(NoUnload, files, false).failed, "") << i;
  Outcome outcome = driveInPool(NoUnload, files, false);
  EXPECT_EQ(outcome.failed, "load");
  EXPECT_NE(outcome.error.find("0x50004"), std::string::npos);
  ledger().loaded = 0;
}

// Other weights in the file change nothing: what was compiled has its own.
TEST(AneTraps, OverwrittenWeights) {
  @autoreleasepool {
    Files files = printed(convolution(1));
    dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    NSData *bytes = [NSData dataWithBytes:files.weights.data()
                                   length:files.weights.size()];
    NSData *text = [NSData dataWithBytes:files.text.data()
                                  length:files.text.size()];
    id descriptor = [(id<AneDescriptorClass>)NSClassFromString(
        @"_ANEInMemoryModelDescriptor")
        modelWithMILText:text
                 weights:@{
                   @"@model_path/weights/weight.bin" :
                       @{@"offset" : @0, @"data" : bytes}
                 }
            optionsPlist:nil];
    id<AneInMemoryModel> model =
        [(id<AneInMemoryModelClass>)NSClassFromString(@"_ANEInMemoryModel")
            inMemoryModelWithDescriptor:descriptor];
    std::string folder = [[NSTemporaryDirectory()
        stringByAppendingPathComponent:[model hexStringIdentifier]] UTF8String];
    (void)llvm::sys::fs::create_directories(folder + "/weights");
    writeFile(folder + "/model.mil", files.text);
    writeFile(folder + "/weights/weight.bin", files.weights);
    NSError *error = nil;
    ASSERT_TRUE([model compileWithQoS:21 options:@{} error:&error]);
    IOSurfaceRef x = makeSurface(8 * 128), y = makeSurface(32 * 128);
    fill(x, 0x3c00);
    id request = [(id<AneRequestClass>)NSClassFromString(@"_ANERequest")
        requestWithInputs:@[ [(id<AneSurfaceClass>)NSClassFromString(
                              @"_ANEIOSurfaceObject") objectWithIOSurface:x] ]
             inputIndices:@[ @0 ]
                  outputs:@[ [(id<AneSurfaceClass>)NSClassFromString(
                              @"_ANEIOSurfaceObject") objectWithIOSurface:y] ]
            outputIndices:@[ @0 ]
            weightsBuffer:nil
                perfStats:nil
           procedureIndex:@0];
    std::vector<float> results;
    for (double scale : {1.0, 2.0}) {
      // Unloading removes it.
      (void)llvm::sys::fs::create_directories(folder + "/weights");
      writeFile(folder + "/weights/weight.bin",
                printed(convolution(scale)).weights);
      ASSERT_TRUE([model loadWithQoS:21 options:@{} error:&error]);
      ASSERT_TRUE([model evaluateWithQoS:21
                                 options:@{}
                                 request:request
                                   error:&error]);
      results.push_back(firstOf(y));
      ASSERT_TRUE([model unloadWithQoS:21 error:&error]);
    }
    EXPECT_NE(results[0], 0);
    EXPECT_EQ(results[0], results[1]);
    CFRelease(x);
    CFRelease(y);
    (void)llvm::sys::fs::remove_directories(folder);
  }
}
