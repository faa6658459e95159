//===- HostExecutable.mm - a program with arrays of its own ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostExecutable.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

HostExecutable::HostExecutable(std::shared_ptr<Program> made,
                               const ProgramPorts &ports,
                               uint64_t constantBytes)
    : ArrayExecutable(constantBytes), program(std::move(made)) {
  for (const Port &port : ports.inputs)
    addInput(port, ports.elementType(port));
  for (const Port &port : ports.outputs)
    addOutput(port, ports.elementType(port));
}

bool HostExecutable::compute(llvm::ArrayRef<HostArray> inputs,
                             llvm::MutableArrayRef<HostArray> outputs,
                             Diagnostics &diags) {
  return program->evaluate({nil, inputs, outputs}, nullptr, diags);
}

void HostExecutable::reportUnwritten(llvm::StringRef output,
                                     Diagnostics &diags) const {
  diags.report({}, diag::AneNothingComputed, output,
               spelling(program->engine().options.path));
}
