//===- ReferenceStep.cpp - any op, through its row ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "anec/Ops/Interpreter.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// An operand or result and where it lives.
struct Place {
  RefTensor tensor;
  uint32_t *words = nullptr;
  Rounding rounding = Rounding::None;

  void load() {
    const float *floats = reinterpret_cast<const float *>(words);
    const int32_t *ints = reinterpret_cast<const int32_t *>(words);
    bool real = isFloat(tensor.type.dtype);
    for (size_t i = 0; i < tensor.data.size(); ++i)
      tensor.data[i] = real ? double(floats[i]) : double(ints[i]);
  }
  void store() const {
    float *floats = reinterpret_cast<float *>(words);
    int32_t *ints = reinterpret_cast<int32_t *>(words);
    DType dtype = tensor.type.dtype;
    if (dtype == DType::FP16 && rounding == Rounding::None)
      dtype = DType::FP32;
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      double value = roundToDType(tensor.data[i], dtype);
      if (isFloat(dtype))
        floats[i] = float(value);
      else
        ints[i] = int32_t(int64_t(value));
    }
  }
};

Place makePlace(const Value *value, StepContext &ctx) {
  Place place;
  place.tensor = {value->type, std::vector<double>(value->type.numElements())};
  place.words = ctx.storage.words(value);
  place.rounding = ctx.rounding(value);
  return place;
}

struct State {
  const OpDef *def;
  llvm::SmallVector<ConstantRef, 4> constants;
  std::vector<Place> operands;
  llvm::SmallVector<const RefTensor *, 4> in; ///< null where absent
  std::vector<Place> results;
};

} // namespace

StepFn cpu::makeReference(const Op &op, StepContext &ctx) {
  if (!op.def().eval)
    return {};
  auto state = std::make_shared<State>();
  state->def = &op.def();
  state->constants.assign(op.constants().begin(), op.constants().end());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    state->operands.push_back(
        op.operand(slot) ? makePlace(op.operand(slot), ctx) : Place());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    state->in.push_back(op.operand(slot) ? &state->operands[slot].tensor
                                         : nullptr);
  for (const Value *result : op.resultValues())
    state->results.push_back(makePlace(result, ctx));
  return [state] {
    for (Place &operand : state->operands)
      operand.load();
    std::vector<RefTensor> out;
    for (Place &result : state->results)
      out.push_back(std::move(result.tensor));
    EvalContext eval{*state->def, state->constants, state->in, out};
    state->def->eval(eval);
    for (size_t i = 0; i < out.size(); ++i) {
      state->results[i].tensor = std::move(out[i]);
      state->results[i].store();
    }
  };
}
