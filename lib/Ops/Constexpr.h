//===- Constexpr.h - shared code of compressed constants --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_CONSTEXPR_H
#define ANEC_LIB_OPS_CONSTEXPR_H

#include "Infer.h"

namespace anec {

inline constexpr llvm::StringLiteral constantOperands =
    "operands are constants, or results of `constexpr` ops";

/// Whether each operand is a constant or the result of a constexpr op.
bool checkConstantOperands(InferContext &ctx);
/// Whether the leading extents of operand `slot` (which can be absent) divide
/// those of `dense`.
bool checkBlocks(InferContext &ctx, unsigned slot,
                 llvm::ArrayRef<int64_t> dense);
/// For each element of a row-major tensor of shape `dense`, the index of its
/// block: an element of a row-major tensor of shape `blocks`, whose extents
/// divide those of `dense`.
std::vector<int64_t> blockOfElements(llvm::ArrayRef<int64_t> dense,
                                     llvm::ArrayRef<int64_t> blocks);
/// Whether operand `dataSlot` is a vector with one element per bit set in the
/// mask, operand `maskSlot` of `bits` bits. The count is only checked when the
/// mask is a `const`.
bool checkMaskCount(InferContext &ctx, unsigned maskSlot, int64_t bits,
                    unsigned dataSlot);
/// The elements of `nonzero`, in order, where `mask` is set, and 0 elsewhere.
std::vector<double> spread(llvm::ArrayRef<double> mask,
                           llvm::ArrayRef<double> nonzero);
/// Writes to `nonzero` the elements of `dense` where `mask` is set.
void gatherMasked(llvm::ArrayRef<double> mask, llvm::ArrayRef<double> dense,
                  llvm::MutableArrayRef<double> nonzero);
/// Unpacks `count` numbers of `bits` bits each from bytes, low bits first.
std::vector<double> unpackBits(llvm::ArrayRef<double> bytes, unsigned bits,
                               int64_t count);
/// Checks that parameter `shape` is valid and that operand `slot` has the bytes
/// for `bits` bits per element of it. Returns the number of elements.
std::optional<int64_t> checkPackedBytes(InferContext &ctx, unsigned slot,
                                        unsigned bits);

} // namespace anec

#endif // ANEC_LIB_OPS_CONSTEXPR_H
