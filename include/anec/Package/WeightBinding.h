//===- WeightBinding.h - where weights get their values --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Gives the `weight` ops of a function their values: from a .safetensors file
/// or a folder of .npy files, by name or through a mapping file, or drawn from
/// a seed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_WEIGHTBINDING_H
#define ANEC_PACKAGE_WEIGHTBINDING_H

#include "anec/Arrays/ArraySource.h"
#include "anec/IR/IR.h"
#include "anec/Support/Executor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

struct WeightOptions {
  /// A .safetensors file or a folder of .npy files; empty for none.
  std::string source;
  /// A JSON object from weight names (`attention.wq`) to names in `source`;
  /// empty when they are the same. A weight it does not name keeps its own.
  std::string mapping;
  /// Draws all weights that `source` does not have; without it, a missing
  /// weight is an error.
  std::optional<uint64_t> seed;
  /// Whose workers draw weights and write weight files; null for one with a
  /// thread per processor.
  std::shared_ptr<Executor> executor = nullptr;
};

/// What a weight begins as when it is drawn.
enum class InitialValue : uint8_t {
  Normal, ///< with a deviation of 1/sqrt(inputs of one output)
  Table,  ///< normal with a deviation of 0.02: rows that are looked up
  Ones,
  Zeros,
};
/// `normal`, `table`, `ones`, `zeros`.
llvm::StringRef spelling(InitialValue initial);

class WeightBinding {
public:
  /// Opens what `options` names; nothing when that fails, with the reason
  /// reported.
  [[nodiscard]] static std::optional<WeightBinding>
  open(const WeightOptions &options, Diagnostics &diags);

  /// The value of `weight`, in its result's type; null when it cannot be had,
  /// with the reason reported.
  [[nodiscard]] ConstantRef resolve(const Op &weight, Diagnostics &diags) const;
  /// The array called `name`, declared as `type`, or drawn to begin as
  /// `initial`; `range` is for messages.
  [[nodiscard]] ConstantRef resolve(llvm::StringRef name,
                                    const TensorType &type,
                                    InitialValue initial, SourceRange range,
                                    Diagnostics &diags) const;
  /// Whether there is a value for `name` without drawing it.
  bool has(llvm::StringRef name) const;
  /// Whether there is anything to take values from.
  bool hasValues() const { return arrays || seed; }
  /// As WeightOptions has it.
  Executor &executor() const { return *workers; }

private:
  llvm::StringRef storedName(llvm::StringRef name) const;

  std::optional<ArraySource> arrays;
  llvm::StringMap<std::string> names;
  std::optional<uint64_t> seed;
  std::shared_ptr<Executor> workers = std::make_shared<Executor>();
};

/// Whether the operand in `slot` of `call` scales what it meets in the callee.
using IsScale = llvm::function_ref<bool(const Op &call, unsigned slot)>;
/// What `weight` begins as, by its first use: a vector is all ones where it
/// scales (`gamma`), zeros elsewhere.
InitialValue initialValue(const Op &weight, IsScale isScaleElsewhere = nullptr);
/// Whether `value`, a parameter, scales what it meets.
bool scales(const Value &value, IsScale isScaleElsewhere = nullptr);

/// Elements of `type` for the weight `name`, the same for a name and a seed on
/// any machine. Matrices and filters are normal with a deviation of
/// 1/sqrt(inputs of one output), or of 0.02 where rows are looked up: a table
/// that is the classifier too then starts with a loss near that of guessing.
ConstantRef drawWeight(llvm::StringRef name, TensorType type,
                       InitialValue initial, uint64_t seed, Executor &executor);

} // namespace anec

#endif // ANEC_PACKAGE_WEIGHTBINDING_H
