//===- FatalErrors.cpp - fatal errors of LLVM -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FatalErrors.h"
#include "ExitCode.h"
#include "lib/Support/Unfinished.h"

using namespace anec;

void anec::endOnFatalErrors() {
  llvm::install_fatal_error_handler([](void *, const char *message, bool) {
    llvm::StringRef parts[] = {"error: ", message, "\n"};
    for (llvm::StringRef part : parts) {
      [[maybe_unused]] auto written =
          ::write(STDERR_FILENO, part.data(), part.size());
    }
    removeUnfinished();
    ::_exit(MachineError);
  });
}
