//===- ErrorReport.h - errors of a log, explained ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_ERRORREPORT_H
#define ANEC_LIB_REPORT_ERRORREPORT_H

#include "anec/Target/ErrorLog.h"
#include "lib/Report/FindingReport.h"

namespace anec {

/// The errors of a log, and of the program that it is about.
struct ExplainedLog {
  /// The name of the log in messages.
  std::string path;
  ErrorLog log;
  /// The name of the program; empty when there is none.
  std::string program;
  CheckResult check;

  /// The findings that can cause an error of the log.
  std::vector<Finding> causes() const;
  /// The number of the other findings.
  size_t others() const { return check.findings.size() - causes().size(); }
};

/// Prints each error with its lines, cause, remedy, rules and source, and then
/// the places of the program that can cause them, which are added to `diags`.
/// `diags` has the diagnostics from reading the program.
void printErrors(const ExplainedLog &explained, Diagnostics &diags,
                 llvm::raw_ostream &out);
/// Prints one JSON object: `log`, `lines`; `errors`, with the fields of their
/// rows; `unknown`, the lines that no row matches; and for a program
/// `findings`, which can cause the errors, and `diagnostics`.
void printErrorsJson(const ExplainedLog &explained, const Diagnostics &diags,
                     llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_ERRORREPORT_H
