//===- ReferenceStep.cpp - evaluates any op by its reference --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/Runtime/Elements.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// An operand or result and its memory.
struct ReferencePlace {
  RefTensor tensor;
  uint32_t *words = nullptr;
  Rounding rounding = Rounding::None;

  void load() { loadDoubles(tensor.type.dtype, words, tensor.data); }
  void store() const {
    storeDoubles(storedType(tensor.type.dtype, rounding), tensor.data, words);
  }
};

ReferencePlace makePlace(const Value *value, StepContext &ctx) {
  ReferencePlace place;
  place.tensor = {value->type, std::vector<double>(value->type.numElements())};
  place.words = ctx.storage.words(value);
  place.rounding = ctx.rounding(value);
  return place;
}

struct State {
  const OpDef *def;
  llvm::SmallVector<ConstantRef, 4> constants;
  std::vector<ReferencePlace> operands;
  llvm::SmallVector<const RefTensor *, 4> in; ///< null where absent
  std::vector<ReferencePlace> results;
};

} // namespace

StepFn cpu::makeUnaryReference(const Op &op, StepContext &ctx) {
  if (!op.def().has(trait::Elementwise) || op.numOperands() != 1 ||
      op.numResults() != 1)
    return {};
  const Value *x = op.operand(0u), *result = op.result();
  const OpDef *def = &op.def();
  llvm::SmallVector<ConstantRef, 4> constants(op.constants());
  const uint32_t *from = ctx.storage.words(x);
  uint32_t *to = ctx.storage.words(result);
  DType read = x->type.dtype, computed = result->type.dtype;
  DType stored = storedType(computed, ctx.rounding(result));
  size_t count = size_t(x->type.numElements());
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(count, 2048, [&](size_t begin, size_t end, unsigned) {
      int64_t part = int64_t(end - begin);
      RefTensor in{TensorType(read, {part}), std::vector<double>(end - begin)};
      std::vector<RefTensor> out{{TensorType(computed, {part}), in.data}};
      loadDoubles(read, from + begin, in.data);
      const RefTensor *operand = &in;
      EvalContext eval{*def, constants, operand, out};
      def->eval(eval);
      storeDoubles(stored, out.front().data, to + begin);
    });
  };
}

StepFn cpu::makeReference(const Op &op, StepContext &ctx) {
  if (!op.def().eval)
    return {};
  auto state = std::make_shared<State>();
  state->def = &op.def();
  state->constants.assign(op.constants().begin(), op.constants().end());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    state->operands.push_back(
        op.operand(slot) ? makePlace(op.operand(slot), ctx) : ReferencePlace());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    state->in.push_back(op.operand(slot) ? &state->operands[slot].tensor
                                         : nullptr);
  for (const Value *result : op.resultValues())
    state->results.push_back(makePlace(result, ctx));
  return [state] {
    for (ReferencePlace &operand : state->operands)
      operand.load();
    std::vector<RefTensor> out;
    for (ReferencePlace &result : state->results)
      out.push_back(std::move(result.tensor));
    EvalContext eval{*state->def, state->constants, state->in, out};
    state->def->eval(eval);
    for (size_t i = 0; i < out.size(); ++i) {
      state->results[i].tensor = std::move(out[i]);
      state->results[i].store();
    }
  };
}
