//===- Blocks.cpp - what blocks need at run time --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The classes of blocks, which macOS has and GCC's runtime does not. Blocks
/// that are only called, and never copied, need no more.
///
//===----------------------------------------------------------------------===//

extern "C" {
void *_NSConcreteStackBlock[32];
void *_NSConcreteGlobalBlock[32];
}
