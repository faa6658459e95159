//===- Arrays.h - weights and gradients of a session ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Master weights and gradients, in fp32, by the names of their arrays. With
/// fp16 numerics, weights that the schedule reads as fp16 have rounded copies.
///
/// Weights that are not trained, which are all of a package without a backward,
/// stay as they are stored, until somebody asks for the masters: host ops read
/// the file, and only what kernels take as inputs is expanded. Adapters are not
/// read from the file after it is opened, so that others can take their place.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_ARRAYS_H
#define ANEC_LIB_RUNTIME_SESSION_ARRAYS_H

#include "anec/Runtime/Session.h"
#include "anec/Support/AlignedArray.h"
#include "lib/Runtime/CPU/HostProgram.h"
#include "llvm/ADT/StringMap.h"

namespace anec::session {

class Arrays {
public:
  /// Reads the master weights of `package`; false when one is missing.
  [[nodiscard]] bool open(const ModelPackage &package,
                          const WeightOptions &options, Diagnostics &diags);

  /// `array` in its own form, to be read as `dtype`; null when masters may have
  /// other values, or for unknown arrays.
  ConstantRef stored(llvm::StringRef array, DType dtype, Numerics numerics);
  bool has(llvm::StringRef array) const { return arrays.contains(array); }
  /// Whether `array` is trained or an adapter, or masters were given away: it
  /// has to be read from its place in memory.
  bool canChange(llvm::StringRef array) const;
  /// Replaces adapters; see Session::takeAdapter.
  [[nodiscard]] bool takeAdapter(const ModelPackage &package,
                                 llvm::StringRef file, Diagnostics &diags);
  /// Drops pages of the weights' files from memory, if most of them will not be
  /// read again.
  void releasePages() const;
  /// Where the schedule reads `array`; `rounded` as fp16 values.
  float *reading(llvm::StringRef array, bool rounded);
  /// The gradient of `array`, made when it is asked for first.
  float *gradient(llvm::StringRef array);
  /// Renews the rounded copies.
  void round(Executor &executor);

  /// All masters, which may change from now on.
  llvm::ArrayRef<NamedFloats> weights();
  bool gaveMasters() const { return gaveAll; }
  llvm::ArrayRef<NamedFloats> trainedWeights() const { return trained; }
  llvm::ArrayRef<NamedFloats> gradients() const { return sums; }
  uint64_t bytes() const { return allocated; }

private:
  struct Array {
    float *master = nullptr, *rounded = nullptr, *gradient = nullptr;
    TensorType type;
    /// Its elements, until masters are given away.
    ConstantRef value;
    ConstantRef halves; ///< `value` rounded to fp16, made when asked for
    bool canChange = false;
    bool isUpdated = false; ///< its gradient is its change

    /// `value`, read as `dtype`.
    ConstantRef as(DType dtype) const;
  };
  float *allocate(size_t count);
  float *master(Array &array);
  /// Those of arrays that can change, or of all.
  void makeMasters(bool all);
  [[nodiscard]] bool checkBaseOf(const ModelPackage &package,
                                 const WeightBinding &adapter,
                                 Diagnostics &diags);
  [[nodiscard]] ConstantRef withoutAdapter(llvm::StringRef name, bool isPart,
                                           const WeightBinding &base,
                                           Diagnostics &diags) const;
  [[nodiscard]] bool openParts(const ModelPackage &package, Diagnostics &diags);
  llvm::StringMap<Array> arrays;
  /// Parts of the host's quantized weights, which are no arrays of weights.
  llvm::StringMap<ConstantRef> parts;
  std::vector<AlignedArray> memory;
  float *block = nullptr; ///< what is left of the last one
  size_t blockLeft = 0;
  // Sorted by name.
  std::vector<NamedFloats> masters, trained, sums;
  WeightOptions opened;   ///< without adapters
  std::string baseDigest; ///< of frozen weights; empty until it is asked for
  std::optional<WeightBinding> source; ///< of a package that trains
  bool gaveAll = false;
  uint64_t allocated = 0;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_ARRAYS_H
