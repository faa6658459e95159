//===- Restart.cpp - continues a run in a new process ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Restart.h"
#include "BackendFlags.h"
#include "lib/Train/Diags.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <unistd.h>

using namespace anec;

/// `STEP` or `STEP,validate`: where the previous process stopped.
static constexpr char restartVariable[] = "ANEC_RESTARTED_AT";

Restart::Restart(char **arguments) : arguments(arguments) {
  const char *text = std::getenv(restartVariable);
  if (!text)
    return;
  auto [step, what] = llvm::StringRef(text).split(',');
  before.isNeeded = !step.getAsInteger(10, before.step);
  before.validates = what == "validate";
}

bool Restart::run(Diagnostics &diags) {
  if (before.isNeeded && next.step <= before.step) {
    diags.report({}, diag::RestartStuck, before.step);
    return false;
  }
  std::string value =
      std::to_string(next.step) + (next.validates ? ",validate" : "");
  ::setenv(restartVariable, value.c_str(), /*overwrite=*/1);
  llvm::outs().flush();
  std::string program = ownExecutable();
  ::execv(program.c_str(), arguments);
  diags.reportFile(program, diag::CannotRestart,
                   std::generic_category().message(errno));
  return false;
}
