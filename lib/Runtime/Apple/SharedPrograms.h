//===- SharedPrograms.h - equal programs, once ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_SHAREDPROGRAMS_H
#define ANEC_LIB_RUNTIME_APPLE_SHAREDPROGRAMS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>

namespace anec::apple {

/// Compiled programs by digest, as long as they are used, so that equal
/// programs are compiled and loaded once.
template <typename Program>
class SharedPrograms {
public:
  /// The program with this digest, which `make` makes if there is none; null
  /// when that fails. Several threads can call it.
  std::shared_ptr<Program>
  find(llvm::StringRef digest,
       llvm::function_ref<std::shared_ptr<Program>()> make) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (std::shared_ptr<Program> known = programs[digest].lock())
        return known;
    }
    std::shared_ptr<Program> made = make();
    std::lock_guard<std::mutex> lock(mutex);
    // Each update of weights in programs adds some, and releases the previous
    // ones.
    for (auto entry = programs.begin(); entry != programs.end();) {
      auto gone = entry++;
      if (gone->second.expired())
        programs.erase(gone);
    }
    if (made)
      programs[digest] = made;
    return made;
  }

private:
  llvm::StringMap<std::weak_ptr<Program>> programs;
  std::mutex mutex;
};

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_SHAREDPROGRAMS_H
