//===- E5TrapTest.mm - drivers that use E5 wrong --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// As TrapTest.mm, for Core ML's E5 engine and for program objects: the double
/// must let each mistake fail, or compute nothing where the engine does.
///
//===----------------------------------------------------------------------===//

#include "WrongDriver.h"
#include "lib/Runtime/ANE/E5Protocols.h"

using namespace anec;
using ane_double::ledger;

namespace {

enum Mistake {
  None,
  NoFile,        ///< no text at the location
  OtherFunction, ///< not `main`
  OtherName,     ///< the description calls an input otherwise
  OtherShape,    ///< and has another shape for it
  OtherType,     ///< arrays of fp32 where the description has fp16
  NoInput,       ///< no array for an input
  NotPrepared,   ///< run without being prepared
  OwnOperation,  ///< run by an operation that the engine did not make
};

struct Outcome {
  std::string failed; ///< the step, empty when all went well
  std::string error;
  float y = -1;
};

/// A driver of y = b - a, y2 = b + a with b = 3 and a = 1.
class Driver {
public:
  Driver(Mistake mistake, const std::string &text) : mistake(mistake) {
    dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("e5", made));
    folder = made.str().str();
    if (mistake != NoFile)
      writeFile(folder + "/model.mil", text);
  }
  ~Driver() { (void)llvm::sys::fs::remove_directories(folder); }

  id make(const char *name) { return [NSClassFromString(asText(name)) alloc]; }
  static NSString *asText(const std::string &text) {
    return [NSString stringWithUTF8String:text.c_str()];
  }

  id describe(const char *name, bool isOdd) {
    NSArray *shape = @[ @1, isOdd ? @9 : @8, @1, @40 ];
    id constraint = [(id<MlMultiArrayConstraintClass>)NSClassFromString(
        @"MLMultiArrayConstraint") constraintWithShape:shape
                                              dataType:mlFloat16];
    return [(id<MlFeatureDescriptionClass>)NSClassFromString(
        @"MLFeatureDescription") featureDescriptionWithName:asText(name)
                                                       type:mlFeatureMultiArray
                                                   optional:NO
                                                constraints:@[ constraint ]];
  }

  id description() {
    NSString *a = mistake == OtherName ? @"c" : @"a";
    NSDictionary *inputs = @{
      @"b" : describe("b", mistake == OtherShape),
      a : describe("a", false)
    };
    NSDictionary *outputs =
        @{@"y" : describe("y", false), @"y2" : describe("y2", false)};
    return [[(id<MlModelDescription>)make("MLModelDescription")
         initWithInputDescriptions:inputs
                outputDescriptions:outputs
              predictedFeatureName:nil
        predictedProbabilitiesName:nil
                          metadata:@{}] autorelease];
  }

  id array(std::vector<uint16_t> &halves, uint16_t value) {
    halves.assign(2 * 8 * 40, value);
    return [[(id<MlMultiArray>)make("MLMultiArray")
        initWithDataPointer:halves.data()
                      shape:@[ @1, @8, @1, @40 ]
                   dataType:mistake == OtherType ? mlFloat32 : mlFloat16
                    strides:@[ @320, @40, @40, @1 ]
                deallocator:nil
                      error:NULL] autorelease];
  }

  /// Nil when it cannot be compiled.
  id compile(NSError **error) {
    configuration = [(id)[make("MLModelConfiguration") init] autorelease];
    NSURL *url = [NSURL fileURLWithPath:asText(folder + "/model.mil")
                            isDirectory:NO];
    id compilation = [[(id<MlE5Compilation>)make(
        "MLE5ProgramLibraryOnDeviceAOTCompilationImpl")
        initWithMILTextAtURL:url
                   container:nil
               configuration:configuration] autorelease];
    id<MlE5ProgramLibrary> library =
        [[(id<MlE5ProgramLibrary>)make("MLE5ProgramLibrary")
             initWithImpl:compilation
                container:nil
            configuration:configuration] autorelease];
    return [library prepareAndReturnError:error] ? library : nil;
  }

  Outcome drive() {
    NSError *error = nil;
    id library = compile(&error);
    if (!library)
      return {"compile", sayError(error)};
    id described = description();
    id<MlE5Engine> engine = [[(id<MlE5Engine>)make("MLE5Engine")
               initWithProgramLibrary:library
                     modelDescription:described
                        configuration:configuration
                         functionName:mistake == OtherFunction ? @"other"
                                                               : @"main"
        classProbabilitiesFeatureName:nil
           optionalInputDefaultValues:nil
                  compilerVersionInfo:nil] autorelease];
    if (mistake != NotPrepared && ![engine prepareWithConcurrencyHint:1
                                                                error:&error])
      return {"prepare", sayError(error)};
    std::vector<uint16_t> b, a;
    NSDictionary *inputs =
        mistake == NoInput
            ? @{@"b" : array(b, 0x4200)}
            : @{@"b" : array(b, 0x4200), @"a" : array(a, 0x3c00)};
    id features =
        [[(id<MlDictionaryFeatureProvider>)make("MLDictionaryFeatureProvider")
            initWithDictionary:inputs
                         error:NULL] autorelease];
    id options = [(id)[make("MLPredictionOptions") init] autorelease];
    id<MlFeatureProvider> computed =
        mistake == OwnOperation ? runOwnOperation(library, described, features)
                                : [engine predictionFromFeatures:features
                                                         options:options
                                                           error:&error];
    if (!computed)
      return {"predict", sayError(error)};
    id<MlMultiArray> y = [[computed featureValueForName:@"y"] multiArrayValue];
    auto *halves = static_cast<uint16_t *>([y dataPointer]);
    return {"", "", halves[0] == 0x4000 ? 2.0f : halves[0] ? -2.0f : 0.0f};
  }

  id runOwnOperation(id library, id described, id features);

  Mistake mistake;
  std::string folder;
  id configuration = nil;
};

} // namespace

@protocol E5Operation
- (id)initWithProgramLibrary:(id)library
                functionName:(NSString *)name
            modelDescription:(id)model
               configuration:(id)configuration
                  debugLabel:(NSString *)label
             modelSignpostId:(unsigned long long)signpost;
- (BOOL)preloadAndReturnError:(NSError **)error;
- (BOOL)prepareForInputFeatures:(id)features
                        options:(id)options
                          error:(NSError **)error;
- (id)outputFeatures;
- (id)autorelease;
@end
@protocol E5Stream
- (void)setOperations:(NSArray *)operations;
- (BOOL)executeForInputFeatures:(id)features
                        options:(id)options
                          error:(NSError **)error;
@end

id Driver::runOwnOperation(id library, id described, id features) {
  id<E5Operation> operation =
      [[(id<E5Operation>)make("MLE5ExecutionStreamOperation")
          initWithProgramLibrary:library
                    functionName:@"main"
                modelDescription:described
                   configuration:configuration
                      debugLabel:@"own"
                 modelSignpostId:0] autorelease];
  id<E5Stream> stream = [(id)[make("MLE5ExecutionStream") init] autorelease];
  NSError *error = nil;
  EXPECT_TRUE([operation preloadAndReturnError:&error]);
  [stream setOperations:@[ operation ]];
  EXPECT_TRUE([operation prepareForInputFeatures:features
                                         options:nil
                                           error:&error]);
  EXPECT_TRUE([stream executeForInputFeatures:features
                                      options:nil
                                        error:&error]);
  return [operation outputFeatures];
}

static Outcome drive(Mistake mistake) {
  Outcome outcome;
  @autoreleasepool {
    outcome = Driver(mistake, printed(twoByTwo()).text).drive();
  }
  EXPECT_EQ(ledger().surfaces, 0);
  EXPECT_EQ(ledger().models, 0);
  EXPECT_EQ(ledger().requests, 0);
  EXPECT_EQ(ledger().loaded, 0);
  return outcome;
}

TEST(AneE5Traps, RightDriver) {
  Outcome outcome = drive(None);
  EXPECT_EQ(outcome.failed, "") << outcome.error;
  EXPECT_EQ(outcome.y, 2);
}

TEST(AneE5Traps, Mistakes) {
  struct Row {
    Mistake mistake;
    const char *failed, *error;
  };
  const Row rows[] = {
      {NoFile, "compile", "there is no model.mil"},
      {OtherFunction, "prepare", "no such function"},
      {OtherName, "prepare", "has no feature a"},
      {OtherShape, "prepare", "description of b does not match"},
      {OtherType, "predict", "dataType should be another"},
      {NoInput, "predict", "Feature a is required"},
      {NotPrepared, "predict", "not prepared"},
  };
  for (const Row &row : rows) {
    Outcome outcome = drive(row.mistake);
    EXPECT_EQ(outcome.failed, row.failed);
    EXPECT_NE(outcome.error.find(row.error), std::string::npos)
        << outcome.error;
  }
}

// Every step says success, and outputs are zeros.
TEST(AneE5Traps, OwnOperation) {
  Outcome outcome = drive(OwnOperation);
  EXPECT_EQ(outcome.failed, "");
  EXPECT_EQ(outcome.y, 0);
}

// What was compiled from a file stands for what the file says now.
TEST(AneE5Traps, SameLocation) {
  @autoreleasepool {
    Driver driver(None, printed(twoByTwo()).text);
    EXPECT_EQ(driver.drive().y, 2);
    std::string other = printed(twoByTwo()).text;
    size_t at = other.find("sub(");
    ASSERT_NE(at, std::string::npos);
    other.replace(at, 4, "mul(");
    writeFile(driver.folder + "/model.mil", other);
    EXPECT_EQ(driver.drive().y, 2);
  }
}

//===----------------------------------------------------------------------===//
// Program objects
//===----------------------------------------------------------------------===//

TEST(AneProgramTraps, Requests) {
  @autoreleasepool {
    Files files = printed(twoByTwo());
    dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    NSData *text = [NSData dataWithBytes:files.text.data()
                                  length:files.text.size()];
    id descriptor = [(id<AneDescriptorClass>)NSClassFromString(
        @"_ANEInMemoryModelDescriptor") modelWithMILText:text
                                                 weights:@{}
                                            optionsPlist:nil];
    id<AneInMemoryModel> model =
        [(id<AneInMemoryModelClass>)NSClassFromString(@"_ANEInMemoryModel")
            inMemoryModelWithDescriptor:descriptor];
    std::string folder = [[NSTemporaryDirectory()
        stringByAppendingPathComponent:[model hexStringIdentifier]] UTF8String];
    (void)llvm::sys::fs::create_directories(folder);
    writeFile(folder + "/model.mil", files.text);
    NSError *error = nil;
    ASSERT_TRUE([model compileWithQoS:21 options:@{} error:&error]);
    // There is a model inside, and a program, only once it is loaded.
    EXPECT_FALSE([model model]);
    ASSERT_TRUE([model loadWithQoS:21 options:@{} error:&error]);
    id<AneModel> inner = [model model];
    id<AneProgram> program = [inner program];
    ASSERT_TRUE(program);
    IOSurfaceRef surfaces[4];
    for (IOSurfaceRef &surface : surfaces)
      surface = makeSurface(8 * 128);
    id request =
        makeRequest({surfaces[0], surfaces[1]}, {surfaces[2], surfaces[3]});
    auto process = [&](uint64_t stringID, unsigned &status) {
      return [program processRequest:request
                               model:inner
                                 qos:21
                              qIndex:0
                       modelStringID:stringID
                             options:@{}
                         returnValue:&status
                               error:&error];
    };
    unsigned status = 77;
    EXPECT_TRUE(process([inner string_id], status));
    EXPECT_EQ(status, 0u);
    // The wrong id: no error, only a status.
    error = nil;
    EXPECT_FALSE(process([inner string_id] + 1, status));
    EXPECT_FALSE(error);
    EXPECT_NE(status, 0u);
    // Since macOS 27, an object for statistics instead of an array raises.
    id wrapped = [(id<AneSurfaceClass>)NSClassFromString(@"_ANEIOSurfaceObject")
        objectWithIOSurface:surfaces[0]];
    id stats =
        [[[NSClassFromString(@"_ANEPerformanceStats") alloc] init] autorelease];
    id withStats = [(id<AneRequestClass>)NSClassFromString(@"_ANERequest")
        requestWithInputs:@[ wrapped, wrapped ]
             inputIndices:@[ @0, @1 ]
                  outputs:@[ wrapped, wrapped ]
            outputIndices:@[ @0, @1 ]
            weightsBuffer:nil
                perfStats:stats
           procedureIndex:@0];
    bool hasRaised = false;
    @try {
      [model evaluateWithQoS:21 options:@{} request:withStats error:&error];
    } @catch (NSException *) {
      hasRaised = true;
    }
    EXPECT_TRUE(hasRaised);
    // The program goes with the loaded model.
    ASSERT_TRUE([model unloadWithQoS:21 error:&error]);
    EXPECT_FALSE(process([inner string_id], status));
    EXPECT_EQ(status, 14u);
    for (IOSurfaceRef surface : surfaces)
      CFRelease(surface);
    (void)llvm::sys::fs::remove_directories(folder);
  }
}
