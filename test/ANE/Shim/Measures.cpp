//===- Measures.cpp - what can be left out to test it ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Apple/Measures.h"
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

using namespace anec;
using namespace anec::apple;

static constexpr const char *ids[] = {
#define MEASURE(NAME, ID) ID,
#include "lib/Runtime/Apple/Measures.def"
};
static constexpr unsigned none = std::size(ids);

static unsigned ofEnvironment() {
  const char *id = std::getenv("ANEC_LEAVE_OUT");
  unsigned index = 0;
  while (id && index < none && std::string(ids[index]) != id)
    ++index;
  return id ? index : none;
}

static std::atomic<unsigned> &leftOut() {
  static std::atomic<unsigned> measure{ofEnvironment()};
  return measure;
}

bool apple::takes(Measure measure) { return leftOut() != unsigned(measure); }

void apple::leaveOut(Measure measure) { leftOut() = unsigned(measure); }

void apple::takeAll() { leftOut() = none; }
