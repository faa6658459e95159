//===- Ledger.h - what a test knows of the double --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The double counts what is alive and what was asked of it, and fails a call
/// when it is told to. Environment variables say the same for whole processes:
///
///   ANE_DOUBLE_FAIL=7:raise            the seventh call raises, or throws
///   ANE_DOUBLE_FAIL=7:throw            what is no exception
///   ANE_DOUBLE_FAIL=7:status=0x1d      it fails with this text as its error
///   ANE_DOUBLE_REPORT=FILE             appends the counts when a process ends
///   ANE_DOUBLE_QUIET=1                 models have no attributes
///   ANE_DOUBLE_REFUSE=TEXT             the compiler refuses programs with it,
///   ANE_DOUBLE_CRASH=TEXT              crashes on it, or never ends
///   ANE_DOUBLE_HANG=TEXT
///   ANE_DOUBLE_EXIT=TEXT               ends as ane-run does for want of memory
///   ANE_DOUBLE_TAKES=RULE,RULE         takes texts that break these, see
///                                      Text.h
///   ANE_DOUBLE_NUMERICS=m1|m3|m4       computes as is published of a chip
///   ANE_DOUBLE_ODD=layout|names        attributes say what nobody expects
///   ANE_DOUBLE_ODD=unseen              nobody is told of compiled programs
///   ANE_DOUBLE_ODD=idle|zeros          E5 computes nothing, or zeros
///   ANE_DOUBLE_ODD=own-arrays          Core ML writes to arrays of its own
///   ANE_DOUBLE_ODD=description         describes other types than a program's
///   ANE_DOUBLE_ODD=plans               plans have no functions
///   ANE_DOUBLE_ODD=no-stats            requests have no statistics
///   ANE_DOUBLE_ODD=procedures          programs have two equal procedures
///   ANE_DOUBLE_ODD=chains              chained requests are prepared
///   ANE_DOUBLE_SYSTEM=26.5             behaves as this macOS; 27 otherwise
///   ANE_DOUBLE_SLEEP=SECONDS           goes to sleep when it is idle for so
///                                      long, instead of after 5 seconds
///   ANE_DOUBLE_TRAPS=TRAP,TRAP         does what some chips and systems do,
///   see
///                                      Traps.h
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_LEDGER_H
#define ANEC_TEST_ANE_LEDGER_H

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>

namespace ane_double {

struct Ledger {
  /// What is alive. Arrays and buffers of E5 are surfaces, its libraries are
  /// models, and its ports, streams and engines are requests.
  std::atomic<int> surfaces{0}, locks{0}, models{0}, requests{0}, loaded{0};
  /// What was asked for.
  std::atomic<unsigned> calls{0}, compiles{0}, loads{0}, evaluations{0};
  /// Of the evaluations, those by these methods of the client.
  std::atomic<unsigned> directEvaluations{0}, realTimeEvaluations{0};
  /// And those by the other paths.
  std::atomic<unsigned> processedRequests{0}, e5Runs{0}, e5rtRuns{0};
  /// The procedure of the last request that ran.
  std::atomic<unsigned> lastProcedure{0};

  /// Limits of the real engine.
  std::atomic<unsigned> compileLimit{119}, loadedLimit{127};
  bool isQuiet = false;
  std::string odd;

  /// The macOS that it behaves as: 26.5 is 26.5.
  double system = 27;
  /// See Double/Traps.h.
  std::set<std::string> traps;
  bool isTrapped(const char *trap) const { return traps.count(trap); }
  /// How long the engine is awake without work, and when it had some last; when
  /// it is awake again.
  std::atomic<double> sleepSeconds = 5;
  std::chrono::steady_clock::time_point lastWork =
      std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point awakeAt{};
  std::atomic<unsigned> cancelled{0};
  /// With the trap `decay`, runs of a loaded program that are not slow.
  unsigned fastRuns = 25000;
  std::atomic<unsigned> slowRuns{0};
  /// With the trap `tile`, whether a program with one has run.
  std::atomic<bool> isPoisoned{false};

  /// Fails this call, and so many after it, with `failure`; 0 for none.
  std::atomic<unsigned> failAt{0}, failCount{1};
  std::string failure;
};

Ledger &ledger();
/// Counts a call: the error to fail it with, null for none.
const char *countCall();

} // namespace ane_double

struct AnecShimSurface;
/// The memory of a surface, as the engine sees it.
unsigned char *anecShimMemory(AnecShimSurface *surface);

#endif // ANEC_TEST_ANE_LEDGER_H
