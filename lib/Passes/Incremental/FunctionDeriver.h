//===- FunctionDeriver.h - derives one function -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_FUNCTIONDERIVER_H
#define ANEC_LIB_PASSES_FUNCTIONDERIVER_H

#include "IncrementalModel.h"
#include "lib/IR/OpDef.h"

namespace anec {

/// Rewrites the ops of a function for a block of positions. What a block needs
/// from outside of the function, values of the position and caches, is a
/// parameter of the derived function; the model overrides this.
class FunctionDeriver {
public:
  FunctionDeriver(IncrementalModel &owner, Function &to)
      : owner(owner), to(to), builder(to) {}
  virtual ~FunctionDeriver() = default;

  /// Derives `op` for `count` positions. Returns false, with the reason
  /// reported, when that is impossible.
  [[nodiscard]] bool derive(const Op &op, int64_t count);

  /// Makes `value` stand for `original`.
  void set(const Value *original, Value *value, PositionAxis axis) {
    map[original] = value;
    axes[original] = axis;
  }
  Value *valueOf(const Value *original) const { return map.lookup(original); }
  PositionAxis axisOf(const Value *original) const {
    return original ? axes.lookup(original) : std::nullopt;
  }

  std::vector<PositionValue> values;
  std::vector<Cache> caches;
  /// `cacheParameters` has none while a text starts.
  std::vector<Value *> valueParameters, cacheParameters, rows;

protected:
  /// The derived value of an operand that is `count` positions long.
  virtual Value *operand(const Value *original, int64_t count);
  virtual Value *positionValue(const PositionValue &wanted);
  /// The contents of `cache`, whose name becomes a unique one; null while a
  /// text starts.
  virtual Value *contents(Cache &cache);

  Value *addConstant(ConstantRef constant, llvm::StringRef name);

  IncrementalModel &owner;
  Function &to;
  Builder builder;
  ValueMap map;
  llvm::DenseMap<const Value *, PositionAxis> axes;

private:
  bool deriveByRule(const Op &op, int64_t count);
  bool deriveAttention(const Op &op, int64_t count);
  bool hasFixedAngles(const Op &op);
  bool deriveRope(const Op &op, int64_t count);
  bool deriveCall(const Op &op, int64_t count);
  bool deriveRepeat(const Op &op, int64_t count);
  bool fail(const Op &op, llvm::StringRef problem);
  void addCache(Cache cache, llvm::SmallVectorImpl<Value *> &operands);
  void addCacheOf(const Op &op, unsigned slot,
                  llvm::SmallVectorImpl<Value *> &operands);
  void finish(const Op &op, Op &made, llvm::ArrayRef<PositionAxis> found);
  std::optional<Value *> readAt(const Op &op, unsigned slot, unsigned axis,
                                int64_t count);
  NameSet names;
};

/// The constants of `from` that `to` has too.
llvm::SmallVector<Attr, 8> sharedConstants(const Op &from, const OpDef &to);

} // namespace anec

#endif // ANEC_LIB_PASSES_FUNCTIONDERIVER_H
