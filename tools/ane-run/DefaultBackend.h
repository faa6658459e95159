//===- DefaultBackend.h - what runs without --backend ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backend that commands take when none is named: the engine on a Mac that
/// has one, the processor elsewhere. What is chosen so is never changed because
/// it does not work: numbers and times of another backend are not those that
/// were asked for.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_DEFAULTBACKEND_H
#define ANEC_TOOLS_ANE_RUN_DEFAULTBACKEND_H

#include <cstdint>

namespace anec {

enum class BackendKind : uint8_t { Cpu, Ane };

/// What is known of a platform when the program is built for it.
struct Platform {
  bool isMac = false;
  bool isAppleSilicon = false;
  bool hasAneBackend = false; ///< in this build
};

constexpr Platform thisPlatform() {
  Platform platform;
#ifdef __APPLE__
  platform.isMac = true;
#endif
#if defined(__APPLE__) && defined(__arm64__)
  platform.isAppleSilicon = true;
#endif
#ifdef ANEC_HAS_ANE
  platform.hasAneBackend = true;
#endif
  return platform;
}

/// The backend of `platform`, and of flags that only one backend has.
constexpr BackendKind defaultBackend(const Platform &platform,
                                     bool hasCpuFlags = false,
                                     bool hasAneFlags = false) {
  if (hasCpuFlags != hasAneFlags)
    return hasCpuFlags ? BackendKind::Cpu : BackendKind::Ane;
  return platform.isMac && platform.isAppleSilicon && platform.hasAneBackend
             ? BackendKind::Ane
             : BackendKind::Cpu;
}

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_DEFAULTBACKEND_H
