//===- Constant.h - immutable typed arrays ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A constant is what MIL writes as `type(literal)`: the value of a `const`, an
/// op's parameter, or a bound weight. It is immutable and shared, and its bytes
/// are its own or belong to a mapped file, so that binding gigabytes of weights
/// copies nothing.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_CONSTANT_H
#define ANEC_IR_CONSTANT_H

#include "anec/IR/Type.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <memory>
#include <vector>

namespace anec {

class Constant;
using ConstantRef = llvm::IntrusiveRefCntPtr<const Constant>;

/// The location of a constant in a weight file, as in MIL text.
struct BlobOrigin {
  std::string path; ///< as written: `@model_path/weights/weight.bin`
  uint64_t offset;  ///< of the 64-byte record header, not of the data
  /// The file did not exist, and the bytes are zeros instead.
  bool missing = false;
};

class Constant : public llvm::ThreadSafeRefCountedBase<Constant> {
public:
  /// A constant over `bytes` (little-endian, row-major, sub-byte types packed
  /// from the low bit), which `owner` keeps alive. `bytes` holds elements of
  /// `stored`, which are read as `type.dtype`: a float array can be stored
  /// wider than it is declared, and is then rounded to nearest even on reading.
  static ConstantRef view(TensorType type, DType stored,
                          llvm::ArrayRef<uint8_t> bytes,
                          std::shared_ptr<const void> owner,
                          std::optional<BlobOrigin> origin = std::nullopt);
  /// A constant that owns a copy of `bytes`, stored as declared.
  static ConstantRef copy(TensorType type, llvm::ArrayRef<uint8_t> bytes);
  /// A constant of `type` holding `values` rounded to its element type.
  static ConstantRef fromDoubles(TensorType type,
                                 llvm::ArrayRef<double> values);

  static ConstantRef boolean(bool value);
  static ConstantRef int32(int64_t value);
  static ConstantRef int32s(llvm::ArrayRef<int64_t> values);
  static ConstantRef booleans(llvm::ArrayRef<bool> values);
  static ConstantRef string(llvm::StringRef value);
  static ConstantRef strings(TensorType type, std::vector<std::string> values);
  /// A scalar of a float or integer type.
  static ConstantRef scalar(DType dtype, double value);

  const TensorType &type() const { return tensorType; }
  DType dtype() const { return tensorType.dtype; }
  /// The element type of `bytes()`: `dtype()` unless a view widens it.
  DType storedDType() const { return stored; }
  llvm::ArrayRef<uint8_t> bytes() const { return data; }
  const std::optional<BlobOrigin> &origin() const { return blobOrigin; }
  int64_t numElements() const { return tensorType.numElements(); }

  /// The same elements with another shape of the same size; nothing is copied.
  ConstantRef reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// The elements that fill `shape`, from `begin` on, in stored order; nothing
  /// is copied. Elements must have whole bytes.
  ConstantRef part(int64_t begin, llvm::ArrayRef<int64_t> shape) const;

  // Scalars, or one-element tensors. They assert on a wrong element type.
  bool asBool() const;
  int64_t asInt() const;
  double asDouble() const;
  llvm::StringRef asString() const;

  // Any shape, row-major.
  llvm::SmallVector<int64_t, 4> asInts() const;
  std::vector<double> asDoubles() const;
  /// Element `index` as a double (bool: 0 or 1), rounded to `dtype()`.
  double doubleAt(int64_t index) const;
  /// Element `index` of an integer constant, with all 64 bits.
  int64_t intAt(int64_t index) const;
  const std::vector<std::string> &asStrings() const { return text; }
  /// Writes all elements as fp32 to `out`, of `numElements()`.
  void copyToFloats(float *out) const;

  /// Equal type and equal elements (NaNs compare by bits). Origins are ignored.
  bool equals(const Constant &other) const;
  size_t hash() const;

private:
  friend class llvm::ThreadSafeRefCountedBase<Constant>;
  Constant() = default;
  ~Constant() = default;

  TensorType tensorType;
  DType stored = DType::FP32;
  llvm::ArrayRef<uint8_t> data;
  uint64_t inlineBytes = 0; ///< holds `data` when it fits: most constants do
  std::shared_ptr<const void> owner;
  std::vector<std::string> text; ///< the elements when `dtype()` is String
  std::optional<BlobOrigin> blobOrigin;
};

/// Whether two lists have equal constants, or no constant, in each slot.
bool equalConstants(llvm::ArrayRef<ConstantRef> lhs,
                    llvm::ArrayRef<ConstantRef> rhs);

} // namespace anec

#endif // ANEC_IR_CONSTANT_H
