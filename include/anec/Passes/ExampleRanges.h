//===- ExampleRanges.h - how large values are, of examples ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a program's values are for example inputs, by which `narrow` decides
/// what fp16 holds. They are those of the function after `fold-scales`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_EXAMPLERANGES_H
#define ANEC_PASSES_EXAMPLERANGES_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace anec {

/// The values of `function` of which ranges are measured, in order: what fp32
/// parameters and ops have, apart from constants.
std::vector<Value *> measuredValues(const Function &function);

/// The largest magnitudes of the values of one function.
class FunctionRanges {
public:
  /// Nothing for a value that was not measured.
  std::optional<double> find(const Value *value) const;

private:
  friend class ExampleRanges;
  llvm::DenseMap<const Value *, double> largest;
};

class ExampleRanges {
public:
  /// Raises the largest magnitudes of the values of a function, which are in
  /// the order of `measuredValues`; infinite where one is not finite.
  void raise(llvm::StringRef function, llvm::ArrayRef<double> magnitudes);
  /// Nothing when the function was not measured, or in another form.
  std::optional<FunctionRanges> find(const Function &function) const;

private:
  std::map<std::string, std::vector<double>> byFunction;
};

} // namespace anec

#endif // ANEC_PASSES_EXAMPLERANGES_H
