//===- RandomGraph.h - functions of random ops -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_OPS_RANDOMGRAPH_H
#define ANEC_TEST_FUZZ_OPS_RANDOMGRAPH_H

#include "lib/IR/Builder.h"
#include "llvm/ADT/DenseMap.h"
#include <random>

namespace anec {

/// Builds a function from rows of the op table: operands and constants are
/// drawn by what parameters are called, and the row's own inference says which
/// of them go together.
class RandomGraph {
public:
  RandomGraph(uint64_t seed, Module &module);

  /// Adds an op of `def`, or gives up after some attempts.
  bool addOp(const OpDef &def);
  /// Adds up to `count` ops of random rows, and makes what is not used the
  /// results.
  void grow(unsigned count);
  /// Adds an op with a constant weight that is stored in some form.
  void addStoredProduct();
  void finish();

  Function &function;
  std::mt19937_64 random;

private:
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random); }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[number(0, int64_t(choices.size()) - 1)];
  }

  Shape anyShape();
  ConstantRef anyArray(const TensorType &type);
  Value *fresh(const TensorType &type);
  void settleFresh(const OpDef &def);
  void dropFresh();
  Value *existing(DTypeSet dtypes);
  std::optional<DType> dtypeFor(const ParamDef &param);
  std::optional<Shape> productShape(llvm::StringRef op, llvm::StringRef name,
                                    const Shape &x);
  std::optional<Shape> recurrentShape(llvm::StringRef op, llvm::StringRef name,
                                      const Shape &x);
  std::optional<Shape> indexedShape(llvm::StringRef op, llvm::StringRef name,
                                    const Shape &x);
  std::optional<Shape> pointsShape(llvm::StringRef name, const Shape &x);
  std::optional<Shape> compressionShape(llvm::StringRef op,
                                        llvm::StringRef name, const Shape &x);
  Shape shapeFor(const OpDef &def, const ParamDef &param);
  Value *operandFor(const OpDef &def, const ParamDef &param);
  ConstantRef constantFor(const OpDef &def, const ParamDef &param);
  ConstantRef textFor(const OpDef &def, const ParamDef &param);
  ConstantRef listFor(const ParamDef &param);
  bool attempt(const OpDef &def);

  // StoredProducts.cpp
  int64_t divisor(int64_t extent);
  Value *stored(const TensorType &type);
  Value *storedBlockwise(const Shape &shape);
  Value *storedAffine(const Shape &shape);
  Value *storedTable(const Shape &shape);
  Value *storedWeight(const Shape &shape);

  Builder builder;
  Diagnostics diags;
  DType floatType;
  std::vector<Value *> values;
  // Of the op under construction.
  llvm::SmallVector<Value *, 8> operands;
  llvm::SmallVector<Value *, 8> made; ///< operands that are new, as constants
  llvm::DenseMap<char, DType> bound;
  int64_t hidden = 1;
};

} // namespace anec

#endif // ANEC_TEST_FUZZ_OPS_RANDOMGRAPH_H
