//===- Diagnostics.h - diagnostics with locations ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The library collects diagnostics and never prints or throws them. The text
/// of each is defined once, in the Diags.def of its folder. A diagnostic points
/// to a range of a loaded source buffer, or names a file (a weight file has no
/// lines).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_DIAGNOSTICS_H
#define ANEC_SUPPORT_DIAGNOSTICS_H

#include "anec/Support/DiagnosticKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace anec {

using SourceRange = llvm::SMRange;

struct Diagnostic {
  diag::AnyKind kind;
  SourceRange range;   ///< invalid when the diagnostic has no source location
  std::string file;    ///< the file it is about when `range` is invalid
  std::string message; ///< rendered, without severity, location and id
  std::vector<Diagnostic> notes;

  Severity severity() const { return kind->severity; }
};

/// The location of a range; lines count from 1, and are 0 in a Listing.
struct SourcePlace {
  llvm::StringRef file;
  unsigned line, column, endLine, endColumn;
};

/// The sources of a compilation and their diagnostics.
class Diagnostics {
public:
  Diagnostics();
  ~Diagnostics();
  Diagnostics(const Diagnostics &) = delete;
  Diagnostics &operator=(const Diagnostics &) = delete;

  /// A reported diagnostic, to which notes can be added.
  class Report {
  public:
    template <typename... Params, typename... Args>
    Report &note(SourceRange range, diag::Kind<Params...> kind,
                 const Args &...args) {
      owner->append(index, range, kind(args...));
      return *this;
    }

  private:
    friend class Diagnostics;
    Report(Diagnostics *owner, size_t index) : owner(owner), index(index) {}
    Diagnostics *owner;
    size_t index;
  };

  /// Reports `message` at `range`. Its kind determines the severity.
  Report report(SourceRange range, const diag::Message &message) {
    return append(range, {}, message);
  }
  /// Reports `kind` at `range`; `args` fill its placeholders in order.
  template <typename... Params, typename... Args>
  Report report(SourceRange range, diag::Kind<Params...> kind,
                const Args &...args) {
    return append(range, {}, kind(args...));
  }
  /// Reports `kind` about a file that has no lines, or could not be read.
  template <typename... Params, typename... Args>
  Report reportFile(llvm::StringRef file, diag::Kind<Params...> kind,
                    const Args &...args) {
    return append({}, file, kind(args...));
  }

  /// Adds a note to all diagnostics after the first `count`, for the context
  /// they were found in. A diagnostic that repeats an earlier one, since the
  /// same text was checked in another context, is removed from `all`.
  void noteSince(size_t count, SourceRange range, const diag::Message &message);

  /// Takes ownership of a text and returns it; ranges can then point into it.
  llvm::StringRef addBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer);
  /// Reads `path` (`-` is standard input) and adds it; returns nothing on an
  /// error, which is reported.
  std::optional<llvm::StringRef> addFile(llvm::StringRef path);

  /// The location of `range` in the sources; nothing when it is invalid.
  std::optional<SourcePlace> locate(SourceRange range) const;

  /// The first errors and the first other diagnostics, up to a limit for each.
  const std::vector<Diagnostic> &all() const { return diagnostics; }
  size_t errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }

  /// `file:line:col: error: message [id]`, the line and a caret, then notes.
  void print(llvm::raw_ostream &out, bool colors = false) const;
  /// One JSON array: severity, id, file, line, column, endLine, endColumn,
  /// message, notes.
  void printJson(llvm::raw_ostream &out) const;

private:
  Report append(SourceRange range, llvm::StringRef file,
                const diag::Message &message);
  void append(size_t parent, SourceRange range, const diag::Message &message);

  llvm::SourceMgr sources;
  std::vector<Diagnostic> diagnostics;
  size_t errors = 0;
  size_t keptErrors = 0, keptOthers = 0, dropped = 0;
};

} // namespace anec

#endif // ANEC_SUPPORT_DIAGNOSTICS_H
