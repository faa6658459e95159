//===- ArrayExecutable.cpp - a program with arrays of its own -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ArrayExecutable.h"
#include "Measures.h"

using namespace anec;
using namespace anec::apple;

void ArrayExecutable::addInput(const Port &port, DType elements) {
  inputPorts.push_back(port);
  inputArrays.emplace_back(port, elements);
}

void ArrayExecutable::addOutput(const Port &port, DType elements) {
  outputPorts.push_back(port);
  outputArrays.emplace_back(port, elements);
}

bool ArrayExecutable::writeInput(unsigned port, const Region &region,
                                 const float *elements, Diagnostics &) {
  inputArrays[port].write(region, elements);
  return true;
}

bool ArrayExecutable::readOutput(unsigned port, const Region &region,
                                 float *elements, Diagnostics &) {
  outputArrays[port].read(region, elements);
  return true;
}

bool ArrayExecutable::execute(Diagnostics &diags) {
  for (HostArray &array : outputArrays)
    array.markUnwritten();
  if (!compute(inputArrays, outputArrays, diags))
    return false;
  for (const HostArray &array : outputArrays)
    if (array.isUnwritten() && takes(Measure::MarkedOutputs)) {
      reportUnwritten(array.port().name, diags);
      return false;
    }
  return true;
}

bool ArrayExecutable::run(
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

uint64_t ArrayExecutable::activationBytes() const {
  uint64_t bytes = 0;
  for (const HostArray &array : inputArrays)
    bytes += array.bytes().size();
  for (const HostArray &array : outputArrays)
    bytes += array.bytes().size();
  return bytes;
}
