//===- Infer.h - shared code of shape inference -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Functions shared by the `infer` functions of several families. On failure
/// they report an error and return false or nothing.
///
/// Inference can rely on what checkAndInfer has checked: required parameters
/// are present and have an accepted element type and rank, extents are in [1,
/// 2^31), and integer constants fit in 32 bits, so sums and products of two of
/// them do not overflow. Element counts can overflow: use checkedNumElements.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_INFER_H
#define ANEC_LIB_OPS_INFER_H

#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"

namespace anec {

/// Element types of ops that only move elements.
inline constexpr DTypeSet movableTypes = {
    DType::Bool,  DType::FP16,  DType::FP32,  DType::Int8,
    DType::Int16, DType::Int32, DType::UInt8, DType::UInt16};
/// Element types of `select`, `split` and `tile`.
inline constexpr DTypeSet basicTypes = {DType::Bool, DType::FP16, DType::FP32,
                                        DType::Int32};
/// Element types of shape parameters.
inline constexpr DTypeSet shapeTypes = {DType::Int8, DType::Int16,
                                        DType::Int32};

/// A list of extents, positions or amounts per axis.
constexpr ParamDef extents(const IntsParam &name,
                           llvm::StringLiteral fallback = "") {
  return {name, ParamKind::Constant, shapeTypes, 0, 1, fallback};
}
/// The same as a computed operand. It shares its name with the constant; one of
/// the two is given.
constexpr ParamDef computed(const ValueParam &name) {
  return optionalValue(name, {DType::Int32}, 0, "for computed positions");
}
/// A number that is added to what must not be 0, in an element type of its own.
constexpr ParamDef epsilon(llvm::StringLiteral fallback,
                           DTypeSet dtypes = floats) {
  ParamDef def = number(param::epsilon, fallback, 0, dtypes);
  def.offZero = true;
  return def;
}
/// An optional constant.
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

/// The broadcast of two shapes. Returns nothing when they do not broadcast; the
/// error names the operands in `slots`.
std::optional<Shape> broadcast(InferContext &ctx, llvm::ArrayRef<int64_t> lhs,
                               llvm::ArrayRef<int64_t> rhs,
                               std::array<unsigned, 2> slots);

/// Makes axes non-negative. Returns false when one is out of range or repeated.
bool normalizeAxes(InferContext &ctx, llvm::MutableArrayRef<int64_t> axes,
                   unsigned rank);
/// The same for axes that are known to be valid.
int64_t normalized(int64_t axis, unsigned rank);
Shape normalized(llvm::ArrayRef<int64_t> axes, unsigned rank);

/// Whether exactly one of `constant` and `value`, which share a name, is given.
bool checkGivenOnce(InferContext &ctx, const ConstantParam &constant,
                    const ValueParam &value);
/// Whether constant list `name` (which can be absent) has `length` elements.
bool checkLength(InferContext &ctx, const ConstantParam &name, size_t length);
/// Whether every integer of constant `name` is in [min, max].
bool checkRange(InferContext &ctx, const ConstantParam &name, int64_t min,
                int64_t max = INT32_MAX);
/// Whether constant list `name` is a permutation of `rank` axes; negative ones
/// count from the end.
bool checkPermutation(InferContext &ctx, const IntsParam &name, unsigned rank);
/// Reports that numeric constant `name` is outside of `domain`. Returns false.
bool failNumber(InferContext &ctx, const FloatParam &name,
                llvm::StringRef domain);
/// Whether the rank of operand `slot` is in [min, max].
bool checkRank(InferContext &ctx, unsigned slot, unsigned min, unsigned max);
/// Whether operand `slot` (which can be absent) has the shape `expected`.
bool checkShape(InferContext &ctx, unsigned slot,
                llvm::ArrayRef<int64_t> expected);

/// The parameter of operand `slot`.
const ParamDef &valueParam(const OpDef &def, unsigned slot);

/// The most elements of an array, such as a mask or a table, that a
/// decomposition can add to the program as a constant.
constexpr int64_t maxBakedElements = 1 << 26;

/// The product of `factors`; saturates on overflow.
int64_t saturatingProduct(llvm::ArrayRef<int64_t> factors);

} // namespace anec

#endif // ANEC_LIB_OPS_INFER_H
