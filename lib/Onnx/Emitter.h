//===- Emitter.h - ops with constants folded --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds ops for the nodes of a graph. An op whose operands are all constants
/// is computed at once, so that the arithmetic of shapes leaves nothing behind.
/// Large results are left to the run, unless an op takes them only as
/// constants.
///
/// After an error, values are missing: a missing operand gives a missing result
/// and no second error.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_EMITTER_H
#define ANEC_LIB_ONNX_EMITTER_H

#include "Budget.h"
#include "anec/IR/SourceWeights.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Builder.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace anec::onnx {

/// A value, which is missing after an error. A missing value is a scalar.
class Val {
public:
  Val(Value *value = nullptr) : value(value) {}
  explicit operator bool() const { return value != nullptr; }
  Value *get() const { return value; }

  const Shape &shape() const;
  DType dtype() const { return value ? value->type.dtype : DType::FP32; }
  int64_t rank() const { return int64_t(shape().size()); }
  int64_t size() const { return value ? value->type.numElements() : 1; }
  /// The extent of an axis; negative axes count from the end. 1 when there is
  /// no such axis.
  int64_t dim(int64_t axis) const;
  /// Whether the elements are known; Emitter::known gives them.
  bool isKnown() const;

private:
  Value *value;
};

using Vals = llvm::SmallVector<Val, 4>;

/// The element type that ops have instead of `dtype`.
DType nativeType(DType dtype);
/// Whether only constants have the type: values in it would be rounded.
bool isStoredOnly(DType dtype);

struct FoldLimits;

class Emitter {
public:
  Emitter(Function &function, Budget budget, Diagnostics &diags)
      : function(function), builder(function, &diags), budget(budget),
        diags(diags) {}
  void setRange(SourceRange newRange) {
    range = newRange;
    builder.setRange(newRange);
  }
  Diagnostics &diagnostics() { return diags; }
  /// Whether gradients are to be those of the source, too.
  bool trains = false;
  /// Hears of each constant before rows or folding read its elements. Most
  /// weights only pass through.
  std::function<void(const Constant &)> willRead;

  /// The elements of a value, to be read, when they are known; null otherwise.
  ConstantRef known(Val x) const;
  /// Reports why an op cannot be made, and gives a missing value.
  Val fail(const std::string &why);
  /// Counts an op, a node or a constant, whose names take so many bytes.
  /// Returns false, with the reason reported the first time, when the model has
  /// too many.
  bool count(size_t names = 0);
  /// Whether a table of these extents may be computed.
  bool affords(llvm::ArrayRef<int64_t> extents);
  /// Whether constants may have so many elements more.
  bool takeElements(int64_t count) { return budget.takeElements(count); }
  /// Whether computing constants may take so many steps more.
  bool takeSteps(int64_t count) { return budget.takeSteps(count); }

  /// The first result of an op; optional operands may be missing if `optional`
  /// says so by their slots.
  Val make(const OpDef &def, llvm::ArrayRef<Val> operands,
           llvm::ArrayRef<Attr> attrs = {});
  /// All results. `absent` operands are optional ones that are not there.
  Vals makeAll(const OpDef &def, llvm::ArrayRef<Val> operands,
               llvm::ArrayRef<Attr> attrs = {},
               llvm::ArrayRef<unsigned> absent = {});

  /// The gradients of the operands of an op, where `wanted` says so by their
  /// slots, from `dy`, that of its result. The op itself is made only if its
  /// rule reads its result.
  Vals gradients(const OpDef &def, llvm::ArrayRef<Val> operands,
                 llvm::ArrayRef<Attr> attrs, Val dy,
                 llvm::ArrayRef<bool> wanted);

  // Constants.
  Val constant(ConstantRef value);
  /// The weight `name` of the source: a constant, or the op that `weights`
  /// makes of it. Null `weights` make none.
  Val weight(llvm::StringRef name, ConstantRef value, SourceWeights *weights);
  Val scalar(DType dtype, double value);
  /// A list of int32.
  Val list(llvm::ArrayRef<int64_t> values);
  Val filled(DType dtype, llvm::ArrayRef<int64_t> shape, double value);

  /// A list of values, which is known: no op takes one.
  Val sequence(Vals elements);
  /// The elements; null when it is no sequence.
  const Vals *elementsOf(Val x) const;
  /// An optional value that is not there.
  Val none();
  bool isTensor(Val x) const;

  /// A tensor without elements; only shapes and constants can be such.
  Val empty(DType dtype, llvm::ArrayRef<int64_t> shape);

  // What most rows need.
  /// The value in an element type that ops have: int64 and wide unsigned
  /// integers become int32, double and bfloat16 become fp32.
  Val native(Val x);
  Val cast(Val x, DType dtype);
  /// The result of an op of its own.
  Val copy(Val x);
  /// Computed in `wide` and cast back: integers of fewer bits as int32.
  Val unary(const OpDef &def, Val x, llvm::ArrayRef<Attr> attrs = {});
  /// The same for two operands that broadcast.
  Val binary(const OpDef &def, Val x, Val y);
  Val add(Val x, Val y);
  Val sub(Val x, Val y);
  Val mul(Val x, Val y);
  Val div(Val x, Val y);
  /// With a number of the element type of `x`.
  Val add(Val x, double y) { return add(x, scalar(wideOf(x), y)); }
  Val mul(Val x, double y) { return mul(x, scalar(wideOf(x), y)); }
  /// The logarithm, which is -inf at 0: without the number that MIL adds
  /// otherwise.
  Val log(Val x);
  /// log(1 + x), also where 1 + x rounds the low bits of x away.
  Val logOf1Plus(Val x);
  Val select(Val condition, Val yes, Val no);
  Val reshape(Val x, llvm::ArrayRef<int64_t> shape);
  Val transpose(Val x, llvm::ArrayRef<int64_t> perm);
  /// Repeats along axes of extent 1, and adds axes in front.
  Val broadcast(Val x, llvm::ArrayRef<int64_t> shape);
  Val concat(llvm::ArrayRef<Val> parts, int64_t axis);
  /// Elements `begin` to `end` of an axis, every `step`-th.
  Val slice(Val x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  Val gather(Val x, Val indices, int64_t axis);
  Val reduce(const OpDef &def, Val x, llvm::ArrayRef<int64_t> axes, bool keep);
  Val matmul(Val x, Val y, bool transposeX = false, bool transposeY = false);

  // Blocks. Their ops are built like all others, and then taken into them.
  /// What is known before the ops of a block are built.
  struct Section {
    Op *last;
    llvm::DenseMap<Value *, Value *> natives, storedValues;
  };
  Section begin() const;
  /// Forgets values since `section`, whose ops stay.
  void leave(const Section &section);
  /// Erases the ops since `section`, which nothing uses.
  void undo(const Section &section);
  BlockMaker blocks() { return BlockMaker(function); }
  /// Makes the ops since `section` the block before those of `blocks` so far.
  void take(BlockMaker &blocks, const Section &section,
            llvm::ArrayRef<Val> results);
  /// `cond` or `while_loop`, of `operands` and what the blocks capture.
  Vals makeWithBlocks(const OpDef &def, BlockMaker &blocks,
                      llvm::ArrayRef<Val> operands, int64_t carried = 0);

  /// The element type that arithmetic on `x` has.
  static DType wideOf(Val x);

private:
  void noteRead(const Constant &constant) const {
    if (willRead)
      willRead(constant);
  }
  /// The elements of a value: a constant, or in `storedValues`.
  ConstantRef knownOf(Value *value) const;
  /// The results of an op as constants; empty if they are not known or beyond
  /// the limits.
  Vals compute(const Op &op, const FoldLimits &limits);
  /// `x` as a constant, where it depends only on constants.
  Val stored(Val x);
  /// Computes the arguments that an op takes only as constants.
  void storeArguments(const OpDef &def, llvm::SmallVectorImpl<Value *> &values);

  Function &function;
  Builder builder;
  Budget budget;
  bool isFull = false; ///< too many ops, which has been reported
  Diagnostics &diags;
  SourceRange range;
  llvm::DenseMap<Value *, Value *> natives;
  /// The constants that `stored` has made, and null where it could not.
  llvm::DenseMap<Value *, Value *> storedValues;
  /// What stands for sequences, and for optional values that are not there.
  std::vector<std::unique_ptr<Value>> standIns;
  llvm::DenseMap<const Value *, std::optional<Vals>> sequences;
};

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_EMITTER_H
