//===- StoredKernelsAvx512.cpp - Kernels for one instruction set ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The kernels of stored weights for x86-64 with AVX-512 F, BW, DQ and VL;
/// the build compiles this file for that instruction set.
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define ANEC_STORED_KERNELS avx512StoredKernels
#include "StoredKernelsBody.h"
#endif
