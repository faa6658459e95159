//===- ModelDeriver.h - derives the host function of a model ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_MODELDERIVER_H
#define ANEC_LIB_PASSES_MODELDERIVER_H

#include "FunctionDeriver.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Shape.h"

namespace anec {

/// Derives the model itself, which computes the values of the position, has
/// the caches as states, and gives logits of the wanted positions only.
class ModelDeriver : public FunctionDeriver {
public:
  ModelDeriver(IncrementalModel &owner, Function &to)
      : FunctionDeriver(owner, to) {}

  void addInputs(const Value &tokens);
  void updateStates();

protected:
  Value *operand(const Value *original, int64_t count) override;
  Value *positionValue(const PositionValue &wanted) override;
  Value *contents(Cache &cache) override;

private:
  Value *build(const PositionValue &wanted);
  Value *index(int64_t count);
  Value *mask(const PositionValue &wanted);
  Value *maskOfTexts(const PositionValue &wanted);
  Value *perColumn(Value *ofBlocks);
  Value *reshaped(Value *value, const Shape &shape, llvm::StringRef name) {
    return builder.build(ops::Reshape, {value}, Attr(param::shape, shape),
                         name);
  }
  Value *blockMask(const PositionValue &wanted);
  Value *inWindow(Value *seen, Value *keys, Value *queries, int64_t window);
  Value *hide(Value *seen, const PositionValue &wanted, llvm::StringRef name);
  Value *ropeTable(const PositionValue &wanted);
  Value *at(Value *value, unsigned axis) {
    return builder.build(ops::Gather, {value, wantedIndices},
                         Attr(param::axis, int64_t(axis)), value->name);
  }
  static ConstantRef numbers(llvm::ArrayRef<int64_t> shape) {
    std::vector<double> elements(TensorType(DType::Int32, shape).numElements());
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = double(i);
    return Constant::fromDoubles(TensorType(DType::Int32, shape), elements);
  }

  /// The first slot of each block, its position in the text, and which text it
  /// is; the latter is null when there is one.
  Value *slot = nullptr, *position = nullptr, *text = nullptr;
  Value *wantedIndices = nullptr;
  std::vector<Value *> states;
  llvm::DenseMap<const Value *, Value *> wantedParts;
  NameSet names;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_MODELDERIVER_H
