//===- HostExecutable.mm - a program with arrays of its own ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostExecutable.h"
#include "anec/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

HostExecutable::HostExecutable(std::shared_ptr<Program> made,
                               const ProgramPorts &ports,
                               uint64_t constantBytes)
    : program(std::move(made)), weightBytes(constantBytes) {
  inputPorts = ports.inputs;
  outputPorts = ports.outputs;
  for (const Port &port : inputPorts)
    inputArrays.emplace_back(port, ports.elementType(port));
  for (const Port &port : outputPorts)
    outputArrays.emplace_back(port, ports.elementType(port));
}

bool HostExecutable::writeInput(unsigned port, const Region &region,
                                const float *elements, Diagnostics &) {
  inputArrays[port].write(region, elements);
  return true;
}

bool HostExecutable::readOutput(unsigned port, const Region &region,
                                float *elements, Diagnostics &) {
  outputArrays[port].read(region, elements);
  return true;
}

bool HostExecutable::execute(Diagnostics &diags) {
  for (HostArray &array : outputArrays)
    array.markUnwritten();
  if (!program->evaluate({nil, inputArrays, outputArrays}, nullptr, diags))
    return false;
  for (const HostArray &array : outputArrays)
    if (array.isUnwritten()) {
      diags.report({}, diag::AneNothingComputed, array.port().name,
                   spelling(program->engine().options.path));
      return false;
    }
  return true;
}

bool HostExecutable::run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
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

uint64_t HostExecutable::activationBytes() const {
  uint64_t bytes = 0;
  for (const HostArray &array : inputArrays)
    bytes += array.bytes().size();
  for (const HostArray &array : outputArrays)
    bytes += array.bytes().size();
  return bytes;
}
