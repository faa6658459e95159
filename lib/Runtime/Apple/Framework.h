//===- Framework.h - classes of a framework ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_FRAMEWORK_H
#define ANEC_LIB_RUNTIME_APPLE_FRAMEWORK_H

#import <Foundation/Foundation.h>
#include <string>

namespace anec::apple {

/// An opened framework, and why it did not open; empty on success. It is never
/// closed, because Objective-C classes cannot be unloaded.
struct OpenedFramework {
  void *library = nullptr;
  std::string error;
};
OpenedFramework openFramework(const std::string &path);

/// A class by its name; nil when there is none.
Class classNamed(const char *name);
/// An instance of a class by its name, before its initializer; nil when there
/// is no such class.
id allocated(const char *name);
/// Whether a class has a method, of the class for `kind` `+`, of its instances
/// for `-`.
bool hasMethod(const char *className, char kind, const char *selector);

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_FRAMEWORK_H
