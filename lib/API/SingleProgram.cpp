//===- SingleProgram.cpp - runs a MIL program -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SingleProgram.h"
#include "lib/API/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/ProgramRun.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::api;

std::vector<std::string> SingleProgram::functions() const {
  std::vector<std::string> names;
  for (const auto &function : module->functions)
    names.push_back(function->name);
  return names;
}

Executable *SingleProgram::prepare(llvm::StringRef function,
                                   Diagnostics &diags) {
  if (auto known = executables.find(function); known != executables.end())
    return known->second.get();
  const Function *found = findFunctionToRun(*module, function, diags);
  if (!found)
    return nullptr;
  std::unique_ptr<Executable> loaded = backend.load(*found, load, diags);
  if (!loaded)
    return nullptr;
  return (executables[function] = std::move(loaded)).get();
}

bool SingleProgram::run(llvm::StringRef function,
                        llvm::ArrayRef<InputArray> inputs,
                        llvm::ArrayRef<OutputArray> outputs,
                        Diagnostics &diags) {
  Executable *executable = prepare(function, diags);
  if (!executable)
    return false;
  auto none = [](size_t) -> std::optional<float> { return std::nullopt; };
  PortArrays arrays;
  if (!arrays.takeInputs("input", executable->inputs(), inputs, none, diags) ||
      !arrays.takeOutputs("output", executable->outputs(), outputs, diags) ||
      !executable->run(arrays.inputs(), arrays.outputs(), diags))
    return false;
  arrays.giveOutputs(executable->outputs(), outputs);
  return true;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

Executable *SingleProgram::findState(llvm::StringRef name, unsigned &index,
                                     Diagnostics &diags) {
  std::vector<std::string> known;
  for (const auto &entry : executables)
    for (auto [number, port] : llvm::enumerate(entry.second->states())) {
      if (port.name == name) {
        index = unsigned(number);
        return entry.second.get();
      }
      known.push_back("`" + port.name + "`");
    }
  llvm::sort(known);
  diags.report({}, diag::NoSuchInput, "state", name,
               known.empty() ? "none" : llvm::join(known, ", "));
  return nullptr;
}

bool SingleProgram::setState(const InputArray &state, Diagnostics &diags) {
  unsigned index = 0;
  Executable *executable = findState(state.name, index, diags);
  if (!executable)
    return false;
  auto none = [](size_t) -> std::optional<float> { return std::nullopt; };
  PortArrays arrays;
  if (!arrays.takeInputs("state", executable->states().slice(index, 1), state,
                         none, diags))
    return false;
  return executable->setState(index, arrays.inputs().front(), diags);
}

bool SingleProgram::getState(const OutputArray &state, Diagnostics &diags) {
  unsigned index = 0;
  Executable *executable = findState(state.name, index, diags);
  if (!executable)
    return false;
  PortArrays arrays;
  llvm::ArrayRef<Port> ports = executable->states().slice(index, 1);
  if (!arrays.takeOutputs("state", ports, state, diags))
    return false;
  if (!executable->getState(index, arrays.outputs().front(), diags))
    return false;
  arrays.giveOutputs(ports, state);
  return true;
}
