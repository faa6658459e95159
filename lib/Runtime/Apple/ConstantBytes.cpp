//===- ConstantBytes.cpp - the size of constants --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConstantBytes.h"

using namespace anec;
using namespace anec::apple;

uint64_t apple::bytesOfConstants(const Function &function) {
  uint64_t bytes = 0;
  for (const Op &op : function.body())
    for (const ConstantRef &constant : op.constants())
      if (constant && constant->dtype() != DType::String)
        bytes += constant->type().numBytes();
  return bytes;
}
