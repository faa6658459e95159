//===- PrivateFramework.mm - finds the engine's classes -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PrivateFramework.h"
#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include <dlfcn.h>
#import <objc/runtime.h>

using namespace anec;
using namespace anec::ane;

namespace {
/// Sets of paths, with a bit for each.
enum PathSet : unsigned {
  InMemory = 1u << unsigned(AnePath::InMemory),
  Client = 1u << unsigned(AnePath::Client),
  Direct = 1u << unsigned(AnePath::Direct),
  RealTime = 1u << unsigned(AnePath::RealTime),
  ProcessRequest = 1u << unsigned(AnePath::ProcessRequest),
  E5 = 1u << unsigned(AnePath::E5),
  AllOfClient = Client | Direct | RealTime,
  AllInMemory = InMemory | ProcessRequest,
  AllOfRequests = AllInMemory | AllOfClient,
  All = AllOfRequests | E5 | (1u << unsigned(AnePath::E5rt)),
};

/// A method that is called: of the class or, if `kind` is `-`, of its
/// instances.
struct Needed {
  const char *className;
  char kind; ///< `+` or `-`
  const char *selector;
  /// Types of its arguments as Protocols.h has them, in the runtime's encoding.
  const char *arguments;
  PathSet paths;
  bool isOptional = false;
  /// Another method of the class that is called where there is none of this
  /// name; null for none.
  const char *otherwise = nullptr;
};
} // namespace

/// Of requests without weights, for frameworks that have no other.
static constexpr char shortRequest[] =
    "requestWithInputs:inputIndices:outputs:outputIndices:perfStats:"
    "procedureIndex:";

// The methods of a class are adjacent.
static constexpr Needed methods[] = {
    {"_ANEDeviceInfo", '+', "isVirtualMachine", "", All, true},
    {"_ANEInMemoryModelDescriptor", '+',
     "modelWithMILText:weights:optionsPlist:", "@@@", AllInMemory},
    {"_ANEInMemoryModel", '+', "inMemoryModelWithDescriptor:", "@",
     AllInMemory},
    {"_ANEInMemoryModel", '-', "hexStringIdentifier", "", AllInMemory},
    {"_ANEInMemoryModel", '-', "compileWithQoS:options:error:", "I@^@",
     AllInMemory},
    {"_ANEInMemoryModel", '-', "loadWithQoS:options:error:", "I@^@",
     AllInMemory},
    {"_ANEInMemoryModel", '-',
     "evaluateWithQoS:options:request:error:", "I@@^@", InMemory},
    {"_ANEInMemoryModel", '-', "unloadWithQoS:error:", "I^@", AllInMemory},
    {"_ANEInMemoryModel", '-', "compiledModelExists", "", AllInMemory, true},
    {"_ANEInMemoryModel", '-', "setPerfStatsMask:", "I", AllInMemory, true},
    {"_ANEInMemoryModel", '-', "perFileHashes", "", AllInMemory, true},
    {"_ANEInMemoryModel", '-', "model", "", InMemory, true},
    {"_ANEInMemoryModel", '-', "model", "", ProcessRequest},
    {"_ANEModel", '+', "modelAtURL:key:", "@@", AllOfClient},
    {"_ANEModel", '-', "modelAttributes", "", AllOfClient, true},
    {"_ANEModel", '-', "program", "", ProcessRequest},
    {"_ANEModel", '-', "string_id", "", ProcessRequest},
    {"_ANEProgramForEvaluation", '-',
     "processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:",
     "@@IQQ@^I^@", ProcessRequest},
    {"_ANEClient", '+', "sharedConnection", "", AllOfClient},
    {"_ANEClient", '-', "compileModel:options:qos:error:", "@@I^@",
     AllOfClient},
    {"_ANEClient", '-', "loadModel:options:qos:error:", "@@I^@", AllOfClient},
    {"_ANEClient", '-',
     "evaluateWithModel:options:request:qos:error:", "@@@I^@", Client},
    {"_ANEClient", '-',
     "doEvaluateDirectWithModel:options:request:qos:error:", "@@@I^@", Direct},
    {"_ANEClient", '-',
     "evaluateRealTimeWithModel:options:request:error:", "@@@^@", RealTime},
    {"_ANEClient", '-', "unloadModel:options:qos:error:", "@@I^@", AllOfClient},
    {"_ANEClient", '-', "compiledModelExistsFor:", "@", AllOfClient, true},
    {"_ANEIOSurfaceObject", '+', "objectWithIOSurface:", "^{}", AllOfRequests},
    {"_ANERequest", '+',
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:"
     "perfStats:procedureIndex:",
     "@@@@@@@", AllOfRequests, false, shortRequest},
    {"_ANERequest", '+', shortRequest, "@@@@@@", AllOfRequests, true},
    {"_ANERequest", '-', "perfStats", "", AllOfRequests, true},
    {"_ANEPerformanceStats", '-', "hwExecutionTime", "", AllOfRequests, true},
    {"MLMultiArray", '-',
     "initWithDataPointer:shape:dataType:strides:deallocator:error:",
     "^v@q@@^@", E5},
    {"MLDictionaryFeatureProvider", '-', "initWithDictionary:error:", "@^@",
     E5},
    {"MLDictionaryFeatureProvider", '-', "featureValueForName:", "@", E5},
    {"MLFeatureValue", '-', "multiArrayValue", "", E5},
    {"MLModelConfiguration", '-', "setComputeUnits:", "q", E5},
    {"MLPredictionOptions", '-', "setOutputBackings:", "@", E5, true},
    {"MLMultiArrayConstraint", '+', "constraintWithShape:dataType:", "@q", E5},
    {"MLFeatureDescription", '+',
     "featureDescriptionWithName:type:optional:constraints:", "@qB@", E5},
    {"MLModelDescription", '-',
     "initWithInputDescriptions:outputDescriptions:predictedFeatureName:"
     "predictedProbabilitiesName:metadata:",
     "@@@@@", E5},
    {"MLE5ProgramLibraryOnDeviceAOTCompilationImpl", '-',
     "initWithMILTextAtURL:container:configuration:", "@@@", E5},
    {"MLE5ProgramLibrary", '-', "initWithImpl:container:configuration:", "@@@",
     E5},
    {"MLE5ProgramLibrary", '-', "prepareAndReturnError:", "^@", E5},
    {"MLE5Engine", '-',
     "initWithProgramLibrary:modelDescription:configuration:functionName:"
     "classProbabilitiesFeatureName:optionalInputDefaultValues:"
     "compilerVersionInfo:",
     "@@@@@@@", E5},
    {"MLE5Engine", '-', "prepareWithConcurrencyHint:error:", "q^@", E5},
    {"MLE5Engine", '-', "predictionFromFeatures:options:error:", "@@^@", E5},
};

static bool isThere(const Needed &method) {
  return hasMethod(method.className, method.kind, method.selector);
}

/// Whether programs cannot run without the method.
static bool isMissed(const Needed &method) {
  return !method.isOptional &&
         !(method.otherwise && takes(Measure::ShortRequest) &&
           hasMethod(method.className, method.kind, method.otherwise));
}

/// An encoding without sizes, qualifiers and the contents of structures. Blocks
/// are objects, and BOOL is `B` on each platform.
static std::string plainTypes(const char *encoding) {
  std::string plain;
  unsigned depth = 0;
  for (char c : llvm::StringRef(encoding ? encoding : "")) {
    depth -= c == '}';
    if (!depth && !llvm::isDigit(c) && !llvm::StringRef("rnNoORV?").contains(c))
      plain += c == 'C' || c == 'c' ? 'B' : c;
    depth += c == '{';
  }
  return plain;
}

static void readTypes(const Needed &method, AneInspection::Symbol &symbol) {
  Class owner = classNamed(method.className);
  SEL selector =
      NSSelectorFromString([NSString stringWithUTF8String:method.selector]);
  Method found = method.kind == '+' ? class_getClassMethod(owner, selector)
                                    : class_getInstanceMethod(owner, selector);
  symbol.types = plainTypes(method_getTypeEncoding(found));
  symbol.calledWith = method.arguments;
  // Receiver, selector and result are not compared.
  llvm::StringRef types = symbol.types;
  symbol.types = types.substr(types.find("@:") + 2).str();
}

/// The binary of a framework of the system.
static std::string systemFramework(AnePath path) {
  switch (path) {
  case AnePath::E5:
    return "/System/Library/Frameworks/CoreML.framework/CoreML";
  case AnePath::E5rt:
    return "/System/Library/PrivateFrameworks/Espresso.framework/Espresso";
  default:
    return "/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/"
           "AppleNeuralEngine";
  }
}

std::string ane::frameworkPath(const AneOptions &options, AnePath path) {
  return options.framework.empty() ? systemFramework(path) : options.framework;
}

static std::vector<AnePath> pathsIn(unsigned set) {
  std::vector<AnePath> paths;
  for (AnePath path : anePaths)
    if (set & (1u << unsigned(path)))
      paths.push_back(path);
  return paths;
}

/// Whether a method of the class is needed.
static bool isNeeded(llvm::StringRef name) {
  return llvm::any_of(methods, [&](const Needed &method) {
    return name == method.className && !method.isOptional;
  });
}

/// The paths that call a method of the class.
static unsigned pathsOfClass(llvm::StringRef name) {
  unsigned set = 0;
  for (const Needed &method : methods)
    if (name == method.className)
      set |= method.paths;
  return set;
}

std::vector<AneInspection::Symbol> ane::inspectSymbols(const E5rt &e5rt) {
  std::vector<AneInspection::Symbol> symbols;
  @autoreleasepool {
    const char *last = "";
    for (const Needed &method : methods) {
      if (llvm::StringRef(last) != method.className)
        symbols.push_back({method.className, bool(classNamed(method.className)),
                           isNeeded(method.className),
                           pathsIn(pathsOfClass(method.className))});
      last = method.className;
      symbols.push_back({std::string(1, method.kind) + "[" + method.className +
                             " " + method.selector + "]",
                         isThere(method), isMissed(method),
                         pathsIn(method.paths)});
      if (symbols.back().found)
        readTypes(method, symbols.back());
    }
  }
  forEachFunction(e5rt, [&](llvm::StringRef name, void *address) {
    symbols.push_back({name.str(), address != nullptr, true, {AnePath::E5rt}});
  });
  symbols.push_back({"e5rt_get_last_error_message",
                     e5rt.e5rt_get_last_error_message != nullptr,
                     false,
                     {AnePath::E5rt}});
  return symbols;
}

std::optional<bool> ane::isVirtualMachine() {
  std::optional<bool> answer;
  @autoreleasepool {
    // A framework that raises has not answered.
    (void)guardFramework([&] {
      if (hasMethod("_ANEDeviceInfo", '+', "isVirtualMachine"))
        answer =
            [(id<AneDeviceClass>)classNamed("_ANEDeviceInfo") isVirtualMachine];
    });
  }
  return answer;
}

/// The client; there is one per process.
static id<AneClient> openClient(llvm::StringRef path, Diagnostics &diags) {
  auto clients = (id<AneClientClass>)classNamed("_ANEClient");
  id<AneClient> client = nil;
  std::string raised = guardFramework([&] {
    // Kept as long as the framework, which is never closed.
    client = [[clients sharedConnection] retain];
  });
  if (!client)
    diags.reportFile(path, diag::AneNoObject, "client",
                     raised.empty() ? "it gave nil" : raised);
  return client;
}

std::optional<PrivateFramework>
PrivateFramework::open(const AneOptions &options, Diagnostics &diags) {
  std::string path = frameworkPath(options, options.path);
  OpenedFramework opened = openFramework(path);
  if (!opened.error.empty()) {
    diags.reportFile(path, diag::AneNoFramework, opened.error);
    return std::nullopt;
  }
  PrivateFramework framework;
  if (options.path == AnePath::E5rt)
    framework.e5rt = E5rt::find(opened.library);
  for (const AneInspection::Symbol &symbol : inspectSymbols(framework.e5rt))
    if (symbol.needed && !symbol.found &&
        llvm::is_contained(symbol.paths, options.path)) {
      diags.reportFile(path, diag::AneNoSymbol, symbol.name);
      return std::nullopt;
    }
  if (takes(Measure::VirtualMachine) && isVirtualMachine().value_or(false)) {
    diags.report({}, diag::AneVirtualMachine);
    return std::nullopt;
  }
  if (!takesRequests(options.path))
    return framework;
  @autoreleasepool {
    framework.surfaces = (id<AneSurfaceClass>)classNamed("_ANEIOSurfaceObject");
    framework.requests = (id<AneRequestClass>)classNamed("_ANERequest");
    if (options.path == AnePath::InMemory ||
        options.path == AnePath::ProcessRequest) {
      framework.descriptors =
          (id<AneDescriptorClass>)classNamed("_ANEInMemoryModelDescriptor");
      framework.inMemoryModels =
          (id<AneInMemoryModelClass>)classNamed("_ANEInMemoryModel");
      return framework;
    }
    framework.models = (id<AneModelClass>)classNamed("_ANEModel");
    framework.client = openClient(path, diags);
    if (!framework.client)
      return std::nullopt;
  }
  return framework;
}
