//===- IncrementalModel.h - derives the programs of a model -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Derives, from a model for all positions of a text, programs for a block of
/// them after cached ones, function by function: each layer is derived once
/// for a block and a context, and once for a block when it does not attend.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_INCREMENTALMODEL_H
#define ANEC_LIB_PASSES_INCREMENTALMODEL_H

#include "anec/Passes/Pass.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/Ops/Positions.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace anec {

/// A program to derive.
struct DecodeProgram {
  FunctionRole role = FunctionRole::Decode;
  int64_t context = 0; ///< cached positions
  int64_t block = 0;   ///< new positions
  int64_t wanted = 0;  ///< columns that get logits; `columns()` for all
  /// Texts whose caches lie side by side, and those that the program reads: a
  /// block of each, side by side. Its positions are slots of the caches,
  /// text * context + position, and negative for a block that is not used.
  int64_t texts = 1, read = 1;
  /// Whether the block is the first of a text: nothing is cached before it, and
  /// caches are only written.
  bool starts = false;

  int64_t columns() const { return read * block; }
  int64_t slots() const { return texts * context; }
};

/// A value that depends on the position of the block alone. The model computes
/// it once a run, and passes it to the functions that need it.
struct PositionValue {
  enum Kind : uint8_t {
    Index,     ///< the position of each element: int32[columns]
    Mask,      ///< of cached slots, for an attention with `window`
    BlockMask, ///< of the positions of the block
    Cosines,   ///< of `rope`, an op of the model
    Sines,
  } kind = Index;
  TensorType type;
  int64_t window = 0;
  const Op *rope = nullptr;

  bool operator==(const PositionValue &other) const;
  llvm::StringRef name() const;
};

/// Keys or values of an attention: [key heads, width, slots], with the axes of
/// the repeats around it first.
struct Cache {
  std::string name;
  TensorType type;

  /// The same of a program whose caches have `slots`.
  Cache with(int64_t slots) const {
    Cache other = *this;
    other.type.shape.back() = slots;
    return other;
  }
};

/// A derived function. Its parameters are those of the original one, then
/// `values`, then `caches`, unless it starts a text; its results are those of
/// the original one, then the new rows of each cache.
struct DerivedFunction {
  Function *function = nullptr; ///< null when it cannot be derived
  llvm::SmallVector<PositionAxis, 2> results;
  std::vector<PositionValue> values;
  /// One that starts a text is for caches of any number of slots.
  std::vector<Cache> caches;
};

class IncrementalModel {
public:
  IncrementalModel(Module &module, PassContext &ctx)
      : module(module), ctx(ctx) {}

  /// Derives `program` of `model`, whose tokens are `tokens` and whose logits
  /// are `logits`. Returns false, with the reason reported, on failure.
  [[nodiscard]] bool derive(const Function &model, const Value &tokens,
                            const Value &logits, const DecodeProgram &program);

  /// A layer, or the body of a repeat of which the last `sliced` parameters are
  /// slices, for arguments with these axes.
  const DerivedFunction &derive(const Function &function,
                                llvm::ArrayRef<PositionAxis> axes,
                                int64_t count, size_t sliced = 0);
  /// Whether `op` attends or turns by positions, or applies a function that
  /// does.
  bool usesPositions(const Op &op);

  Module &module;
  PassContext &ctx;
  DecodeProgram program;      ///< that is derived now
  std::string model;          ///< the name of its model
  int64_t modelPositions = 0; ///< positions of the original model

private:
  static constexpr int64_t anyContext = 0, startOfText = -1;
  struct Key {
    const Function *function;
    llvm::SmallVector<PositionAxis, 4> axes;
    int64_t count, context; ///< or `anyContext`, `startOfText`
    std::string model;      ///< that owns the body of a repeat
    bool operator<(const Key &other) const;
  };
  std::string uniqueName(const std::string &wanted) const;
  std::map<Key, DerivedFunction> derived;
  llvm::DenseMap<const Function *, bool> positionUsers;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_INCREMENTALMODEL_H
