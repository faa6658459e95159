//===- OwnProcess.cpp - runs a command in a process of its own ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OwnProcess.h"
#include "BackendFlags.h"
#include "lib/Runtime/Diags.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace anec;

/// The environment variable of the option `own-process`.
static constexpr char ownProcessVariable[] = "ANEC_OWN_PROCESS";

/// The signals that users and systems send to end a command, which its process
/// handles.
static constexpr int stopSignals[] = {SIGINT, SIGTERM, SIGHUP};

static volatile pid_t child = 0;

static void pass(int signal) {
  // The terminal sends SIGINT to the child, too.
  if (child > 0 && signal != SIGINT)
    ::kill(child, signal);
}

namespace {
/// Passes requests on to the child as long as it lives. Those that this process
/// ignores stay ignored.
class PassedSignals {
public:
  PassedSignals() {
    struct sigaction action = {};
    action.sa_handler = pass;
    for (unsigned i = 0; i < std::size(stopSignals); ++i) {
      ::sigaction(stopSignals[i], nullptr, &before[i]);
      if (before[i].sa_handler != SIG_IGN)
        ::sigaction(stopSignals[i], &action, nullptr);
    }
  }
  ~PassedSignals() { restore(); }
  void restore() const {
    for (unsigned i = 0; i < std::size(stopSignals); ++i)
      ::sigaction(stopSignals[i], &before[i], nullptr);
  }

private:
  struct sigaction before[std::size(stopSignals)] = {};
};
} // namespace

static int waitFor(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// What the end of the child is for this process.
static int exitCodeOf(int status, llvm::StringRef path) {
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  // It was ended from outside, and so is this process.
  for (int request : {SIGINT, SIGTERM, SIGHUP, SIGKILL})
    if (signal == request) {
      std::signal(signal, SIG_DFL);
      ::raise(signal);
    }
  return runReporting([&](Diagnostics &diags) {
    diags.report({}, diag::AneProcessCrashed, path, signal,
                 ::strsignal(signal));
    return false;
  });
}

std::optional<int> anec::runInOwnProcess(const CommandDef &command,
                                         char **arguments) {
  // A process that another one of this tool started.
  if (command.isHidden)
    ::setenv(ownProcessVariable, "true", /*overwrite=*/1);
  const MachineFlags *flags = MachineFlags::ofCommand();
  if (!flags || !flags->check().empty())
    return std::nullopt;
  BackendChoice choice = flags->choice();
  if (!choice.row->needsOwnProcess ||
      !choice.row->needsOwnProcess(choice.settings))
    return std::nullopt;
  std::string program = ownExecutable();
  PassedSignals passed;
  pid_t process = ::fork();
  if (process == 0) {
    passed.restore();
    ::setenv(ownProcessVariable, "true", /*overwrite=*/1);
    ::execv(program.c_str(), arguments);
    ::_exit(MachineError);
  }
  // Without a process, the backend says that it needs one.
  if (process < 0)
    return std::nullopt;
  child = process;
  int status = waitFor(process);
  child = 0;
  passed.restore();
  return exitCodeOf(status, choice.valueOf("path"));
}
