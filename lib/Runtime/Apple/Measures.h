//===- Measures.h - what can be left out to test it -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A measure that no test can leave out may be one that does nothing. Builds
/// for the double of the frameworks can leave out each, by functions that come
/// with it; on macOS, all are taken, at no cost.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_MEASURES_H
#define ANEC_LIB_RUNTIME_APPLE_MEASURES_H

#include <cstdint>

namespace anec::apple {

enum class Measure : uint8_t {
#define MEASURE(NAME, ID) NAME,
#include "Measures.def"
};

#ifdef ANEC_LEAVES_OUT_MEASURES
/// Whether the backends take a measure. The environment variable
/// ANEC_LEAVE_OUT=ID leaves out one for a process.
bool takes(Measure measure);
/// Leaves out one measure, until `takeAll`.
void leaveOut(Measure measure);
void takeAll();
#else
constexpr bool takes(Measure) { return true; }
#endif

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_MEASURES_H
