//===- Comparison.h - outputs beside their reference ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COMPARISON_H
#define ANEC_LIB_RUNTIME_COMPARISON_H

#include "anec/Runtime/Backend.h"
#include <optional>

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
} // namespace json
} // namespace llvm

namespace anec {

/// How far outputs may be from their reference.
struct Tolerance {
  /// An element may be off by `absolute + relative * |reference|`; the one that
  /// has no value counts as 0 when the other has one.
  std::optional<double> absolute, relative;
  /// Without both, an element of a float type may be off by this share of the
  /// largest magnitude in the reference of its array, and others not at all.
  double ofLargest = 0;
  /// Whether NaN is right where the reference has NaN.
  bool equalNaN = false;

  bool isGiven() const { return absolute || relative; }
};

/// `ofLargest` for programs that `backend` runs with `numerics`; they are in
/// docs/use/numerics.md.
double defaultTolerance(const Backend &backend, Numerics numerics);

/// An output, or the final value of a state, beside its reference.
struct OutputComparison {
  std::string name;
  TensorType type;
  /// Elements that are off by more than the tolerance.
  int64_t wrong = 0;
  /// The norm of the difference relative to that of the reference, as
  /// relativeError.
  double relativeError = 0;
  /// The largest difference; NaN or infinite when an element makes it so.
  double largestError = 0;
  /// What the tolerance allows: at `worst`, when there is one.
  double allowed = 0;
  /// The element that exceeds the tolerance by most.
  int64_t worst = 0;
  double value = 0, reference = 0; ///< at `worst`

  bool isRight() const { return wrong == 0; }
  /// The position of `worst`: `[0, 3]`.
  std::string place() const;
};

OutputComparison compareOutput(const Port &port, llvm::ArrayRef<double> values,
                               llvm::ArrayRef<double> reference,
                               const Tolerance &tolerance);

/// Prints a line.
void printComparison(const OutputComparison &output, llvm::StringRef reference,
                     llvm::raw_ostream &out);
/// Writes an object. Numbers that JSON does not have are the strings `inf`,
/// `-inf` and `nan`.
void printComparison(const OutputComparison &output, llvm::json::OStream &json);
/// Reports an error for an output that is wrong. Returns whether it is right.
[[nodiscard]] bool checkComparison(const OutputComparison &output,
                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_COMPARISON_H
