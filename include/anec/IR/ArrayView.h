//===- ArrayView.h - views of arrays ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Describes how one array is made from the elements of another: a sequence of
/// slices, zero paddings, axis permutations and reshapes. The sequence is in
/// canonical form:
///
/// - no step is the identity, and no two adjacent steps have the same kind;
/// - a permutation does not move axes of extent 1: a reshape does;
/// - slices come before paddings, paddings before permutations, and
///   permutations before reshapes, as far as a step can be exchanged with a
///   reshape: where it affects groups of axes that the reshape merges or splits
///   separately.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_ARRAYVIEW_H
#define ANEC_IR_ARRAYVIEW_H

#include "anec/IR/Type.h"
#include "llvm/ADT/Hashing.h"

namespace anec {

/// One step of a view.
struct ViewStep {
  /// In the order of the canonical form.
  enum class Kind : uint8_t { Slice, Pad, Permute, Reshape };
  Kind kind;
  /// Slice: the first element of each axis. Pad: zeros before each axis.
  /// Permute: the source axis of each axis. Reshape: the extents.
  Shape first;
  /// Slice: the end of each axis. Pad: zeros after each axis. Otherwise empty.
  Shape second;

  static ViewStep slice(llvm::ArrayRef<int64_t> begin,
                        llvm::ArrayRef<int64_t> end);
  static ViewStep pad(llvm::ArrayRef<int64_t> before,
                      llvm::ArrayRef<int64_t> after);
  static ViewStep permute(llvm::ArrayRef<int64_t> axes);
  static ViewStep reshape(llvm::ArrayRef<int64_t> shape);

  /// Returns why this step cannot be applied to an array of `shape`; empty when
  /// it can. Extents are in [1, 2^31), here and in results.
  std::string misfit(llvm::ArrayRef<int64_t> shape) const;
  /// The result shape for an array of `shape`, which the step fits.
  Shape apply(llvm::ArrayRef<int64_t> shape) const;
  /// The step that maps a gradient of the result to a gradient of the array of
  /// `shape`: a padding for a slice, and a slice for a padding.
  ViewStep inverse(llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const ViewStep &) const = default;
};
/// `slice`, `pad`, `permute`, `reshape`.
llvm::StringRef spelling(ViewStep::Kind kind);

class ArrayView {
public:
  ArrayView() = default;
  /// The identity view of an array of `shape`.
  explicit ArrayView(llvm::ArrayRef<int64_t> shape)
      : source(shape.begin(), shape.end()), result(source) {}

  /// The shape of the viewed array.
  const Shape &sourceShape() const { return source; }
  /// The shape of the view.
  const Shape &shape() const { return result; }
  llvm::ArrayRef<ViewStep> steps() const { return list; }
  bool isIdentity() const { return list.empty(); }

  /// This view with one more step, which fits `shape()`.
  [[nodiscard]] ArrayView then(const ViewStep &step) const;
  /// This view followed by `next`, which views an array of `shape()`.
  [[nodiscard]] ArrayView compose(const ArrayView &next) const;
  [[nodiscard]] ArrayView slice(llvm::ArrayRef<int64_t> begin,
                                llvm::ArrayRef<int64_t> end) const {
    return then(ViewStep::slice(begin, end));
  }
  [[nodiscard]] ArrayView pad(llvm::ArrayRef<int64_t> before,
                              llvm::ArrayRef<int64_t> after) const {
    return then(ViewStep::pad(before, after));
  }
  [[nodiscard]] ArrayView permute(llvm::ArrayRef<int64_t> axes) const {
    return then(ViewStep::permute(axes));
  }
  [[nodiscard]] ArrayView reshape(llvm::ArrayRef<int64_t> shape) const {
    return then(ViewStep::reshape(shape));
  }

  /// The view that maps a gradient of this view to a gradient of the array,
  /// with zeros where the view has no elements of the array.
  /// `inverse().compose(*this)` is the identity for a view without paddings,
  /// `compose(inverse())` for one without slices and paddings.
  ArrayView inverse() const;
  /// This view before its last reshape: the same elements in the same order.
  ArrayView withoutLastReshape() const;
  /// The index of the view's first element in the array, when the view has only
  /// slices and reshapes and its elements are contiguous.
  std::optional<int64_t> contiguousOffset() const;

  /// Copies the view's elements from an array of `sourceShape()` at `from` to
  /// `to`; both have elements of `width` bytes (1, 2, 4 or 8), row-major, and
  /// do not overlap.
  void copy(const void *from, void *to, unsigned width) const;

  /// The steps as text: `slice[0:16, :] permute[1, 0] reshape[64, 16, 1, 1]`. A
  /// slice has a range for each axis, `:` for all of it. `pad[1:2, :]` adds one
  /// zero before the first axis and two after it. Empty for the identity.
  std::string str() const;
  /// Parses what `str` prints, or any other steps that fit an array of `shape`.
  /// Returns nothing when they do not fit, with the reason in `why`.
  static std::optional<ArrayView>
  parse(llvm::StringRef text, llvm::ArrayRef<int64_t> shape, std::string &why);

  bool operator==(const ArrayView &other) const {
    return source == other.source && list == other.list;
  }

private:
  void append(ViewStep step);
  void push(ViewStep step);
  ViewStep pop();
  bool mergeSlice(const ViewStep &step);
  bool mergePad(const ViewStep &step);
  bool mergePermute(const ViewStep &step);
  bool mergeAcrossReshape(const ViewStep &step);

  Shape source, result;
  llvm::SmallVector<ViewStep, 2> list;
};

/// The maximum number of steps in a text or a manifest.
constexpr size_t maxViewSteps = 64;

llvm::hash_code hash_value(const ArrayView &view);

} // namespace anec

#endif // ANEC_IR_ARRAYVIEW_H
