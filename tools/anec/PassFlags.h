//===- PassFlags.h - the flags of passes ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_PASSFLAGS_H
#define ANEC_TOOLS_ANEC_PASSFLAGS_H

#include "../NumberFlag.h"
#include "lib/Driver/Build.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// Which passes run, and what they say.
struct PassFlags {
  /// Adds them to `request`, which refers to the flags. Returns false, with the
  /// reason reported, when a pass does not exist.
  [[nodiscard]] bool read(BuildRequest &request, Diagnostics &diags) const;
  /// Whether --passes names `pass`.
  bool names(llvm::StringRef pass) const;
  /// Whether it names passes that make kernels or programs of models.
  bool areOfModels() const { return names("model") || names("incremental"); }

  llvm::cl::opt<std::string> passList{
      "passes", llvm::cl::value_desc("A,B,..."),
      llvm::cl::desc("Run these passes instead of `default`")};
  llvm::cl::list<std::string> skippedPasses{
      "skip-passes", llvm::cl::value_desc("A,B,..."), llvm::cl::CommaSeparated,
      llvm::cl::desc("Skip these passes")};
  llvm::cl::list<std::string> printAfter{
      "print-after", llvm::cl::value_desc("PASS"), llvm::cl::CommaSeparated,
      llvm::cl::desc("Print the IR to standard error "
                     "after PASS, or after `all`")};
  llvm::cl::opt<bool> timePasses{"time-passes",
                                 llvm::cl::desc("Print the time of each pass")};
  WholeFlag<unsigned> passLimit{
      "pass-limit", llvm::cl::value_desc("N"),
      llvm::cl::desc("Stop after N passes, for bisection")};
  llvm::cl::opt<bool> remarks{
      "remarks", llvm::cl::desc("Print remarks about the decisions of passes")};
  llvm::cl::opt<bool> verifyNumerics{
      "verify-numerics",
      llvm::cl::desc(
          "Compare results before and after each pass, with random inputs")};
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_PASSFLAGS_H
