//===- MILOutput.cpp - MIL text and its weight files ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "lib/MIL/Canonical.h"
#include "lib/Support/Endings.h"

using namespace anec;

static bool compileToMIL(std::unique_ptr<Module> module,
                         const BuildRequest &request, const OutputPlace &place,
                         BuildResult &result, Diagnostics &diags) {
  std::optional<CompiledProgram> program = compileProgram(
      std::move(module), request, /*isCoreML=*/false, result, diags);
  if (!program)
    return false;
  if (request.canonical) {
    makeCanonical(*program->program);
    program->placement = MILPrintOptions::Placement::Gather;
  }
  // A device or a pipe has no folder for a weight file, as standard output.
  bool ok = false;
  if (place.isStream() || isSpecialFile(place.path)) {
    bool isWritten = place.write(
        [&](llvm::raw_ostream &out) { ok = program->print(out, diags); },
        diags);
    ok = ok && isWritten;
  } else {
    ok = program->write(place.path, diags);
  }
  result.module = std::move(program->program);
  return ok;
}

constinit const OutputFormat outputs::MIL = {
    .name = "mil",
    .ending = ".mil",
    .summary = "MIL text (default)",
    .runs = RunsPasses::ToFit,
    .takes = requests::weights | requests::chip | requests::quantizing |
             RequestFlags{RequestFlag::Kernel, RequestFlag::Passes,
                          RequestFlag::Precision, RequestFlag::Lora,
                          RequestFlag::MILVersion, RequestFlag::Canonical},
    .takesWithStates = requests::states,
    .compile = compileToMIL,
};
