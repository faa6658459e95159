//===- PrivateFramework.h - finds the engine's classes ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
#define ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H

#include "Protocols.h"
#include "anec/Runtime/ANE/AneBackend.h"

namespace anec::ane {

/// The opened framework, after checking that every class and method of the path
/// is present. It is never closed, because Objective-C classes cannot be
/// unloaded.
struct PrivateFramework {
  id<AneSurfaceClass> surfaces = nil;
  id<AneRequestClass> requests = nil;
  // For AnePath::InMemory.
  id<AneDescriptorClass> descriptors = nil;
  id<AneInMemoryModelClass> inMemoryModels = nil;
  // For the other paths. The client is shared by the process and never
  // released.
  id<AneModelClass> models = nil;
  id<AneClient> client = nil;

  /// Returns nothing, with the first missing part reported, on failure.
  [[nodiscard]] static std::optional<PrivateFramework>
  open(const AneOptions &options, Diagnostics &diags);
};

/// The path of the framework in `options`, or that of the system.
std::string frameworkPath(const AneOptions &options);
/// Opens the framework. Returns an error; empty on success.
std::string openFramework(const std::string &path);
/// All classes and methods, found or not.
std::vector<AneInspection::Symbol> inspectSymbols();

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
