//===- PrivateFramework.h - finds the engine's classes ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
#define ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H

#include "../Apple/Framework.h"
#include "E5rt.h"
#include "Protocols.h"
#include "anec/Runtime/ANE/AneBackend.h"

namespace anec::ane {

using namespace apple;

/// The opened framework, after checking that every class and method of the path
/// is present. It is never closed, because Objective-C classes cannot be
/// unloaded.
struct PrivateFramework {
  id<AneSurfaceClass> surfaces = nil;
  id<AneRequestClass> requests = nil;
  // For AnePath::InMemory.
  id<AneDescriptorClass> descriptors = nil;
  id<AneInMemoryModelClass> inMemoryModels = nil;
  // For those of the client, which is shared by the process and never released.
  id<AneModelClass> models = nil;
  id<AneClient> client = nil;
  // For AnePath::E5rt.
  E5rt e5rt;

  /// Returns nothing, with the first missing part reported, on failure.
  [[nodiscard]] static std::optional<PrivateFramework>
  open(const AneOptions &options, Diagnostics &diags);
};

/// Whether the framework says that this is a virtual machine; nothing when it
/// does not say.
std::optional<bool> isVirtualMachine();
/// The framework of `path` in `options`, or that of the system.
std::string frameworkPath(const AneOptions &options, AnePath path);
/// All classes, methods and functions, found or not. `e5rt` are those that were
/// found.
std::vector<AneInspection::Symbol> inspectSymbols(const E5rt &e5rt);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PRIVATEFRAMEWORK_H
