//===- ClientTrapTest.mm - drivers that use the client wrong --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// As TrapTest.mm, for the calls of the framework's client: the double must let
/// each mistake fail.
///
//===----------------------------------------------------------------------===//

#include "WrongDriver.h"

using namespace anec;
using ane_double::ledger;

namespace {

enum Mistake {
  None,
  NoType,         ///< options do not say MIL when it is compiled
  NoTypeAtLoad,   ///< nor when it is loaded
  OtherType,      ///< another kind of model
  OtherFile,      ///< a text file that is not there
  NoFolder,       ///< nothing is staged
  NoWeightFile,   ///< the text alone is
  NoCompile,      ///< loaded without being compiled
  OtherKey,       ///< compiled for one key, loaded with another
  NoLoad,         ///< run without being loaded
  RunUnloaded,    ///< run after it was unloaded
  PackedSurfaces, ///< rows without padding
  NoUnload,
};

struct Outcome {
  std::string failed; ///< the step, empty when all went well
  std::string error;
  float y = 0;
};

/// A driver by the client, of a convolution with an input of ones.
class Driver {
public:
  Driver(Mistake mistake, const Files &files) : mistake(mistake) {
    dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("client", made));
    folder = made.str().str();
    stage(files);
    url = [NSURL fileURLWithPath:[NSString stringWithUTF8String:folder.c_str()]
                     isDirectory:YES];
    client =
        [(id<AneClientClass>)NSClassFromString(@"_ANEClient") sharedConnection];
    size_t row = mistake == PackedSurfaces ? 80 : 128;
    x = makeSurface(8 * row), y = makeSurface(32 * row);
    fill(x, 0x3c00);
  }
  ~Driver() {
    CFRelease(x);
    CFRelease(y);
    (void)llvm::sys::fs::remove_directories(folder);
  }

  void stage(const Files &files) {
    if (mistake == NoFolder) {
      (void)llvm::sys::fs::remove_directories(folder);
      return;
    }
    (void)llvm::sys::fs::create_directories(folder + "/weights");
    writeFile(folder + "/model.mil", files.text);
    if (mistake != NoWeightFile)
      writeFile(folder + "/weights/weight.bin", files.weights);
  }

  id<AneModel> modelFor(NSString *key) const {
    return [(id<AneModelClass>)NSClassFromString(@"_ANEModel") modelAtURL:url
                                                                      key:key];
  }

  /// `wanted`, but for what is the mistake.
  NSDictionary *options(Mistake withoutType) const {
    if (mistake == withoutType)
      return @{};
    return @{
      @"kANEFModelType" : mistake == OtherType ? @"kANEFModelANECIR"
                                               : @"kANEFModelMIL",
      @"kANEFNetPlistFilenameKey" : mistake == OtherFile ? @"net.mil"
                                                         : @"model.mil"
    };
  }

  Outcome drive() {
    id<AneModel> model = modelFor(@"key");
    NSError *error = nil;
    if (mistake != NoCompile && ![client compileModel:model
                                              options:options(NoType)
                                                  qos:21
                                                error:&error])
      return {"compile", sayError(error)};
    if (mistake == OtherKey)
      model = modelFor(@"another key");
    if (mistake != NoLoad && ![client loadModel:model
                                        options:options(NoTypeAtLoad)
                                            qos:21
                                          error:&error])
      return {"load", sayError(error)};
    if (mistake == RunUnloaded)
      EXPECT_TRUE(unload(model));
    Outcome outcome = run(model);
    if (mistake != NoUnload && mistake != RunUnloaded && mistake != NoLoad)
      EXPECT_TRUE(unload(model));
    return outcome;
  }

  BOOL unload(id<AneModel> model) {
    NSError *error = nil;
    return [client unloadModel:model
                       options:options(NoTypeAtLoad)
                           qos:21
                         error:&error];
  }

  Outcome run(id<AneModel> model) {
    NSError *error = nil;
    if (![client evaluateWithModel:model
                           options:@{}
                           request:makeRequest({x}, {y})
                               qos:21
                             error:&error])
      return {"evaluate", sayError(error)};
    return {"", "", firstOf(y)};
  }

  Mistake mistake;
  std::string folder;
  NSURL *url;
  id<AneClient> client;
  IOSurfaceRef x, y;
};

} // namespace

static Outcome drive(Mistake mistake) {
  @autoreleasepool {
    return Driver(mistake, printed(convolution(1))).drive();
  }
}

TEST(AneClientTraps, RightDriver) {
  Outcome outcome = drive(None);
  EXPECT_EQ(outcome.failed, "") << outcome.error;
  EXPECT_NE(outcome.y, 0);
  EXPECT_EQ(ledger().surfaces, 0);
  EXPECT_EQ(ledger().models, 0);
  EXPECT_EQ(ledger().loaded, 0);
}

// Who does not say what it is gets asked for a Core ML network.
TEST(AneClientTraps, ModelType) {
  Outcome outcome = drive(NoType);
  EXPECT_EQ(outcome.failed, "compile");
  EXPECT_NE(outcome.error.find("model.espresso.net"), std::string::npos);
  outcome = drive(NoTypeAtLoad);
  EXPECT_EQ(outcome.failed, "load");
  EXPECT_NE(outcome.error.find("model.espresso.net"), std::string::npos);
  EXPECT_EQ(drive(OtherType).failed, "compile");
}

TEST(AneClientTraps, Files) {
  Outcome outcome = drive(NoFolder);
  EXPECT_EQ(outcome.failed, "compile");
  EXPECT_NE(outcome.error.find("no access"), std::string::npos);
  for (Mistake mistake : {OtherFile, NoWeightFile}) {
    outcome = drive(mistake);
    EXPECT_EQ(outcome.failed, "compile");
    EXPECT_EQ(outcome.error.rfind("InvalidMILProgram", 0), 0u) << outcome.error;
  }
}

// Programs are compiled for a folder and a key.
TEST(AneClientTraps, NotCompiled) {
  EXPECT_EQ(drive(NoCompile).failed, "load");
  EXPECT_EQ(drive(OtherKey).failed, "load");
}

TEST(AneClientTraps, NotLoaded) {
  EXPECT_EQ(drive(NoLoad).failed, "evaluate");
  EXPECT_EQ(drive(RunUnloaded).failed, "evaluate");
}

TEST(AneClientTraps, SurfacesWithoutPadding) {
  Outcome outcome = drive(PackedSurfaces);
  EXPECT_EQ(outcome.failed, "evaluate");
  EXPECT_NE(outcome.error.find("0x1d"), std::string::npos);
}

TEST(AneClientTraps, NoUnload) {
  EXPECT_EQ(drive(NoUnload).failed, "");
  EXPECT_EQ(ledger().loaded, 1);
  ledger().loaded = 0;
}

// A driver that takes what there is for the folder and key, when the program
// there is another by now: nothing fails, and weights are the old ones.
TEST(AneClientTraps, SameFolderAndKey) {
  @autoreleasepool {
    Driver driver(None, printed(convolution(1)));
    float first = driver.drive().y;
    driver.stage(printed(convolution(2)));
    id<AneModel> model = driver.modelFor(@"key");
    ASSERT_TRUE([driver.client compiledModelExistsFor:model]);
    NSError *error = nil;
    ASSERT_TRUE([driver.client loadModel:model
                                 options:driver.options(NoTypeAtLoad)
                                     qos:21
                                   error:&error]);
    EXPECT_EQ(driver.run(model).y, first);
    EXPECT_TRUE(driver.unload(model));
    // Unloading what is not loaded is an error.
    EXPECT_FALSE(driver.unload(model));
    // Who compiles has the new ones.
    EXPECT_EQ(driver.drive().y, 2 * first);
  }
}

// Real time is evaluating alone: all else about it takes an entitlement.
@protocol AneRealTime
- (BOOL)beginRealTimeTask;
- (BOOL)loadRealTimeModel:(id)model
                  options:(NSDictionary *)options
                      qos:(unsigned int)qos
                    error:(NSError **)error;
@end

TEST(AneClientTraps, RealTimeTasks) {
  @autoreleasepool {
    Driver driver(None, printed(convolution(1)));
    id<AneModel> model = driver.modelFor(@"key");
    auto client = (id<AneRealTime>)driver.client;
    NSError *error = nil;
    EXPECT_FALSE([client beginRealTimeTask]);
    EXPECT_FALSE([client loadRealTimeModel:model
                                   options:driver.options(NoType)
                                       qos:21
                                     error:&error]);
    EXPECT_NE(sayError(error).find("entitlement"), std::string::npos);
  }
}

TEST(AneClientTraps, CompileLimit) {
  unsigned before = ledger().compileLimit;
  ledger().compiles = 0;
  ledger().compileLimit = 2;
  EXPECT_EQ(drive(None).failed, "");
  EXPECT_EQ(drive(None).failed, "");
  Outcome outcome = drive(None);
  EXPECT_EQ(outcome.failed, "compile");
  EXPECT_EQ(outcome.error, "");
  ledger().compileLimit = before;
}
