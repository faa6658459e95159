//===- Interruption.h - calls that end early --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lets another thread, or a handler of a signal, end what a thread computes:
///
///   anec::Interruption scope(asked);  // becomes true at any time
///   session.run(...);                 // then ends with an error,
///   `interrupted`
///
/// What computes looks between the ops of a program: an op ends first.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_INTERRUPTION_H
#define ANEC_LIB_SUPPORT_INTERRUPTION_H

#include <atomic>

namespace anec {

class Interruption {
public:
  /// Of what this thread computes until the end of the scope.
  explicit Interruption(const std::atomic<bool> &asked);
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// Whether this thread is to end what it computes.
  static bool isAsked();

private:
  const std::atomic<bool> *before;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_INTERRUPTION_H
