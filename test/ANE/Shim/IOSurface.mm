//===- IOSurface.mm - surfaces in plain memory ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Ledger.h"
#import <Foundation/Foundation.h>
#import <IOSurface/IOSurfaceRef.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

const CFStringRef kIOSurfaceWidth = (CFStringRef) @"IOSurfaceWidth";
const CFStringRef kIOSurfaceHeight = (CFStringRef) @"IOSurfaceHeight";
const CFStringRef kIOSurfaceBytesPerElement =
    (CFStringRef) @"IOSurfaceBytesPerElement";
const CFStringRef kIOSurfaceBytesPerRow = (CFStringRef) @"IOSurfaceBytesPerRow";
const CFStringRef kIOSurfaceAllocSize = (CFStringRef) @"IOSurfaceAllocSize";
const CFStringRef kIOSurfacePixelFormat = (CFStringRef) @"IOSurfacePixelFormat";

//===----------------------------------------------------------------------===//
// The ledger
//===----------------------------------------------------------------------===//

static void reportAtEnd() {
  ane_double::Ledger &ledger = ane_double::ledger();
  if (FILE *file = std::fopen(std::getenv("ANE_DOUBLE_REPORT"), "a")) {
    std::fprintf(
        file,
        "left: %d surfaces, %d locks, %d models, %d requests, %d "
        "loaded; asked: %u calls, %u compiles, %u loads, %u runs, %u "
        "direct, %u in real time, %u processed, %u by e5, %u by e5rt\n",
        ledger.surfaces.load(), ledger.locks.load(), ledger.models.load(),
        ledger.requests.load(), ledger.loaded.load(), ledger.calls.load(),
        ledger.compiles.load(), ledger.loads.load(), ledger.evaluations.load(),
        ledger.directEvaluations.load(), ledger.realTimeEvaluations.load(),
        ledger.processedRequests.load(), ledger.e5Runs.load(),
        ledger.e5rtRuns.load());
    std::fclose(file);
  }
}

ane_double::Ledger &ane_double::ledger() {
  static Ledger *made = [] {
    auto *ledger = new Ledger;
    if (const char *fail = std::getenv("ANE_DOUBLE_FAIL")) {
      char *end = nullptr;
      ledger->failAt = unsigned(std::strtoul(fail, &end, 10));
      ledger->failure = *end == ':' ? end + 1 : "";
    }
    ledger->isQuiet = std::getenv("ANE_DOUBLE_QUIET") != nullptr;
    if (const char *odd = std::getenv("ANE_DOUBLE_ODD"))
      ledger->odd = odd;
    if (const char *system = std::getenv("ANE_DOUBLE_SYSTEM"))
      ledger->system = std::strtod(system, nullptr);
    if (const char *sleep = std::getenv("ANE_DOUBLE_SLEEP"))
      ledger->sleepSeconds = std::strtod(sleep, nullptr);
    if (const char *traps = std::getenv("ANE_DOUBLE_TRAPS")) {
      std::stringstream list(traps);
      for (std::string trap; std::getline(list, trap, ',');)
        ledger->traps.insert(trap);
    }
    if (std::getenv("ANE_DOUBLE_REPORT"))
      std::atexit(reportAtEnd);
    return ledger;
  }();
  return *made;
}

const char *ane_double::countCall() {
  Ledger &known = ledger();
  unsigned number = ++known.calls;
  unsigned first = known.failAt;
  return first && number >= first && number < first + known.failCount
             ? known.failure.c_str()
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Surfaces
//===----------------------------------------------------------------------===//

struct AnecShimSurface {
  std::atomic<int> owners{1};
  std::atomic<int> locks{0};
  size_t bytes;
  uint8_t *memory;
};

static size_t numberAt(NSDictionary *properties, CFStringRef key) {
  return size_t(
      [[properties objectForKey:(NSString *)key] unsignedLongLongValue]);
}

IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties) {
  if (ane_double::countCall())
    return nullptr;
  NSDictionary *wanted = (NSDictionary *)properties;
  size_t bytes = numberAt(wanted, kIOSurfaceAllocSize);
  // One row of bytes: what all who use the engine directly ask for.
  if (bytes == 0 || numberAt(wanted, kIOSurfaceWidth) != bytes ||
      numberAt(wanted, kIOSurfaceBytesPerRow) != bytes ||
      numberAt(wanted, kIOSurfaceHeight) != 1 ||
      numberAt(wanted, kIOSurfaceBytesPerElement) != 1)
    return nullptr;
  auto *surface = new AnecShimSurface;
  surface->bytes = bytes;
  surface->memory = static_cast<uint8_t *>(std::malloc(bytes));
  std::memset(surface->memory, 0xa5, bytes);
  ++ane_double::ledger().surfaces;
  return surface;
}

kern_return_t IOSurfaceLock(IOSurfaceRef surface, IOSurfaceLockOptions,
                            uint32_t *) {
  if (ane_double::countCall())
    return kern_return_t(0xe00002bc);
  ++surface->locks;
  ++ane_double::ledger().locks;
  return 0;
}

kern_return_t IOSurfaceUnlock(IOSurfaceRef surface, IOSurfaceLockOptions,
                              uint32_t *) {
  --surface->locks;
  --ane_double::ledger().locks;
  return ane_double::countCall() ? kern_return_t(0xe00002bc) : 0;
}

void *IOSurfaceGetBaseAddress(IOSurfaceRef surface) {
  // Without a lock, what is read may be old.
  return surface->locks ? surface->memory : nullptr;
}

unsigned char *anecShimMemory(AnecShimSurface *surface) {
  return surface->memory;
}

size_t IOSurfaceGetAllocSize(IOSurfaceRef surface) { return surface->bytes; }

CFTypeRef CFRetain(CFTypeRef object) {
  ++((AnecShimSurface *)object)->owners;
  return object;
}

void CFRelease(CFTypeRef object) {
  auto *surface = (AnecShimSurface *)object;
  if (--surface->owners)
    return;
  std::free(surface->memory);
  delete surface;
  --ane_double::ledger().surfaces;
}
