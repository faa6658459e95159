//===- Processor.cpp - the names of the processor -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Processor.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <sys/utsname.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

using namespace anec;

static std::string processorName(std::string fallback) {
#ifdef __APPLE__
  char name[256] = {};
  size_t size = sizeof(name) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0)
    return name;
#else
  auto lines = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!lines)
    return fallback;
  for (llvm::line_iterator line(**lines); !line.is_at_end(); ++line) {
    auto [key, value] = line->split(':');
    if (key.trim() == "model name")
      return value.trim().str();
  }
#endif
  return fallback;
}

MachineNames cpu::thisProcessor() {
  MachineNames names;
  names.chip = processorName(names.chip);
  utsname system;
  if (uname(&system) == 0)
    names.system = std::string(system.sysname) + " " + system.release;
  return names;
}
