//===- KnownError.h - errors of the engine and of Core ML -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the engine's software and Core ML write when something fails, with the
/// published cause and remedy. The rows are in lib/Target/Errors, one file per
/// family; docs/reference/errors.md is generated from them. `anec explain
/// --log` finds them in logs, and the ane backend reports its errors with them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_KNOWNERROR_H
#define ANEC_TARGET_KNOWNERROR_H

#include "anec/Target/Rule.h"
#include <array>

namespace anec {

/// One way to write an error: exactly one of `text` and `domain` is set. Case
/// and the number of blanks do not matter, and words and numbers match as a
/// whole: `Code=6` does not match `Code=60`.
struct ErrorMark {
  llvm::StringLiteral text = "";
  /// The domain and code of an NSError, in any of the forms that it is printed
  /// in.
  llvm::StringLiteral domain = "";
  int code = 0;
  /// What the line must also contain; empty for nothing.
  llvm::StringLiteral also = "";
  /// The text is not specific, so the line must also name the engine or its
  /// software.
  bool namesEngine = false;
  /// The text is all of the line.
  bool isLine = false;
};

struct KnownError {
  llvm::StringLiteral id;
  llvm::StringLiteral family;
  /// What happened, in one line.
  llvm::StringLiteral summary;
  std::array<ErrorMark, 10> marks = {};
  /// The numbers that stand for it, such as `status=0x1d`; 0 for none. Numbers
  /// below 0x10000 have other meanings elsewhere, and count only after a word
  /// such as `status`.
  std::array<uint32_t, 2> statuses = {};
  /// How little it says: 0 names a reason, 1 only what refused, 2 only that
  /// something failed. Of the errors of one line, the least vague ones count.
  unsigned vagueness = 0;
  /// The same call can succeed later.
  bool isTransient = false;
  /// The machine fails, or how the program was passed to it: another program
  /// would fail, too.
  bool isOfMachine = false;
  /// What is known to cause it.
  llvm::StringLiteral cause;
  /// What to do.
  llvm::StringLiteral remedy;
  /// The rules whose breach causes it, most likely ones first, and the families
  /// whose rules can cause it if their impact is an error or a warning. Null
  /// and empty for none.
  std::array<const Rule *, 10> rules = {};
  std::array<llvm::StringRef, 5> ruleFamilies = {};
  /// Who saw it and on which system, and when that was written or read
  /// (year-month).
  llvm::StringLiteral source;
  llvm::StringLiteral date;
  Confidence confidence = Confidence::Medium;
  /// A source that contradicts it; empty for none.
  llvm::StringLiteral conflict = "";

  /// Reported by the ane backend: what failed, the summary, the framework's
  /// text, the remedy.
  diag::Definition reported = {Severity::Error, id,
                               "{0} failed: {1} ({2}); {3}"};

  /// Whether another error has to say what failed.
  constexpr bool isVague() const { return vagueness == 2; }
  /// Whether breaking `rule` can cause it.
  bool isCausedBy(const Rule &rule) const;
};

namespace errors {
#define KNOWN_ERROR(NAME) extern const KnownError NAME;
#include "anec/Target/KnownErrors.def"
} // namespace errors

/// All known errors, sorted by name.
llvm::ArrayRef<const KnownError *> allKnownErrors();
/// Null when there is no such error.
const KnownError *findKnownError(llvm::StringRef id);
/// The rules whose breach can cause `error`.
std::vector<const Rule *> rulesOf(const KnownError &error);

} // namespace anec

#endif // ANEC_TARGET_KNOWNERROR_H
