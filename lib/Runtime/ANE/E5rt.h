//===- E5rt.h - functions of Espresso's E5 runtime --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_E5RT_H
#define ANEC_LIB_RUNTIME_ANE_E5RT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <utility>

namespace anec::ane {

/// The functions, null where the library has none.
struct E5rt {
#define E5RT(NAME, PARAMETERS) int64_t(*NAME) PARAMETERS = nullptr;
#include "E5rt.def"
  /// Why the last call failed; not every version has it.
  const char *(*e5rt_get_last_error_message)() = nullptr;

  /// Those of `library`, an opened library or null.
  static E5rt find(void *library);
};

/// The name and address of each function of `functions` that is needed.
template <typename Visit>
void forEachFunction(const E5rt &functions, Visit visit) {
#define E5RT(NAME, PARAMETERS)                                                 \
  visit(llvm::StringRef(#NAME), reinterpret_cast<void *>(functions.NAME));
#include "E5rt.def"
}

/// Owns an object of the runtime.
class E5rtHandle {
public:
  using Release = int64_t (*)(void **);
  explicit E5rtHandle(Release release = nullptr) : release(release) {}
  E5rtHandle(E5rtHandle &&other) noexcept
      : release(other.release), object(std::exchange(other.object, nullptr)) {}
  E5rtHandle &operator=(E5rtHandle &&other) noexcept {
    std::swap(release, other.release);
    std::swap(object, other.object);
    return *this;
  }
  ~E5rtHandle() {
    // There is nothing left to do about a failure.
    if (object)
      (void)release(&object);
  }

  void *get() const { return object; }
  /// Where a maker writes it.
  void **out() { return &object; }
  explicit operator bool() const { return object; }

private:
  Release release;
  void *object = nullptr;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_E5RT_H
