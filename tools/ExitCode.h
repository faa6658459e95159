//===- ExitCode.h - exit codes of the tools ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The exit codes that all tools share, and how they are chosen.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_EXITCODE_H
#define ANEC_TOOLS_EXITCODE_H

#include "anec/Support/Diagnostics.h"
#include "anec/Target/KnownError.h"
#include "lib/API/Diags.h"
#include "lib/Bench/Diags.h"
#include "lib/Generate/Diags.h"
#include "lib/Package/Diags.h"
#include "lib/Passes/Diags.h"
#include "lib/Probe/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Unfinished.h"
#include "lib/Target/Diags.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace anec {

enum ExitCode {
  Done = 0,
  InputError = 1,
  UsageError = 2,
  MachineError = 3,
};

inline ExitCode usageError(llvm::StringRef tool, const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), tool) << message << '\n';
  return UsageError;
}

/// Removes unfinished files and ends with MachineError. Does not allocate.
[[noreturn]] inline void endForWantOfMemory() {
  constexpr llvm::StringLiteral message = "error: out of memory\n";
  [[maybe_unused]] auto written =
      ::write(STDERR_FILENO, message.data(), message.size());
  removeUnfinished();
  ::_exit(MachineError);
}

/// Makes the process end so when memory runs out.
inline void endWhenMemoryEnds() {
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endForWantOfMemory(); });
  llvm::install_out_of_memory_new_handler();
}

/// Flushes standard output, and reports an error such as a full disk.
inline void finishOutput(Diagnostics &diags) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return;
  diags.reportFile("<stdout>", diag::CannotWrite, out.error().message());
  out.clear_error();
}

/// The exit code for the reported errors. A file that cannot be written is a
/// failure of the machine; unknown passes and rules and invalid numbers are
/// wrong usage; all other errors are in the input.
inline ExitCode exitCode(bool ok, const Diagnostics &diags) {
  auto reported = [&](diag::AnyKind kind) {
    return llvm::any_of(diags.all(), [&](const Diagnostic &diagnostic) {
      return diagnostic.kind == kind;
    });
  };
  if (ok && !diags.hasErrors())
    return Done;
  // A file that cannot be mapped or read for want of memory is in order.
  bool isMemory = llvm::any_of(diags.all(), [](const Diagnostic &diagnostic) {
    return llvm::StringRef(diagnostic.message)
        .contains(std::generic_category().message(ENOMEM));
  });
  // Errors of the engine, of Core ML, or of a framework.
  bool ofEngine = llvm::any_of(diags.all(), [](const Diagnostic &diagnostic) {
    return diagnostic.severity() == Severity::Error &&
           (diagnostic.kind->id.starts_with("ane-") ||
            diagnostic.kind->id.starts_with("coreml-") ||
            diagnostic.kind == diag::FrameworkUnknown ||
            findKnownError(diagnostic.kind->id)) &&
           !(diagnostic.kind == diag::AneNoState) &&
           !(diagnostic.kind == diag::CoreMLStateType);
  });
  if (reported(diag::CannotWrite) || reported(diag::NoPlainFile) ||
      reported(diag::NoMemoryForWeight) || reported(diag::CannotRestart) ||
      reported(diag::RestartStuck) || reported(diag::RowsWithoutFigure) ||
      reported(diag::NoPathWorks) || reported(diag::CannotListen) ||
      reported(diag::NoHttpServer) || reported(diag::NoLanguageModels) ||
      ofEngine || isMemory)
    return MachineError;
  bool usage = reported(diag::UnknownPass) || reported(diag::UnknownRule) ||
               reported(diag::AssumptionForm) || reported(diag::OSForm) ||
               reported(diag::BadHyperparameter) ||
               reported(diag::BadPromptIds);
  return usage ? UsageError : InputError;
}

} // namespace anec

#endif // ANEC_TOOLS_EXITCODE_H
