//===- Interruption.cpp - calls that end early ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Interruption.h"

using namespace anec;

static thread_local const std::atomic<bool> *currentRequest = nullptr;

Interruption::Interruption(const std::atomic<bool> &asked)
    : before(currentRequest) {
  currentRequest = &asked;
}

Interruption::~Interruption() { currentRequest = before; }

bool Interruption::isAsked() {
  return currentRequest && currentRequest->load(std::memory_order_relaxed);
}
