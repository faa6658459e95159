//===- PerfStats.mm - the engine's own times ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The framework collects statistics when the options of loading and running,
/// and a model in memory, have a mask, and leaves them in the request. The
/// `perfStats` argument of a request stays nil: since macOS 27 validating a
/// request sends `count` to it, which the object of earlier systems does not
/// have.
///
//===----------------------------------------------------------------------===//

#include "PerfStats.h"
#include "../Apple/Call.h"

using namespace anec;
using namespace anec::ane;
using namespace anec::apple;

/// The lowest bit of the framework's mask. Bit 2 needs a surface for raw
/// counters.
static constexpr unsigned int timeMask = 1;

NSDictionary *ane::withStats(NSDictionary *options, bool perfStats) {
  if (!perfStats)
    return options;
  NSMutableDictionary *all =
      [NSMutableDictionary dictionaryWithDictionary:options];
  [all setObject:[NSNumber numberWithUnsignedInt:timeMask]
          forKey:@"kANEFPerformanceStatsMask"];
  return all;
}

NSDictionary *ane::statsOptions(bool perfStats) {
  return withStats(@{}, perfStats);
}

void ane::setStatsMask(id<AneInMemoryModel> model) {
  if ([model respondsToSelector:@selector(setPerfStatsMask:)])
    [model setPerfStatsMask:timeMask];
}

std::optional<double> ane::engineSeconds(id request) {
  unsigned long long nanoseconds = 0;
  // Without statistics there is no time; that is no error.
  (void)guardFramework([&] {
    if (![request respondsToSelector:@selector(perfStats)])
      return;
    id stats = [(id<AneRequest>)request perfStats];
    if ([stats respondsToSelector:@selector(hwExecutionTime)])
      nanoseconds = [(id<AnePerfStats>)stats hwExecutionTime];
  });
  if (!nanoseconds)
    return std::nullopt;
  return double(nanoseconds) * 1e-9;
}
