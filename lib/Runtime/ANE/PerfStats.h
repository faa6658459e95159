//===- PerfStats.h - the engine's own times ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PERFSTATS_H
#define ANEC_LIB_RUNTIME_ANE_PERFSTATS_H

#include "Protocols.h"
#include <optional>

namespace anec::ane {

/// Options for loading and running that ask for statistics; none otherwise.
NSDictionary *statsOptions(bool perfStats);
/// `options` with those.
NSDictionary *withStats(NSDictionary *options, bool perfStats);

/// Sets the mask of a model in memory that takes one.
void setStatsMask(id<AneInMemoryModel> model);

/// The seconds that the engine reports for the last run of `request`; nothing
/// if it reports none.
std::optional<double> engineSeconds(id request);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PERFSTATS_H
