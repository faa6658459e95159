//===- Blocks.h - the blocks of control flow -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `cond` and `while_loop` have blocks: functions of their own, which belong to
/// no module. All values that a block uses are its parameters, and those are
/// the operands of the op. Blocks never change, so that copies of an op share
/// them: the op holds them as a constant. What does not look inside sees an op
/// with operands and results.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_BLOCKS_H
#define ANEC_LIB_IR_BLOCKS_H

#include "lib/IR/Clone.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "llvm/ADT/SetVector.h"

namespace anec {

/// The most blocks inside each other: few enough not to exhaust the stack.
constexpr unsigned maxBlockDepth = 64;

class Blocks {
public:
  /// A constant that holds the functions.
  static ConstantRef make(std::vector<std::unique_ptr<Function>> functions);
  /// The blocks that a constant holds; null when it holds none.
  static const Blocks *of(const Constant *constant);

  llvm::ArrayRef<std::unique_ptr<Function>> functions() const { return held; }
  const Function &operator[](size_t index) const { return *held[index]; }
  size_t size() const { return held.size(); }

private:
  explicit Blocks(std::vector<std::unique_ptr<Function>> functions)
      : held(std::move(functions)) {}

  /// The constant's bytes are this member, which has its own address: no other
  /// constant does.
  const void *self = this;
  std::vector<std::unique_ptr<Function>> held;
};

/// The slot of the constant with the blocks; -1 for ops without blocks.
int blocksSlot(const OpDef &def);
/// The blocks of an op; none for an op without.
llvm::ArrayRef<std::unique_ptr<Function>> blocksOf(const Op &op);

/// Gives the op copies of its blocks that `rewrite` has changed; it says
/// whether it did. Returns whether the op has other blocks.
bool rewriteBlocks(Op &op, llvm::function_ref<bool(Function &)> rewrite);

/// Makes `values` the results of a block, whose names only have to differ.
void setBlockResults(Function &block, llvm::ArrayRef<Value *> values);

/// Makes blocks of ops that were built at the end of a function, for an op that
/// comes after them.
class BlockMaker {
public:
  explicit BlockMaker(Function &function) : function(function) {}
  ~BlockMaker();

  /// A parameter of the blocks, before the ones that `capture` adds: a
  /// parameter of the function until `finish`.
  Value *addPlaceholder(const TensorType &type, llvm::StringRef name);
  /// A value that the blocks take; those that their ops use are added to it.
  void capture(Value *value) { captured.insert(value); }
  /// Makes the ops after `last` (null: all ops) the block before those that
  /// were made so far. Constants are copied into it, and ops without uses are
  /// erased, each after `erased` has been called.
  void take(Op *last, llvm::ArrayRef<Value *> results,
            llvm::function_ref<void(const Op &)> erased);
  /// Whether a block takes or gives a state or a buffer.
  bool hasMemory() const { return foundMemory; }
  /// The values that the blocks take, in the order of their last parameters.
  llvm::ArrayRef<Value *> captures() const { return captured.getArrayRef(); }
  /// The blocks, with the same parameters.
  ConstantRef finish();

private:
  Value *inside(Function &block, ValueMap &map, Value *value);

  Function &function;
  llvm::SmallVector<Value *, 4> placeholders;
  llvm::SetVector<Value *> captured;
  std::vector<std::unique_ptr<Function>> blocks;
  bool foundMemory = false;
};

/// The parameter of a row that holds the blocks.
constexpr ParamDef blocksParam(llvm::StringLiteral doc) {
  return {param::blocks, ParamKind::Constant, {DType::UInt64}, 0, 0, "", doc};
}

} // namespace anec

#endif // ANEC_LIB_IR_BLOCKS_H
