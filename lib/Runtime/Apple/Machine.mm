//===- Machine.mm - the names of this machine -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Call.h"
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

using namespace anec;
using namespace anec::apple;

std::string apple::chipName() {
#ifdef __APPLE__
  char name[256] = {};
  size_t size = sizeof(name) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0)
    return name;
#endif
  return "not known";
}

std::string apple::systemName() {
  @autoreleasepool {
    NSProcessInfo *process = [NSProcessInfo processInfo];
    return toString([process operatingSystemVersionString]);
  }
}
