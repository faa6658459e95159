//===- StoredKernelsBaseline.cpp - Kernels for one instruction set --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The kernels of stored weights for any processor of the target architecture;
/// the build compiles this file for that instruction set.
//===----------------------------------------------------------------------===//

#define ANEC_STORED_KERNELS baselineStoredKernels
#include "StoredKernelsBody.h"
