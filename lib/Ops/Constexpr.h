//===- Constexpr.h - what compressed constants have in common ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_CONSTEXPR_H
#define ANEC_LIB_OPS_CONSTEXPR_H

#include "Infer.h"

namespace anec {

inline constexpr llvm::StringLiteral constantOperands =
    "operands are constants, or unpacked from constants";

/// Whether each operand is a constant, or unpacked from some.
bool checkConstantOperands(InferContext &ctx);
/// Whether the leading extents of operand `slot` divide those of `dense`.
bool checkBlocks(InferContext &ctx, unsigned slot,
                 llvm::ArrayRef<int64_t> dense);
/// For each element of a row-major tensor of shape `dense`, the element of the
/// row-major tensor of as many blocks that it lies in.
std::vector<int64_t> blockOfElements(llvm::ArrayRef<int64_t> dense,
                                     llvm::ArrayRef<int64_t> blocks);
/// Whether `count` elements are as many as the bits that are set in the mask
/// (which can only be known of a constant).
bool checkMaskCount(InferContext &ctx, unsigned maskSlot, int64_t bits,
                    unsigned dataSlot);
/// Puts `nonzero` where `mask` is set, and 0 elsewhere.
std::vector<double> spread(llvm::ArrayRef<double> mask,
                           llvm::ArrayRef<double> nonzero);
/// The elements of `dense` where `mask` is set.
void gatherMasked(llvm::ArrayRef<double> mask, llvm::ArrayRef<double> dense,
                  llvm::MutableArrayRef<double> nonzero);
/// Numbers of `bits` bits from bytes, low bits first.
std::vector<double> unpackBits(llvm::ArrayRef<double> bytes, unsigned bits,
                               int64_t count);
/// Checks parameter `shape` and that operand 0 has the bytes for `bits` bits
/// per element of it.
std::optional<int64_t> checkPackedBytes(InferContext &ctx, unsigned slot,
                                        unsigned bits);

} // namespace anec

#endif // ANEC_LIB_OPS_CONSTEXPR_H
