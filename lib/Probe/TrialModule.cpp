//===- TrialModule.cpp - the program of a trial ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrialModule.h"
#include "anec/API/ProgramSession.h"

using namespace anec;

std::unique_ptr<Module> anec::compileTrial(const TrialProgram &program,
                                           const Target &target,
                                           Diagnostics &diags) {
  CompileOptions compile;
  compile.setTarget(target);
  compile.weights.seed = 1;
  std::string name = std::string(program.name) + "." + program.language;
  std::optional<CompiledProgram> compiled =
      compileText(program.text, name, compile, diags);
  return compiled ? compiled->readBack(diags) : nullptr;
}
