//===- ModelExecutable.mm - a model with arrays of its own ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelExecutable.h"
#include "States.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::coreml;

std::unique_ptr<ModelExecutable>
ModelExecutable::make(std::shared_ptr<LoadedModel> model,
                      const WrittenPackage &package, uint64_t constantBytes,
                      Diagnostics &diags) {
  std::unique_ptr<ModelExecutable> made(new ModelExecutable(constantBytes));
  for (const PackagedPort &each : package.inputs)
    made->addInput(each.port, each.elements);
  for (const PackagedPort &each : package.outputs)
    made->addOutput(each.port, each.elements);
  for (const PackagedPort &each : package.states)
    made->statePorts.push_back(each.port);
  made->model = std::move(model);
  if (made->statePorts.empty())
    return made;
  made->state = made->model->makeState(diags);
  return made->state ? std::move(made) : nullptr;
}

bool ModelExecutable::compute(llvm::ArrayRef<HostArray> inputs,
                              llvm::MutableArrayRef<HostArray> outputs,
                              Diagnostics &diags) {
  return model->predict(inputs, outputs, state.get(), diags);
}

void ModelExecutable::reportUnwritten(llvm::StringRef output,
                                      Diagnostics &diags) const {
  diags.report({}, diag::CoreMLNothingComputed, output);
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
