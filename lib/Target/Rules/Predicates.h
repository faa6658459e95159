//===- Predicates.h - shared predicates of rules ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_PREDICATES_H
#define ANEC_LIB_TARGET_PREDICATES_H

#include "anec/Target/Rule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Reduce.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace anec {

/// The trial of aneforge/full_mil_vocabulary_sweep.json, which names no chip.
constexpr llvm::StringLiteral opSweep =
    "each op was refused alone, through E5, in ANEForge's trial of the ops of "
    "MIL";

/// A verdict that an op breaks a rule, with formatted text.
template <typename... Args>
Verdict broken(const char *format, Args &&...args) {
  return llvm::formatv(format, std::forward<Args>(args)...).str();
}

/// What messages call a value: its name, or that of the op that computes it.
inline llvm::StringRef calledName(const Value &value) {
  const Op *op = value.definingOp();
  return value.name.empty() && op ? llvm::StringRef(op->def().name)
                                  : llvm::StringRef(value.name);
}

inline bool isOneOf(const Op &op, std::initializer_list<const OpDef *> rows) {
  return llvm::is_contained(rows, &op.def());
}

/// Whether `value` is known when the program is compiled.
inline bool isConstant(const Value *value) {
  const Op *op = value->definingOp();
  return op &&
         (op->def().has(trait::Stored) || op->def().has(trait::Constexpr));
}

/// The element of a constant operand with one element; nothing for other
/// operands, and where the weight file that has it is missing.
inline std::optional<double> scalarConstant(const Value *value) {
  const Op *op = value ? value->definingOp() : nullptr;
  if (!op || !op->is(ops::Const) || value->type.numElements() != 1)
    return std::nullopt;
  const Constant &array = *op->constant(param::val);
  if (array.origin() && array.origin()->missing)
    return std::nullopt;
  return array.doubleAt(0);
}

/// The op that computes an operand, if its row is `def`; otherwise null.
inline const Op *producer(const Value *value, const OpDef &def) {
  const Op *op = value ? value->definingOp() : nullptr;
  return op && op->is(def) ? op : nullptr;
}

/// Whether `op` reduces axes.
inline bool isReduction(const Op &op) {
  return isOneOf(op,
                 {&ops::ReduceL1Norm, &ops::ReduceL2Norm, &ops::ReduceLogSum,
                  &ops::ReduceLogSumExp, &ops::ReduceMax, &ops::ReduceMean,
                  &ops::ReduceMin, &ops::ReduceProd, &ops::ReduceSum,
                  &ops::ReduceSumSquare});
}

/// The number of elements reduced to one element of the result.
inline int64_t reducedElements(const Op &op) {
  int64_t results = op.result()->type.numElements();
  return results ? op.operand(0)->type.numElements() / results : 0;
}

inline int64_t extentFromEnd(const TensorType &type, unsigned fromEnd) {
  return type.rank() > fromEnd ? type.shape[type.rank() - 1 - fromEnd] : 1;
}

/// Whether `axis` is the last axis of `value`.
inline bool isLastAxis(int64_t axis, const Value *value) {
  return axis == -1 || axis == int64_t(value->type.rank()) - 1;
}

/// The contracted extent of a `matmul`.
inline int64_t contraction(const Op &matmul) {
  const TensorType &x = matmul.operand(0)->type;
  if (x.rank() < 2)
    return extentFromEnd(x, 0);
  return extentFromEnd(x, matmul.get(param::transposeX) ? 1 : 0);
}

/// The type of a convolution's weight, [out, in / groups, kernel...].
inline const TensorType &convWeight(const Op &conv) {
  return conv.operand(param::weight)->type;
}

/// The op that makes a chain of ops longer than `most`, each using the one
/// before, when only ops that `counts` accepts count; null for none.
inline const Op *endOfChain(const Function &function, unsigned most,
                            llvm::function_ref<bool(const Op &)> counts) {
  llvm::DenseMap<const Op *, unsigned> chains; ///< the longest that end here
  for (const Op &op : function.body()) {
    if (!counts(op))
      continue;
    unsigned before = 0;
    for (const Value *operand : op.operandValues())
      if (operand && operand->definingOp())
        before = std::max(before, chains.lookup(operand->definingOp()));
    if (before == most)
      return &op;
    chains[&op] = before + 1;
  }
  return nullptr;
}

/// Visits the statements of all functions of a text.
inline void
eachStatement(const MILOutline &text,
              llvm::function_ref<void(const OutlineStatement &)> statement) {
  for (const OutlineFunction &function : text.functions)
    for (const OutlineStatement &each : function.statements)
      statement(each);
}

} // namespace anec

#endif // ANEC_LIB_TARGET_PREDICATES_H
