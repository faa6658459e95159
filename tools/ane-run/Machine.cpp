//===- Machine.cpp - what programs ran on ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <sys/utsname.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

using namespace anec;

static std::string processorName() {
#ifdef __APPLE__
  char name[256] = {};
  size_t size = sizeof(name) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0)
    return name;
#else
  auto lines = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!lines)
    return "not known";
  for (llvm::line_iterator line(**lines); !line.is_at_end(); ++line) {
    auto [key, value] = line->split(':');
    if (key.trim() == "model name")
      return value.trim().str();
  }
#endif
  return "not known";
}

static std::string systemName() {
  utsname names;
  if (uname(&names) != 0)
    return "not known";
  return std::string(names.sysname) + " " + names.release;
}

Machine anec::thisMachine([[maybe_unused]] const BackendChoice &choice) {
#ifdef ANEC_HAS_ANE
  if (choice.kind == BackendKind::Ane) {
    AneInspection found = inspectAne(choice.ane);
    return {found.chip, found.system};
  }
#endif
  return {processorName(), systemName()};
}

const Target *anec::targetOf(llvm::StringRef chip) {
  struct Row {
    const char *words, *target;
  };
  // What is more exact comes first.
  static constexpr Row rows[] = {{"M3 Ultra", "m3-ultra"},
                                 {"M1", "m1"},
                                 {"M2", "m2"},
                                 {"M3", "m3"},
                                 {"M4", "m4"},
                                 {"M5", "m5"}};
  for (const Row &row : rows)
    if (chip.contains(row.words))
      return findTarget(row.target);
  return nullptr;
}
