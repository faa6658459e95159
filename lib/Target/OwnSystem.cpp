//===- OwnSystem.cpp - the system of this machine -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Target/OwnSystem.h"
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

using namespace anec;

std::string anec::ownMacOS() {
#ifdef __APPLE__
  char version[64] = {};
  size_t size = sizeof(version) - 1;
  if (sysctlbyname("kern.osproductversion", version, &size, nullptr, 0) == 0)
    return version;
#endif
  return "";
}
