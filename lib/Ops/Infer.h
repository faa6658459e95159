//===- Infer.h - what shape inferences share --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Pieces that several families' `infer` functions are made of. They report
/// what is wrong and return false, or nothing.
///
/// Inference may rely on what checkAndInfer has checked before: parameters are
/// present with an element type and rank they take, extents are in [1, 2^31),
/// and integers of constants in 32 bits, so sums and products of two of them
/// do not overflow. Element counts do: use checkedNumElements.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_INFER_H
#define ANEC_LIB_OPS_INFER_H

#include "anec/IR/OpDef.h"

namespace anec {

/// What ops that only move elements take.
inline constexpr DTypeSet movableTypes = {
    DType::Bool,  DType::FP16,  DType::FP32,  DType::Int8,
    DType::Int16, DType::Int32, DType::UInt8, DType::UInt16};
/// What `select`, `split` and `tile` take.
inline constexpr DTypeSet basicTypes = {DType::Bool, DType::FP16, DType::FP32,
                                        DType::Int32};
/// Integers that shape parameters may be written in.
inline constexpr DTypeSet shapeTypes = {DType::Int8, DType::Int16,
                                        DType::Int32};

/// A list of extents, positions or amounts per axis.
constexpr ParamDef extents(const IntsParam &name,
                           llvm::StringLiteral fallback = "") {
  return {name, ParamKind::Constant, shapeTypes, 0, 1, fallback};
}
/// The same, computed by the program. It has the name of the constant that
/// stands for it otherwise: one of both is given.
constexpr ParamDef computed(const ValueParam &name) {
  return optionalValue(name, {DType::Int32}, 0, "when it is computed");
}
/// A constant that may be absent.
template <typename Param>
constexpr ParamDef optionalConstant(const Param &name, DTypeSet dtypes) {
  return {name, ParamKind::OptionalConstant, dtypes, 0, Param::rank};
}

/// The type of operand 0.
bool inferSame(InferContext &ctx);
/// The broadcast of operands 0 and 1, with the element type of operand 0.
/// (C1) they broadcast.
bool inferBroadcast(InferContext &ctx);
/// The same, of bool.
bool inferComparison(InferContext &ctx);

/// The broadcast of two shapes; the operands in `slots` are blamed.
std::optional<Shape> broadcast(InferContext &ctx, llvm::ArrayRef<int64_t> lhs,
                               llvm::ArrayRef<int64_t> rhs,
                               std::array<unsigned, 2> slots);

/// Makes axes non-negative; false when one is out of range or named twice.
bool normalizeAxes(InferContext &ctx, llvm::MutableArrayRef<int64_t> axes,
                   unsigned rank);
/// The same for operands that are known to fit.
int64_t normalized(int64_t axis, unsigned rank);
Shape normalized(llvm::ArrayRef<int64_t> axes, unsigned rank);

/// Whether one of both, which have the same name, is given.
bool checkGivenOnce(InferContext &ctx, const ConstantParam &constant,
                    const ValueParam &value);
/// Whether constant list `name` (absent is fine) has `length` elements.
bool checkLength(InferContext &ctx, const ConstantParam &name, size_t length);
/// Whether every integer of constant `name` is in [min, max].
bool checkRange(InferContext &ctx, const ConstantParam &name, int64_t min,
                int64_t max = INT32_MAX);
/// Whether constant list `name` is a permutation of `rank` axes; negative ones
/// count from the end.
bool checkPermutation(InferContext &ctx, const IntsParam &name, unsigned rank);
/// Reports that number constant `name` is outside of `domain`.
bool failNumber(InferContext &ctx, const FloatParam &name,
                llvm::StringRef domain);
/// Whether text constant `name` is one of `choices`.
bool checkChoice(InferContext &ctx, const StringParam &name,
                 llvm::ArrayRef<llvm::StringRef> choices);
/// Whether the rank of operand `slot` is in [min, max].
bool checkRank(InferContext &ctx, unsigned slot, unsigned min, unsigned max);
/// Whether operand `slot` (absent is fine) has this shape.
bool checkShape(InferContext &ctx, unsigned slot,
                llvm::ArrayRef<int64_t> expected);

/// The parameter that operand `slot` stands for.
const ParamDef &valueParam(const OpDef &def, unsigned slot);

/// How many elements of an array that it makes itself, a mask or a table, a
/// decomposition may write into the program.
constexpr int64_t maxBakedElements = 1 << 26;

/// Products for `flops`, which saturate.
int64_t saturatingProduct(llvm::ArrayRef<int64_t> factors);

} // namespace anec

#endif // ANEC_LIB_OPS_INFER_H
