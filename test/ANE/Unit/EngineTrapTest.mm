//===- EngineTrapTest.mm - drivers that do not know the system ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What systems and chips do that a driver has to know: for each, a driver that
/// does not, which the double must let fail, and the backend, which must not.
///
//===----------------------------------------------------------------------===//

#include "WrongDriver.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <thread>

using namespace anec;
using ane_double::ledger;

namespace {

/// A driver by in-memory models, each step of which a test does as it likes.
class Driver {
public:
  explicit Driver(const Files &files) : files(files) {
    dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
  }
  ~Driver() {
    NSError *error = nil;
    if (isLoaded)
      [model unloadWithQoS:21 error:&error];
    [model release];
    for (IOSurfaceRef surface : surfaces)
      CFRelease(surface);
    (void)llvm::sys::fs::remove_directories(folder);
  }

  /// Stages `staged` for what the descriptor got, compiles and loads. The
  /// error, or empty.
  std::string open(const std::string &staged);
  std::string open() { return open(files.text); }
  IOSurfaceRef surface(size_t bytes) {
    surfaces.push_back(makeSurface(bytes));
    std::memset(anecShimMemory(surfaces.back()), 0, bytes);
    return surfaces.back();
  }
  std::string evaluate(id request) {
    NSError *error = nil;
    return [model evaluateWithQoS:21 options:@{} request:request error:&error]
               ? ""
               : sayError(error) + " ";
  }

  id<AneInMemoryModel> model = nil;

private:
  Files files;
  std::string folder;
  std::vector<IOSurfaceRef> surfaces;
  bool isLoaded = false;
};

/// Each test starts with the newest system, awake and without traps.
class AneEngineTraps : public testing::Test {
protected:
  void SetUp() override { reset(); }
  void TearDown() override { reset(); }

private:
  static void reset() {
    ledger().system = 27;
    ledger().traps.clear();
    ledger().sleepSeconds = 5;
    ledger().fastRuns = 25000;
    ledger().slowRuns = 0;
    ledger().compileLimit = 1u << 30;
  }
};

} // namespace

std::string Driver::open(const std::string &staged) {
  NSData *text = [NSData dataWithBytes:files.text.data()
                                length:files.text.size()];
  id descriptor =
      [(id<AneDescriptorClass>)NSClassFromString(@"_ANEInMemoryModelDescriptor")
          modelWithMILText:text
                   weights:@{}
              optionsPlist:nil];
  model = [[(id<AneInMemoryModelClass>)NSClassFromString(@"_ANEInMemoryModel")
      inMemoryModelWithDescriptor:descriptor] retain];
  folder = [[NSTemporaryDirectory()
      stringByAppendingPathComponent:[model hexStringIdentifier]] UTF8String];
  (void)llvm::sys::fs::create_directories(folder + "/weights");
  writeFile(folder + "/model.mil", staged);
  NSError *error = nil;
  isLoaded = [model compileWithQoS:21 options:@{} error:&error] &&
             [model loadWithQoS:21 options:@{} error:&error];
  return isLoaded ? "" : std::to_string([error code]) + ": " + sayError(error);
}

/// `y = a + b`, with rows of `columns` halves and `channels` of `b`.
static std::string sum(int columns, int channels = 8) {
  std::string row = ", 1, " + std::to_string(columns) + "]>";
  return "program(1.3)\n{\n  func main<ios18>(tensor<fp16, [1, 8" + row +
         " a, tensor<fp16, [1, " + std::to_string(channels) + row +
         " b) {\n    tensor<fp16, [1, 8" + row +
         " y = add(x = a, y = b)[name = string(\"y\")];\n  } -> (y);\n}\n";
}

/// What the backend makes of `text`; nothing, with `said`, when it fails.
static std::vector<std::vector<uint8_t>>
runByBackend(const std::string &text, std::string &said,
             const AneOptions &options = doubleOptions()) {
  TestProgram program(text);
  Diagnostics diags;
  auto backend = openDouble(options);
  auto executable = backend->load(program.function(), {}, diags);
  std::vector<std::vector<uint8_t>> results;
  if (executable)
    results = runOnce(*executable, 1, diags);
  said = textOf(diags);
  return results;
}

static void expectRight(const std::string &text) {
  TestProgram program(text);
  Diagnostics diags;
  auto cpu = createCpuBackend();
  auto executable = cpu->load(program.function(), {}, diags);
  std::string said;
  EXPECT_EQ(runByBackend(text, said), runOnce(*executable, 1, diags)) << said;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

// macOS 27 hashes what is staged.
TEST_F(AneEngineTraps, StagedFileDiffers) {
  @autoreleasepool {
    Files files = printed(twoByTwo());
    EXPECT_EQ(Driver(files).open(files.text + " "),
              "10: verifyBundleAtPath: hash mismatch");
    EXPECT_EQ(Driver(files).open(), "");
    ledger().system = 26.5;
    EXPECT_EQ(Driver(files).open(files.text + " "), "");
  }
}

// It takes several files in another order than it gets them.
TEST_F(AneEngineTraps, SeveralWeightFiles) {
  std::string two = twoArrays();
  AneOptions options = doubleOptions();
  options.mostWeightFiles = 16;
  std::string said;
  EXPECT_TRUE(runByBackend(two, said, options).empty());
  EXPECT_NE(said.find("[ane-staged-bundle]"), std::string::npos) << said;
  expectRight(two);
  for (const char *macOS : {"26.6.2", "27.0.1"}) {
    Diagnostics diags;
    options.macOS = macOS;
    EXPECT_TRUE(createAneBackend(options, diags));
    EXPECT_EQ(textOf(diags).find("[ane-weight-files]") != std::string::npos,
              macOS == std::string("27.0.1"));
  }
  ledger().system = 26.5;
  EXPECT_FALSE(runByBackend(two, said, options).empty()) << said;
}

//===----------------------------------------------------------------------===//
// Surfaces
//===----------------------------------------------------------------------===//

// The wrapper raises, its inner model answers.
TEST_F(AneEngineTraps, AttributesOfTheWrapper) {
  @autoreleasepool {
    Driver driver(printed(twoByTwo()));
    ASSERT_EQ(driver.open(), "");
    bool isRaised = false;
    @try {
      (void)[(id<AneModel>)driver.model modelAttributes];
    } @catch (NSException *exception) {
      isRaised = true;
    }
    EXPECT_TRUE(isRaised);
    EXPECT_NE([[driver.model model] modelAttributes], nil);
  }
}

// Rows of 80 bytes instead of 128, as the attributes say.
TEST_F(AneEngineTraps, PackedRows) {
  @autoreleasepool {
    ledger().traps = {"packed-rows"};
    Driver driver(printed(sum(40)));
    ASSERT_EQ(driver.open(), "");
    IOSurfaceRef a = driver.surface(8 * 128), b = driver.surface(8 * 128),
                 y = driver.surface(8 * 128);
    // The second row of a driver that pads them all.
    reinterpret_cast<uint16_t *>(anecShimMemory(a))[64] = 0x3c00;
    EXPECT_EQ(driver.evaluate(makeRequest({a, b}, {y})), "");
    auto *result = reinterpret_cast<uint16_t *>(anecShimMemory(y));
    // It is in the third row.
    EXPECT_EQ(result[64], 0x3c00);
    EXPECT_EQ(64 / 40, 1);
    EXPECT_NE(64 % 40, 0);
  }
  for (const char *other : {"symbol-keys", "input-params", "padded-planes"}) {
    ledger().traps = {"packed-rows", other};
    expectRight(sum(40));
    expectRight(twoByTwo());
  }
}

// Data without padding where the engine pads: all but the first row is lost.
TEST_F(AneEngineTraps, NarrowRowsWithoutPadding) {
  @autoreleasepool {
    Driver driver(printed(sum(16)));
    ASSERT_EQ(driver.open(), "");
    IOSurfaceRef a = driver.surface(49152), b = driver.surface(49152),
                 y = driver.surface(49152);
    auto *elements = reinterpret_cast<uint16_t *>(anecShimMemory(a));
    std::fill(elements, elements + 8 * 16, 0x3c00);
    EXPECT_EQ(driver.evaluate(makeRequest({a, b}, {y})), "");
    auto *result = reinterpret_cast<uint16_t *>(anecShimMemory(y));
    EXPECT_EQ(result[15], 0x3c00);
    EXPECT_NE(std::count(result, result + 8 * 16, 0x3c00), 8 * 16);
  }
  expectRight(sum(16));
}

// `b` has fewer bytes than `a`, and comes behind it.
TEST_F(AneEngineTraps, OrderOfSizes) {
  @autoreleasepool {
    Driver driver(printed(sum(40, 1)));
    ASSERT_EQ(driver.open(), "");
    IOSurfaceRef a = driver.surface(8 * 128), b = driver.surface(128),
                 y = driver.surface(8 * 128);
    fill(a, 0x3c00);
    fill(b, 0x4200);
    EXPECT_NE(driver.evaluate(makeRequest({b, a}, {y})).find("0x1d"),
              std::string::npos);
    EXPECT_EQ(driver.evaluate(makeRequest({a, b}, {y})), "");
    EXPECT_EQ(firstOf(y), 4);
    // Nothing is said by the M1.
    ledger().traps = {"silent-surfaces"};
    EXPECT_EQ(driver.evaluate(makeRequest({b, a}, {y})), "");
    EXPECT_EQ(firstOf(y), 0);
  }
  expectRight(sum(40, 1));
}

// The report has the sizes, which the engine's error has not.
TEST_F(AneEngineTraps, SmallSurfacesAreDescribed) {
  ProgramText program;
  program.text = printed(twoByTwo()).text;
  TensorType type(DType::FP16, {1, 8, 1, 40});
  program.inputs = {{"b", type}, {"a", type}};
  program.outputs = {{"y", type}, {"y2", type}};
  program.asDeclared = true;
  Diagnostics diags;
  auto backend = openDouble();
  auto executable = backend->loadText(program, diags);
  ASSERT_TRUE(executable) << textOf(diags);
  EXPECT_FALSE(executable->execute(diags));
  std::string said = textOf(diags);
  EXPECT_NE(said.find("[ane-surface-size]"), std::string::npos) << said;
  EXPECT_NE(said.find("input `b` is bound at 0, with 640 bytes and "
                      "rows 80 bytes apart; the engine expects 1024"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("output `y2` is bound at 1, with 640 bytes"),
            std::string::npos)
      << said;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

// The object of earlier systems is no array.
TEST_F(AneEngineTraps, Statistics) {
  @autoreleasepool {
    Driver driver(printed(sum(32)));
    ASSERT_EQ(driver.open(), "");
    IOSurfaceRef a = driver.surface(512), b = driver.surface(512),
                 y = driver.surface(512);
    auto wrap = [](IOSurfaceRef surface) {
      return [(id<AneSurfaceClass>)NSClassFromString(@"_ANEIOSurfaceObject")
          objectWithIOSurface:surface];
    };
    auto request = [&](id statistics) {
      return [(id<AneRequestClass>)NSClassFromString(@"_ANERequest")
          requestWithInputs:@[ wrap(a), wrap(b) ]
               inputIndices:@[ @0, @1 ]
                    outputs:@[ wrap(y) ]
              outputIndices:@[ @0 ]
              weightsBuffer:nil
                  perfStats:(NSArray *)statistics
             procedureIndex:@0];
    };
    id statistics = [[[NSObject alloc] init] autorelease];
    bool isRaised = false;
    @try {
      driver.evaluate(request(statistics));
    } @catch (NSException *exception) {
      isRaised = true;
    }
    EXPECT_TRUE(isRaised);
    EXPECT_EQ(driver.evaluate(request(nil)), "");
    ledger().system = 26.5;
    EXPECT_EQ(driver.evaluate(request(statistics)), "");
    ledger().system = 27;
  }
  expectRight(sum(32));
}

/// Runs a program, and again after `idle`. What the second run said.
static std::string runAfter(std::chrono::milliseconds idle,
                            const AneOptions &options) {
  double seconds = ledger().sleepSeconds.exchange(1000);
  TestProgram program(sum(32));
  Diagnostics diags;
  auto backend = openDouble(options);
  auto executable = backend->load(program.function(), {}, diags);
  EXPECT_TRUE(executable && executable->execute(diags)) << textOf(diags);
  ledger().sleepSeconds = seconds;
  std::this_thread::sleep_for(idle);
  EXPECT_EQ(executable->execute(diags), !diags.hasErrors());
  return textOf(diags);
}

// macOS 27 refuses what meets the engine asleep, until it is awake.
TEST_F(AneEngineTraps, Sleep) {
  using std::chrono::milliseconds;
  @autoreleasepool {
    Driver driver(printed(sum(32)));
    ASSERT_EQ(driver.open(), "");
    id request = makeRequest({driver.surface(512), driver.surface(512)},
                             {driver.surface(512)});
    ASSERT_EQ(driver.evaluate(request), "");
    ledger().sleepSeconds = 0.2;
    std::this_thread::sleep_for(milliseconds(400));
    EXPECT_NE(driver.evaluate(request).find("0x12"), std::string::npos);
  }
  AneOptions options = doubleOptions();
  // That of busy engines is not what this waits for.
  options.backoffMilliseconds = 5000;
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(runAfter(milliseconds(400), options), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(4000));
  options.cancelledRetries = 0;
  EXPECT_NE(runAfter(milliseconds(400), options).find("[ane-cancelled]"),
            std::string::npos);
}

// Before, the engine does not come back; it must not go to sleep.
TEST_F(AneEngineTraps, SleepOfEarlierSystems) {
  ledger().system = 26.5;
  ledger().sleepSeconds = 1;
  constexpr auto idle = std::chrono::milliseconds(1300);
  AneOptions options = doubleOptions();
  EXPECT_NE(runAfter(idle, options).find("DART"), std::string::npos);
  options.heartbeatSeconds = 0.05;
  EXPECT_EQ(runAfter(idle, options), "");
}

TEST_F(AneEngineTraps, SlowAfterManyRuns) {
  ledger().traps = {"decay"};
  ledger().fastRuns = 10;
  @autoreleasepool {
    Driver driver(printed(sum(32)));
    ASSERT_EQ(driver.open(), "");
    id request = makeRequest({driver.surface(512), driver.surface(512)},
                             {driver.surface(512)});
    for (int run = 0; run < 30; ++run)
      ASSERT_EQ(driver.evaluate(request), "");
    EXPECT_EQ(ledger().slowRuns, 20u);
  }
  for (unsigned runsPerLoad : {10u, 1000u}) {
    ledger().slowRuns = 0;
    unsigned compiles = ledger().compiles;
    AneOptions options = doubleOptions();
    options.runsPerLoad = runsPerLoad;
    TestProgram program(sum(32));
    Diagnostics diags;
    auto backend = openDouble(options);
    auto executable = backend->load(program.function(), {}, diags);
    for (int run = 0; run < 30; ++run)
      ASSERT_TRUE(executable->execute(diags)) << textOf(diags);
    EXPECT_EQ(ledger().slowRuns, runsPerLoad == 10 ? 0u : 20u);
    // It is loaded again, not compiled.
    EXPECT_EQ(ledger().compiles, compiles + 1);
  }
}
