//===- TilesNeon.cpp - products in registers, with NEON -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// Every arm64 processor has NEON.
#if defined(__aarch64__)
#define ANEC_TILES neonTiles
#include "TilesBody.h"
#endif
