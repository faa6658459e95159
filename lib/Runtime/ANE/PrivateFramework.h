//===- PrivateFramework.h - finds the engine's classes ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
#define ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H

#include "Protocols.h"
#include "anec/Runtime/ANE/AneBackend.h"

namespace anec::ane {

/// The framework, opened, with every class and method that a path calls seen to
/// be there. It is never closed: Objective-C classes do not go away.
struct PrivateFramework {
  id<AneSurfaceClass> surfaces = nil;
  id<AneRequestClass> requests = nil;
  // By AnePath::InMemory.
  id<AneDescriptorClass> descriptors = nil;
  id<AneInMemoryModelClass> inMemoryModels = nil;
  // By the other paths. The client is the process's, which the framework keeps.
  id<AneModelClass> models = nil;
  id<AneClient> client = nil;

  /// Nothing, with the first thing that is missing reported.
  [[nodiscard]] static std::optional<PrivateFramework>
  open(const AneOptions &options, Diagnostics &diags);
};

/// The path of the framework that `options` name.
std::string frameworkPath(const AneOptions &options);
/// Opens the framework; what went wrong otherwise.
std::string openFramework(const std::string &path);
/// All classes and methods, found or not.
std::vector<AneInspection::Symbol> inspectSymbols();

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
