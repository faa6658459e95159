//===- StoredKernelsAvx2.cpp - Kernels for one instruction set ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The kernels of stored weights for x86-64 with AVX2, FMA and F16C;
/// the build compiles this file for that instruction set.
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define ANEC_STORED_KERNELS avx2StoredKernels
#include "StoredKernelsBody.h"
#endif
