//===- Suite.cpp - benchmarks that others have published ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

int64_t SuiteRow::flops() const {
  int64_t sum = 0;
  for (const SuiteKernel &kernel : kernels)
    sum += kernel.flops();
  return sum;
}

uint64_t SuiteRow::weightBytes() const {
  uint64_t sum = 0;
  for (const SuiteKernel &kernel : kernels)
    sum += kernel.weightBytes();
  return sum;
}

std::string SuiteRow::name(llvm::StringRef suite) const {
  std::string name = suite.str() + "-" + label + "-" + spelling(form()).str();
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

llvm::ArrayRef<const Suite *> anec::allSuites() {
  static constexpr const Suite *all[] = {&suites::Peak, &suites::Sram,
                                         &suites::Dispatch,
                                         &suites::ConvVsMatmul, &suites::Int8};
  return all;
}
