//===- TilesAvx2.cpp - products in registers, with AVX2 -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// The build compiles this file for AVX2.
#if defined(__x86_64__)
#define ANEC_TILES avx2Tiles
#include "TilesBody.h"
#endif
