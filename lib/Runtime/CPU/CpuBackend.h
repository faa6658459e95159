//===- CpuBackend.h - programs on the processor -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_CPUBACKEND_H
#define ANEC_LIB_RUNTIME_CPU_CPUBACKEND_H

#include "anec/Runtime/Backends.h"

namespace anec {

namespace cpu {
class ProductKernels;
} // namespace cpu

/// The table row of the CPU backend, which runs on any machine.
BackendRow cpuBackend();

std::unique_ptr<Backend> createCpuBackend();
/// The same with products computed by `products` instead of the fastest on this
/// processor.
std::unique_ptr<Backend> createCpuBackend(const cpu::ProductKernels &products);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_CPU_CPUBACKEND_H
