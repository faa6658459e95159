//===- ErrorLog.h - finding known errors in logs ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A log can be of any size and have any bytes: it is read in blocks, in time
/// proportional to its size and with constant memory. Escape sequences of
/// terminals and NULs are skipped, so that colored and UTF-16 text is found,
/// too.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_ERRORLOG_H
#define ANEC_TARGET_ERRORLOG_H

#include "anec/Target/KnownError.h"
#include <memory>

namespace anec {

/// Lines of a log that say the same.
struct LoggedLines {
  uint64_t count = 0;
  uint64_t first = 0, last = 0; ///< from 1
  /// The part of the first line that says it: printable, of limited length.
  std::string excerpt;
};

struct LoggedError : LoggedLines {
  const KnownError *error = nullptr;
};

struct ErrorLog {
  uint64_t lines = 0;
  /// In the order of their first lines.
  std::vector<LoggedError> errors;
  /// Lines that look like an error of the engine or of Core ML and match no
  /// row: the first ones that differ in more than addresses.
  std::vector<LoggedLines> unknown;
  /// The number of all such lines.
  uint64_t unknownLines = 0;
  /// How often a vague error was left out, because its line has one that says
  /// more.
  uint64_t vaguer = 0;

  const LoggedError *find(const KnownError &error) const;
};

/// Finds errors in a log that comes in blocks.
class ErrorLogReader {
public:
  ErrorLogReader();
  ~ErrorLogReader();

  void read(llvm::StringRef block);
  /// Ends the last line, and returns what was found.
  ErrorLog finish();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Finds errors in `text`.
ErrorLog findErrors(llvm::StringRef text);
/// Finds errors in the file at `path`, or in standard input for `-`. Returns
/// nothing, with the reason reported, when it cannot be read.
[[nodiscard]] std::optional<ErrorLog> findErrorsInFile(llvm::StringRef path,
                                                       Diagnostics &diags);

} // namespace anec

#endif // ANEC_TARGET_ERRORLOG_H
