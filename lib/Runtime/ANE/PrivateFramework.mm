//===- PrivateFramework.mm - finds the engine's classes -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PrivateFramework.h"
#include "Call.h"
#include "anec/Runtime/Diags.h"
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
  AllOfClient = Client | Direct | RealTime,
  All = InMemory | AllOfClient,
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
};
} // namespace

// The methods of a class are adjacent.
static constexpr Needed methods[] = {
    {"_ANEInMemoryModelDescriptor", '+',
     "modelWithMILText:weights:optionsPlist:", "@@@", InMemory},
    {"_ANEInMemoryModel", '+', "inMemoryModelWithDescriptor:", "@", InMemory},
    {"_ANEInMemoryModel", '-', "hexStringIdentifier", "", InMemory},
    {"_ANEInMemoryModel", '-', "compileWithQoS:options:error:", "I@^@",
     InMemory},
    {"_ANEInMemoryModel", '-', "loadWithQoS:options:error:", "I@^@", InMemory},
    {"_ANEInMemoryModel", '-',
     "evaluateWithQoS:options:request:error:", "I@@^@", InMemory},
    {"_ANEInMemoryModel", '-', "unloadWithQoS:error:", "I^@", InMemory},
    {"_ANEInMemoryModel", '-', "compiledModelExists", "", InMemory, true},
    {"_ANEInMemoryModel", '-', "modelAttributes", "", InMemory, true},
    {"_ANEModel", '+', "modelAtURL:key:", "@@", AllOfClient},
    {"_ANEModel", '-', "modelAttributes", "", AllOfClient, true},
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
    {"_ANEIOSurfaceObject", '+', "objectWithIOSurface:", "^{}", All},
    {"_ANERequest", '+',
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:"
     "perfStats:procedureIndex:",
     "@@@@@@@", All},
};

static Class classNamed(const char *name) {
  return NSClassFromString([NSString stringWithUTF8String:name]);
}

static bool hasMethod(const Needed &method) {
  Class owner = classNamed(method.className);
  SEL selector =
      NSSelectorFromString([NSString stringWithUTF8String:method.selector]);
  return owner &&
         (method.kind == '+' ? [owner respondsToSelector:selector]
                             : [owner instancesRespondToSelector:selector]);
}

/// An encoding without sizes, qualifiers and the contents of structures.
static std::string plainTypes(const char *encoding) {
  std::string plain;
  unsigned depth = 0;
  for (char c : llvm::StringRef(encoding ? encoding : "")) {
    depth -= c == '}';
    if (!depth && !llvm::isDigit(c) && !llvm::StringRef("rnNoORV").contains(c))
      plain += c;
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
  // Receiver, selector and result are not compared: BOOL is a different type on
  // each platform.
  llvm::StringRef types = symbol.types;
  symbol.types = types.substr(types.find("@:") + 2).str();
}

std::string ane::frameworkPath(const AneOptions &options) {
  return options.framework.empty()
             ? "/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/"
               "AppleNeuralEngine"
             : options.framework;
}

std::string ane::openFramework(const std::string &path) {
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return "";
  const char *reason = dlerror();
  return reason ? reason : "no reason given";
}

static std::vector<AnePath> pathsIn(unsigned set) {
  std::vector<AnePath> paths;
  for (AnePath path : anePaths)
    if (set & (1u << unsigned(path)))
      paths.push_back(path);
  return paths;
}

/// The paths that call a method of the class.
static unsigned pathsOfClass(llvm::StringRef name) {
  unsigned set = 0;
  for (const Needed &method : methods)
    if (name == method.className)
      set |= method.paths;
  return set;
}

std::vector<AneInspection::Symbol> ane::inspectSymbols() {
  std::vector<AneInspection::Symbol> symbols;
  @autoreleasepool {
    const char *last = "";
    for (const Needed &method : methods) {
      if (llvm::StringRef(last) != method.className)
        symbols.push_back({method.className, bool(classNamed(method.className)),
                           true, pathsIn(pathsOfClass(method.className))});
      last = method.className;
      symbols.push_back({std::string(1, method.kind) + "[" + method.className +
                             " " + method.selector + "]",
                         hasMethod(method), !method.isOptional,
                         pathsIn(method.paths)});
      if (symbols.back().found)
        readTypes(method, symbols.back());
    }
  }
  return symbols;
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
  std::string path = frameworkPath(options);
  std::string error = openFramework(path);
  if (!error.empty()) {
    diags.reportFile(path, diag::AneNoFramework, error);
    return std::nullopt;
  }
  for (const AneInspection::Symbol &symbol : inspectSymbols())
    if (symbol.needed && !symbol.found &&
        llvm::is_contained(symbol.paths, options.path)) {
      diags.reportFile(path, diag::AneNoSymbol, symbol.name);
      return std::nullopt;
    }
  PrivateFramework framework;
  @autoreleasepool {
    framework.surfaces = (id<AneSurfaceClass>)classNamed("_ANEIOSurfaceObject");
    framework.requests = (id<AneRequestClass>)classNamed("_ANERequest");
    if (options.path == AnePath::InMemory) {
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
