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
#include "lib/Support/MemoryLimit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <type_traits>

/// Whether addresses are limited. OpenBLAS takes 128 MB of them for each thread
/// that multiplies, and where the system refuses them, it asks forever.
static bool hasFewAddresses() { return addressLimit() < uint64_t(64) << 30; }

/// Where scipy-openblas32, a package of PyPI, is beside the file that has this
/// code: in site-packages, of which it is `anec/libanec-c.so` or
/// `anec.scripts/ane-run`.
static std::string besideOwnFile() {
  Dl_info info;
  void *own = reinterpret_cast<void *>(&hasFewAddresses);
  if (!::dladdr(own, &info) || !info.dli_fname)
    return "";
  // Of a program, the name is the one that it was called by.
  std::string file = llvm::StringRef(info.dli_fname).contains(".so")
                         ? info.dli_fname
                         : llvm::sys::fs::getMainExecutable("", own);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(file));
  llvm::sys::path::append(path, "..", "scipy_openblas32", "lib",
                          "libscipy_openblas.so");
  return std::string(path);
}

std::string cpu::blasLibrary() {
  std::string own = besideOwnFile();
  return llvm::sys::fs::exists(own) ? own : ANEC_BLAS_LIBRARY;
}

namespace {
struct LoadedBlas {
  void *library = nullptr;
  std::string prefix; ///< of its names
};
} // namespace

/// Opens a BLAS. It is never closed: it can have threads.
static LoadedBlas open() {
  std::string own = besideOwnFile();
  if (llvm::sys::fs::exists(own))
    if (void *library = ::dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {library, "scipy_"};
  return {::dlopen(ANEC_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL), ""};
}

static BlasFunctions load() {
  BlasFunctions functions;
  if (hasFewAddresses())
    return functions;
  LoadedBlas blas = open();
  if (!blas.library)
    return functions;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(blas.library, (blas.prefix + name).c_str()));
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

std::string cpu::blasLibrary() { return "linked"; }

static BlasFunctions load() {
  return {cblas_sgemm, openblas_set_num_threads, openblas_get_num_threads,
          openblas_get_corename};
}
#endif

const BlasFunctions &cpu::blas() {
  static const BlasFunctions functions = load();
  return functions;
}
