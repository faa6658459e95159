//===- Signals.cpp - signals that end a tool ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Signals.h"
#include "ExitCode.h"
#include "lib/Support/MappedRanges.h"
#include "lib/Support/Unfinished.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

static std::atomic<bool> stopsOnRequest{false}, isRequested{false};
static std::atomic<int> requestedBy{0};
static_assert(std::atomic<bool>::is_always_lock_free);

/// Requests to end, from a user or the system.
static constexpr int requests[] = {SIGINT, SIGTERM, SIGHUP};
/// Faults of the program, raised by the instruction that the handler returns
/// to.
static constexpr int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
/// Other signals that end a process.
static constexpr int others[] = {SIGQUIT, SIGABRT, SIGPIPE, SIGALRM,  SIGSYS,
                                 SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM};

/// What was there before, such as the handlers of sanitizers.
static struct sigaction previous[64];

static bool isOneOf(const int *first, const int *last, int signal) {
  return std::find(first, last, signal) != last;
}

static void print(const char *text) {
  [[maybe_unused]] auto written =
      ::write(STDERR_FILENO, text, std::strlen(text));
}

/// Ends the process if `address` is in a mapped file: it became shorter, or it
/// cannot be read. Nothing here allocates.
static void endWithMappedFile(const void *address) {
  anec::MappedRange file = anec::mappedFileAt(address);
  if (!file.path)
    return;
  struct stat now = {};
  bool isShorter = !::stat(file.path, &now) && now.st_size < off_t(file.size);
  print(file.path);
  print(isShorter ? ": error: cannot open the file: it became shorter while it "
                    "was read [cannot-open]\n"
                  : ": error: cannot open the file: it could not be read to "
                    "its end [cannot-open]\n");
  anec::removeUnfinished();
  ::_exit(isShorter ? anec::InputError : anec::MachineError);
}

static void handle(int signal, siginfo_t *info, void *) {
  bool isRequest = isOneOf(std::begin(requests), std::end(requests), signal);
  if (isRequest && stopsOnRequest && !isRequested.exchange(true)) {
    requestedBy = signal;
    return;
  }
  if (signal == SIGBUS)
    endWithMappedFile(info->si_addr);
  anec::removeUnfinished();
  ::sigaction(signal, &previous[signal], nullptr);
  // A fault happens again when the handler returns, with its address; a signal
  // that a process sent does not.
  bool isFault = isOneOf(std::begin(faults), std::end(faults), signal) &&
                 info->si_code > 0 && info->si_code != SI_USER;
  if (!isFault)
    ::raise(signal);
}

/// Lets the handler run when the main thread's stack has overflowed.
static void useOwnStack() {
  static char stack[64 << 10];
  stack_t before = {};
  // A sanitizer may have set one.
  if (::sigaltstack(nullptr, &before) || !(before.ss_flags & SS_DISABLE))
    return;
  stack_t own = {};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  ::sigaltstack(&own, nullptr);
}

void anec::catchSignals() {
  useOwnStack();
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask); // A macro on macOS, which `::` would break.
  auto take = [&](int signal) {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) || before.sa_handler == SIG_IGN)
      return;
    previous[signal] = before;
    ::sigaction(signal, &action, nullptr);
  };
  for (int signal : requests)
    take(signal);
  for (int signal : faults)
    take(signal);
  for (int signal : others)
    take(signal);
  // A write beyond the limit of `ulimit -f` is an error like a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
}

void anec::catchRequestsToStop() { stopsOnRequest = true; }

void anec::requestToStop() { isRequested = true; }

void anec::endOnRequestsToStop() {
  stopsOnRequest = false;
  isRequested = false;
  requestedBy = 0;
}

int anec::stopSignal() { return requestedBy; }

const std::atomic<bool> &anec::stopRequested() { return isRequested; }
