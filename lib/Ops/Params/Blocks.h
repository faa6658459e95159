//===- Blocks.h - parameters of blocks in space -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PARAMS_BLOCKS_H
#define ANEC_LIB_OPS_PARAMS_BLOCKS_H

#include "anec/IR/Params.h"

namespace anec::param {

ANEC_PARAM(blockSize, "block_size", Int)
ANEC_PARAM(upscaleFactor, "upscale_factor", Int)

} // namespace anec::param

#endif // ANEC_LIB_OPS_PARAMS_BLOCKS_H
