//===- SourceWeights.h - weights of programs that others wrote --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A program that others wrote has the values of its weights: initializers of
/// ONNX, parameters and buffers of PyTorch, constants in a weight file of Core
/// ML. When it is read, they can get other values, and can become `weight` ops,
/// which are trained, instead of constants.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_SOURCEWEIGHTS_H
#define ANEC_IR_SOURCEWEIGHTS_H

#include "anec/IR/Constant.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace anec {

/// The values of weights by name.
using WeightValues = llvm::StringMap<ConstantRef>;

class SourceWeights {
public:
  /// Whether a weight, by its name in the source, is trained; null for none.
  std::function<bool(llvm::StringRef name)> isTrained;
  /// Whether `isTrained` knows names, and does not take all.
  bool isAsked = false;
  /// The value that a weight gets instead of its own; null, or a result that is
  /// null, for its own.
  std::function<ConstantRef(llvm::StringRef name, const TensorType &type)>
      replacement;

  bool trains() const { return bool(isTrained); }

  /// The value of the weight `name`, of which the source has `own`: another one
  /// of its type, or `own`. Integers are no weights. A reader whose weights can
  /// share elements calls this and `trainedAs` for all of them first.
  ConstantRef valueOf(llvm::StringRef name, const ConstantRef &own);
  /// The name of the `weight` op that stands for the weight `name` of this
  /// value, if it is trained; arrays with a number that fp16 lacks, as masks
  /// have, are not. Weights of one type whose elements are at one address, as
  /// those of tied weights are, are the first of them, and have its value.
  std::optional<std::string> trainedAs(llvm::StringRef name,
                                       const ConstantRef &value);
  /// Keeps the weight `name`, which the source does not train, a constant
  /// unless it was asked for by its name.
  void freeze(llvm::StringRef name) {
    if (!isAsked)
      constants.insert(name);
  }

  /// Keeps the weight of the op `name` a constant when the program is read
  /// again: reading depends on its value, or it is not what a model learns,
  /// unless `isParameter`. Returns whether it was none.
  bool keep(llvm::StringRef name, bool isParameter);

  /// What a state of the program holds in the source, by its name there.
  struct Held {
    std::string name;
    ConstantRef begin; ///< fp32
  };
  /// Notes the state that the parameter `parameter` is: it becomes a weight
  /// where a training updates it.
  void hold(llvm::StringRef parameter, llvm::StringRef name,
            ConstantRef begin) {
    trained[name] = begin;
    states[parameter] = {name.str(), std::move(begin)};
  }
  const llvm::StringMap<Held> &held() const { return states; }
  /// What a weight of `values` begins with.
  ConstantRef begin(llvm::StringRef name) const { return trained.lookup(name); }

  /// The weights of floats that were read, in their order.
  llvm::ArrayRef<std::string> names() const { return read; }
  /// The parameters that `keep` has kept constants.
  std::vector<std::string> kept() const;
  /// The values of those that are trained, by the names of their ops.
  const WeightValues &values() const { return trained; }

private:
  std::vector<std::string> read;
  llvm::StringSet<> seen, constants, decided;
  WeightValues trained;
  llvm::StringMap<Held> states;
  // By the address of the elements in the source.
  llvm::DenseMap<const uint8_t *, std::string> owners;
  llvm::DenseMap<const uint8_t *, ConstantRef> replaced;
};

} // namespace anec

#endif // ANEC_IR_SOURCEWEIGHTS_H
