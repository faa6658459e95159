//===- Retained.h - owns an Objective-C object ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_RETAINED_H
#define ANEC_LIB_RUNTIME_APPLE_RETAINED_H

#import <Foundation/Foundation.h>
#include <utility>

namespace anec::apple {

/// Owns an object by explicit retain and release, so that the sources also
/// compile for a runtime without automatic reference counting.
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
    // Threads started by others have no autorelease pool.
    @autoreleasepool {
      [object release];
    }
  }

  Object get() const { return object; }
  explicit operator bool() const { return object != nil; }

private:
  Object object = nil;
};

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_RETAINED_H
