//===- Blas.h - the functions of the platform's BLAS ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What anec calls of BLAS where that is not Accelerate. A shared library is
/// loaded at the first product: OpenBLAS starts a thread per processor and
/// reserves memory for each as soon as it is loaded, which `anec --version`
/// and `anec check` have no use for.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_BLAS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_BLAS_H

#include <cblas.h>
#include <string>

namespace anec::cpu {

struct BlasFunctions {
  /// Null where BLAS cannot be loaded, or the process has too few addresses.
  decltype(&::cblas_sgemm) sgemm = nullptr;
  /// Of OpenBLAS; null where another BLAS is loaded.
  void (*setThreads)(int) = nullptr;
  int (*threads)() = nullptr;
  char *(*coreName)() = nullptr;
};

/// Loads BLAS at the first call, which any thread can make.
const BlasFunctions &blas();

/// The library that blas() loads, by the name that it is opened by.
std::string blasLibrary();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_BLAS_H
