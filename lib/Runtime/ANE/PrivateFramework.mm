//===- PrivateFramework.mm - finds the engine's classes -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PrivateFramework.h"
#include "anec/Runtime/Diags.h"
#include <dlfcn.h>

using namespace anec;
using namespace anec::ane;

namespace {
/// A method that is called: of the class or, after a `-`, of its instances.
struct Needed {
  const char *className;
  char kind; ///< `+` or `-`
  const char *selector;
  bool isOptional = false;
};
} // namespace

static constexpr Needed methods[] = {
    {"_ANEInMemoryModelDescriptor", '+',
     "modelWithMILText:weights:optionsPlist:"},
    {"_ANEInMemoryModel", '+', "inMemoryModelWithDescriptor:"},
    {"_ANEInMemoryModel", '-', "hexStringIdentifier"},
    {"_ANEInMemoryModel", '-', "compileWithQoS:options:error:"},
    {"_ANEInMemoryModel", '-', "loadWithQoS:options:error:"},
    {"_ANEInMemoryModel", '-', "evaluateWithQoS:options:request:error:"},
    {"_ANEInMemoryModel", '-', "unloadWithQoS:error:"},
    {"_ANEInMemoryModel", '-', "compiledModelExists", true},
    {"_ANEInMemoryModel", '-', "modelAttributes", true},
    {"_ANEIOSurfaceObject", '+', "objectWithIOSurface:"},
    {"_ANERequest", '+',
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:"
     "perfStats:procedureIndex:"},
};

static Class classNamed(const char *name) {
  return NSClassFromString([NSString stringWithUTF8String:name]);
}

static bool hasMethod(const Needed &method) {
  Class owner = classNamed(method.className);
  SEL selector =
      NSSelectorFromString([NSString stringWithUTF8String:method.selector]);
  return owner && (method.kind == '+'
                       ? [owner respondsToSelector:selector]
                       : [owner instancesRespondToSelector:selector]);
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

std::vector<AneInspection::Symbol> ane::inspectSymbols() {
  std::vector<AneInspection::Symbol> symbols;
  @autoreleasepool {
    const char *last = "";
    for (const Needed &method : methods) {
      if (llvm::StringRef(last) != method.className)
        symbols.push_back({method.className, bool(classNamed(method.className))});
      last = method.className;
      symbols.push_back({std::string(1, method.kind) + "[" + method.className +
                             " " + method.selector + "]",
                         hasMethod(method), !method.isOptional});
    }
  }
  return symbols;
}

std::optional<PrivateFramework>
PrivateFramework::open(llvm::StringRef path, Diagnostics &diags) {
  std::string error = openFramework(path.str());
  if (!error.empty()) {
    diags.reportFile(path, diag::AneNoFramework, error);
    return std::nullopt;
  }
  for (const AneInspection::Symbol &symbol : inspectSymbols())
    if (symbol.needed && !symbol.found) {
      diags.reportFile(path, diag::AneNoSymbol, symbol.name);
      return std::nullopt;
    }
  PrivateFramework framework;
  @autoreleasepool {
    framework.descriptors =
        (id<AneDescriptorClass>)classNamed("_ANEInMemoryModelDescriptor");
    framework.models = (id<AneModelClass>)classNamed("_ANEInMemoryModel");
    framework.surfaces = (id<AneSurfaceClass>)classNamed("_ANEIOSurfaceObject");
    framework.requests = (id<AneRequestClass>)classNamed("_ANERequest");
  }
  return framework;
}
