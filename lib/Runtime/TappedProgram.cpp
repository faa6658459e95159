//===- TappedProgram.cpp - programs with further results ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TappedProgram.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

const Constant *WeightUse::value() const {
  return op->operand(slot)->definingOp()->constant(param::val);
}

std::vector<WeightUse> anec::constantWeights(Function &function) {
  std::vector<WeightUse> uses;
  for (Op &op : function.body())
    for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
      const Value *operand = op.operand(slot);
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (!source || !source->is(ops::Const) || operand->type.rank() < 2 ||
          (operand->type.dtype != DType::FP16 &&
           operand->type.dtype != DType::FP32))
        continue;
      if (std::optional<ProductAxes> axes = productAxes(op, slot))
        uses.push_back({&op, slot, *axes});
    }
  return uses;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

namespace {

class TappedExecutable : public Executable {
public:
  TappedExecutable(std::unique_ptr<Executable> program, std::vector<Tap> taps,
                   size_t bindings);

  bool setState(unsigned state, llvm::ArrayRef<uint8_t> bytes,
                Diagnostics &diags) override {
    return program->setState(state, bytes, diags);
  }
  bool getState(unsigned state, llvm::MutableArrayRef<uint8_t> bytes,
                Diagnostics &diags) override {
    return program->getState(state, bytes, diags);
  }
  bool writeInput(unsigned port, const Region &region, const float *elements,
                  Diagnostics &diags) override {
    return program->writeInput(port, region, elements, diags);
  }
  bool readOutput(unsigned port, const Region &region, float *elements,
                  Diagnostics &diags) override {
    return program->readOutput(port, region, elements, diags);
  }
  bool execute(Diagnostics &diags) override;
  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &diags) override;
  uint64_t constantBytes() const override { return program->constantBytes(); }
  uint64_t activationBytes() const override {
    return program->activationBytes();
  }

private:
  std::unique_ptr<Executable> program;
  std::vector<Tap> taps;
  std::vector<std::vector<float>> elements; ///< of each tap
};

} // namespace

TappedExecutable::TappedExecutable(std::unique_ptr<Executable> inner,
                                   std::vector<Tap> added, size_t bindings)
    : program(std::move(inner)), taps(std::move(added)) {
  inputPorts = program->inputs().vec();
  outputPorts = program->outputs().drop_back(taps.size()).vec();
  statePorts = program->states().vec();
  for (size_t index = 0; index < bindings; ++index)
    bound.push_back(program->isBound(index));
  for (const Port &port : program->outputs().take_back(taps.size()))
    elements.emplace_back(size_t(port.type.numElements()));
}

bool TappedExecutable::execute(Diagnostics &diags) {
  if (!program->execute(diags))
    return false;
  for (auto [index, tap] : llvm::enumerate(taps)) {
    size_t port = outputPorts.size() + index;
    const Shape &shape = program->outputs()[port].type.shape;
    Region whole{0, 0, shape[1], shape[3]};
    if (!program->readOutput(unsigned(port), whole, elements[index].data(),
                             diags))
      return false;
    tap.take(elements[index]);
  }
  return true;
}

bool TappedExecutable::run(
    llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
    llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
    Diagnostics &diags) {
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> all(outputs.begin(),
                                                        outputs.end());
  for (std::vector<float> &own : elements)
    all.push_back(
        {reinterpret_cast<uint8_t *>(own.data()), own.size() * sizeof(float)});
  if (!program->run(inputs, all, diags))
    return false;
  for (auto [tap, own] : llvm::zip_equal(taps, elements))
    tap.take(own);
  return true;
}

BackendCapabilities anec::capabilitiesWithTaps(const Backend &backend) {
  BackendCapabilities capabilities = backend.capabilities();
  capabilities.loadsInBackground = false;
  capabilities.takesText = false;
  return capabilities;
}

std::unique_ptr<Executable>
anec::loadTapped(Backend &backend, Function &function, std::vector<Tap> taps,
                 const LoadOptions &options, Diagnostics &diags) {
  llvm::SmallVector<Value *> results(function.resultValues());
  std::vector<std::string> names(function.resultNames());
  std::vector<ValueRole> roles(function.resultRoles());
  for (const Tap &tap : taps) {
    names.push_back("calibration " + std::to_string(results.size()));
    results.push_back(tap.value);
    roles.push_back(ValueRole::Output);
  }
  llvm::SmallVector<llvm::StringRef> views(names.begin(), names.end());
  function.setResults(results, views, roles);
  std::unique_ptr<Executable> program = backend.load(function, options, diags);
  if (!program)
    return nullptr;
  return std::make_unique<TappedExecutable>(std::move(program), std::move(taps),
                                            options.bindings.size());
}
