//===- Baseline.h - findings that are known ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A baseline is a JSON file that lists findings, so that a check only fails
/// for others. A finding is known by its target, rule, file and message; lines
/// may move. Files are relative to the folder of the baseline.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_BASELINE_H
#define ANEC_LIB_REPORT_BASELINE_H

#include "lib/Report/FindingReport.h"
#include <map>
#include <tuple>

namespace anec {

/// Findings, and how often each is there.
class Baseline {
public:
  /// Reads the file at `path`; returns nothing, with the reason reported, when
  /// it is no baseline.
  [[nodiscard]] static std::optional<Baseline> read(llvm::StringRef path,
                                                    Diagnostics &diags);
  /// The findings of `result` that are at least as severe as `severity`, for a
  /// file at `path`.
  Baseline(llvm::StringRef path, const CheckResult &result, Severity severity,
           const Diagnostics &diags);

  /// Writes the file; returns false, with the reason reported, when it cannot
  /// be written. The same findings give the same bytes.
  [[nodiscard]] bool write(Diagnostics &diags) const;
  /// Moves the findings that are known from `findings` to `known`. Of more
  /// findings that are equal than the baseline has, the last are new.
  void apply(CheckResult &result, const Diagnostics &diags) const;
  size_t size() const;

private:
  explicit Baseline(llvm::StringRef path) : path(path) {}

  /// The target, the rule, the file and the message.
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  Key keyOf(const Target &target, const Finding &finding,
            const Diagnostics &diags) const;

  std::string path;
  std::map<Key, uint64_t> counts;
};

} // namespace anec

#endif // ANEC_LIB_REPORT_BASELINE_H
