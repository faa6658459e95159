//===- WeightView.h - views of weights --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The part of a weight that a program reads: a part of the stored array,
/// permuted and reshaped, in an element type. Passes use it to choose layouts
/// without the weights' data, differentiation inverts it, and packages record
/// it, so that a layout is decided once.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_WEIGHTVIEW_H
#define ANEC_IR_WEIGHTVIEW_H

#include "anec/IR/ArrayView.h"
#include "anec/IR/Constant.h"

namespace anec {

/// Selects an array of a weight: a repeated layer has one for each instance.
struct WeightInstance {
  enum class Kind : uint8_t {
    None,   ///< the weight has a single array
    Own,    ///< of the instance that the kernel or layer runs as
    Number, ///< of instance `number`
  };
  Kind kind = Kind::None;
  int64_t number = 0;

  static WeightInstance own() { return {Kind::Own, 0}; }
  static WeightInstance of(int64_t number) { return {Kind::Number, number}; }
  /// The instance when the program runs as instance `running`.
  std::optional<int64_t> resolve(std::optional<int64_t> running) const {
    return kind == Kind::None  ? std::nullopt
           : kind == Kind::Own ? running
                               : std::optional(number);
  }
  bool operator==(const WeightInstance &) const = default;
};

struct WeightView {
  std::string weight; ///< `attention.wq`
  WeightInstance instance;
  /// The element type of the view. The stored array can have another float
  /// type; its elements are rounded.
  DType dtype = DType::FP32;
  ArrayView array;

  /// The type of the stored array, in the view's element type.
  TensorType storedType() const { return {dtype, array.sourceShape()}; }
  /// The type of the view.
  TensorType type() const { return {dtype, array.shape()}; }

  /// The view of `stored`, of `storedType()`. Nothing is copied when its
  /// elements are contiguous in `stored`.
  ConstantRef materialize(ConstantRef stored) const;
  std::vector<double> materialize(llvm::ArrayRef<double> stored) const;
  std::vector<float> materialize(llvm::ArrayRef<float> stored) const;

  /// `attention.wq[i]: fp16[64, 64] permute[1, 0]`, with the stored type. `[i]`
  /// is the program's own instance, `[3]` a fixed one. A name with characters
  /// other than letters, digits, `_` and `.` is quoted.
  std::string str() const;
  /// Parses what `str` prints; returns nothing when the text is invalid, with
  /// the reason in `why`.
  static std::optional<WeightView> parse(llvm::StringRef text,
                                         std::string &why);

  bool operator==(const WeightView &) const = default;
};

llvm::hash_code hash_value(const WeightView &view);

} // namespace anec

#endif // ANEC_IR_WEIGHTVIEW_H
