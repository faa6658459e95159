//===- blocks_runtime.h - copies of blocks ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// GNUstep's headers include this of a runtime that has blocks. GCC's has none,
/// and nothing here copies one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_BLOCKS_RUNTIME_H
#define ANEC_TEST_ANE_BLOCKS_RUNTIME_H

extern "C" {
void *_Block_copy(const void *);
void _Block_release(const void *);
}

#endif // ANEC_TEST_ANE_BLOCKS_RUNTIME_H
