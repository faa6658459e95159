//===- Random.cpp - random numbers of older systems -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's Support calls arc4random where it was built with it. glibc has it
/// since 2.36; without this definition, nothing else would keep the wheel from
/// glibc 2.35.
///
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <unistd.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t
arc4random() noexcept {
  uint32_t number = 0;
  // As the C library's own, which cannot fail either.
  if (::getentropy(&number, sizeof number) != 0)
    std::abort();
  return number;
}
