//===- TilesAvx512.cpp - products in registers, with AVX-512 ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// The build compiles this file for AVX-512.
#if defined(__x86_64__)
#define ANEC_TILES avx512Tiles
#include "TilesBody.h"
#endif
