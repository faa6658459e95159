//===- EnginePath.cpp - ways from MIL to the engine -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/EnginePath.h"

using namespace anec;

std::string PathSet::str() const {
  if (*this == all())
    return "all";
  std::string text;
  for (EnginePath path :
       {EnginePath::InMemory, EnginePath::CoreML, EnginePath::E5})
    if (contains(path))
      text += (text.empty() ? "" : ", ") + spelling(path).str();
  return text;
}
