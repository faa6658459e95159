//===- Blas.cpp - loads the platform's BLAS -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Blas.h"

using namespace anec;
using namespace anec::cpu;

// The build names a shared library by the name that programs would be linked
// with; a static one is linked.
#ifdef ANEC_BLAS_LIBRARY
#include "anec/Support/MemoryLimit.h"
#include <dlfcn.h>
#include <type_traits>

/// Whether addresses are limited. OpenBLAS takes 128 MB of them for each thread
/// that multiplies, and where the system refuses them, it asks forever.
static bool hasFewAddresses() { return addressLimit() < uint64_t(64) << 30; }

static BlasFunctions load() {
  BlasFunctions functions;
  if (hasFewAddresses())
    return functions;
  // Never closed: it can have threads.
  void *library = ::dlopen(ANEC_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return functions;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(library, name));
  };
  find(functions.sgemm, "cblas_sgemm");
  find(functions.setThreads, "openblas_set_num_threads");
  find(functions.threads, "openblas_get_num_threads");
  find(functions.coreName, "openblas_get_corename");
  return functions;
}
#else
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);
extern "C" __attribute__((weak)) int openblas_get_num_threads();
extern "C" __attribute__((weak)) char *openblas_get_corename();

static BlasFunctions load() {
  return {cblas_sgemm, openblas_set_num_threads, openblas_get_num_threads,
          openblas_get_corename};
}
#endif

const BlasFunctions &cpu::blas() {
  static const BlasFunctions functions = load();
  return functions;
}
