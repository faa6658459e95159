//===- Retained.h - owns an Objective-C object ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_RETAINED_H
#define ANEC_LIB_RUNTIME_ANE_RETAINED_H

#import <Foundation/Foundation.h>
#include <utility>

namespace anec::ane {

/// Keeps an object as long as itself: counted by hand, so that the sources are
/// the same with a runtime that has no automatic counting.
template <typename Object>
class Retained {
public:
  Retained() = default;
  explicit Retained(Object object) : object([object retain]) {}
  Retained(Retained &&other) noexcept
      : object(std::exchange(other.object, nil)) {}
  Retained &operator=(Retained &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Retained() {
    // Threads that others begin have no pool.
    @autoreleasepool {
      [object release];
    }
  }

  Object get() const { return object; }
  explicit operator bool() const { return object != nil; }

private:
  Object object = nil;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_RETAINED_H
