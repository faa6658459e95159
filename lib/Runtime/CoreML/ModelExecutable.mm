//===- ModelExecutable.mm - a model with arrays of its own ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelExecutable.h"
#include "States.h"
#include "anec/Runtime/Diags.h"

using namespace anec;
using namespace anec::coreml;

std::unique_ptr<ModelExecutable>
ModelExecutable::make(std::shared_ptr<LoadedModel> model,
                      const WrittenPackage &package, uint64_t constantBytes,
                      Diagnostics &diags) {
  std::unique_ptr<ModelExecutable> made(new ModelExecutable);
  for (const PackagedPort &each : package.inputs) {
    made->inputPorts.push_back(each.port);
    made->inputArrays.emplace_back(each.port, each.elements);
  }
  for (const PackagedPort &each : package.outputs) {
    made->outputPorts.push_back(each.port);
    made->outputArrays.emplace_back(each.port, each.elements);
  }
  for (const PackagedPort &each : package.states)
    made->statePorts.push_back(each.port);
  made->model = std::move(model);
  made->weightBytes = constantBytes;
  if (made->statePorts.empty())
    return made;
  made->state = made->model->makeState(diags);
  return made->state ? std::move(made) : nullptr;
}

bool ModelExecutable::writeInput(unsigned port, const Region &region,
                                 const float *elements, Diagnostics &) {
  inputArrays[port].write(region, elements);
  return true;
}

bool ModelExecutable::readOutput(unsigned port, const Region &region,
                                 float *elements, Diagnostics &) {
  outputArrays[port].read(region, elements);
  return true;
}

bool ModelExecutable::execute(Diagnostics &diags) {
  for (HostArray &array : outputArrays)
    array.markUnwritten();
  if (!model->predict(inputArrays, outputArrays, state.get(), diags))
    return false;
  for (const HostArray &array : outputArrays)
    if (array.isUnwritten()) {
      diags.report({}, diag::CoreMLNothingComputed, array.port().name);
      return false;
    }
  return true;
}

bool ModelExecutable::run(
    llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
    llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
    Diagnostics &diags) {
  assert(inputs.size() == inputPorts.size() &&
         outputs.size() == outputPorts.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    inputArrays[i].write(inputs[i]);
  if (!execute(diags))
    return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    outputArrays[i].read(outputs[i]);
  return true;
}

bool ModelExecutable::setState(unsigned index, llvm::ArrayRef<uint8_t> elements,
                               Diagnostics &diags) {
  return writeState(state.get(), statePorts[index].name, elements, diags);
}

bool ModelExecutable::getState(unsigned index,
                               llvm::MutableArrayRef<uint8_t> elements,
                               Diagnostics &diags) {
  return readState(state.get(), statePorts[index].name, elements, diags);
}

uint64_t ModelExecutable::activationBytes() const {
  uint64_t bytes = 0;
  for (const HostArray &array : inputArrays)
    bytes += array.bytes().size();
  for (const HostArray &array : outputArrays)
    bytes += array.bytes().size();
  return bytes;
}
