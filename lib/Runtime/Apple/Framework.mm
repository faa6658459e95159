//===- Framework.mm - classes of a framework ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Framework.h"
#include <dlfcn.h>

using namespace anec;
using namespace anec::apple;

OpenedFramework apple::openFramework(const std::string &path) {
  if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return {library, ""};
  const char *reason = dlerror();
  return {nullptr, reason ? reason : "no reason given"};
}

Class apple::classNamed(const char *name) {
  return NSClassFromString([NSString stringWithUTF8String:name]);
}

id apple::allocated(const char *name) { return [classNamed(name) alloc]; }

bool apple::hasMethod(const char *className, char kind, const char *name) {
  Class owner = classNamed(className);
  SEL selector = NSSelectorFromString([NSString stringWithUTF8String:name]);
  return owner && (kind == '+' ? [owner respondsToSelector:selector]
                               : [owner instancesRespondToSelector:selector]);
}
