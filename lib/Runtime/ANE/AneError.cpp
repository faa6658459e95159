//===- AneError.cpp - what the engine's errors mean -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AneError.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

using namespace anec;
using namespace anec::ane;

namespace {
struct Row {
  const char *pattern; ///< in an error's text, ignoring case
  AneError::Meaning meaning;
};
} // namespace

// Statuses match as a whole: 0x5 does not match 0x50004. The first row that
// matches applies.
static constexpr Row rows[] = {
    {"0x0*50004([^0-9a-f]|$)", AneError::TooManyPrograms},
    {"0x0*20004([^0-9a-f]|$)", AneError::MemoryWindow},
    {"0x0*1d([^0-9a-f]|$)", AneError::SurfaceSize},
    {"0x0*5([^0-9a-f]|$)", AneError::Busy},
    {"request cancell?ed", AneError::Cancelled},
    // NSXPCConnectionInterrupted.
    {"nscocoaerrordomain 4097", AneError::Interrupted},
    {"model\\.espresso\\.net", AneError::NotTakenForMil},
    {"invalidmilprogram", AneError::InvalidProgram},
    {"entitlement|prepare\\(\\) failed", AneError::NotAllowed},
    {"aneccompile\\(\\) failed", AneError::Refused},
};

static llvm::StringRef nameOf(Stage stage) {
  switch (stage) {
  case Stage::Compile:
    return "compiling";
  case Stage::Load:
    return "loading";
  case Stage::Evaluate:
    return "running";
  case Stage::Unload:
    return "unloading";
  }
  llvm_unreachable("no such stage");
}

/// `model.mil:3:5`, or `line 3, column 5`.
static void findPlace(llvm::StringRef raw, AneError &error) {
  static constexpr const char *places[] = {
      "\\.mil:([0-9]+):?([0-9]*)",
      "line ([0-9]+)[^0-9a-zA-Z]*(col[umn]*[ :]*([0-9]+))?"};
  for (const char *place : places) {
    llvm::SmallVector<llvm::StringRef, 4> found;
    if (!llvm::Regex(place, llvm::Regex::IgnoreCase).match(raw, &found) ||
        found[1].getAsInteger(10, error.line))
      continue;
    if (found.back().getAsInteger(10, error.column))
      error.column = 0;
    return;
  }
}

AneError ane::decode(Stage stage, llvm::StringRef raw) {
  AneError error;
  error.raw = raw.trim().str();
  if (error.raw.empty()) {
    // A compilation that fails without an error exceeds the limit, or is
    // refused.
    error.raw = "no error given";
    if (stage == Stage::Compile)
      error.meaning = AneError::Refused;
    return error;
  }
  for (const Row &row : rows)
    if (llvm::Regex(row.pattern, llvm::Regex::IgnoreCase).match(raw)) {
      error.meaning = row.meaning;
      break;
    }
  findPlace(raw, error);
  return error;
}

/// The place in the program, whose text is added to the diagnostics.
static SourceRange placeOf(const AneError &error, llvm::StringRef text,
                           Diagnostics &diags) {
  if (!error.line)
    return {};
  llvm::StringRef rest =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "model.mil"));
  for (unsigned line = 1; line < error.line; ++line)
    rest = rest.split('\n').second;
  llvm::StringRef line = rest.split('\n').first;
  size_t column = error.column ? error.column - 1 : line.find_first_not_of(' ');
  if (line.empty())
    return {};
  // A column beyond the line belongs to another text.
  column = std::min(column, line.size() - 1);
  auto begin = llvm::SMLoc::getFromPointer(line.data() + column);
  return {begin, begin};
}

static diag::Kind<diag::Text, diag::Text> kindOf(AneError::Meaning meaning) {
  switch (meaning) {
  case AneError::InvalidProgram:
    return diag::AneInvalidProgram;
  case AneError::Refused:
    return diag::AneRefused;
  case AneError::SurfaceSize:
    return diag::AneSurfaceSize;
  case AneError::TooManyPrograms:
    return diag::AneTooManyPrograms;
  case AneError::MemoryWindow:
    return diag::AneMemoryWindow;
  case AneError::Busy:
    return diag::AneBusy;
  case AneError::Cancelled:
    return diag::AneCancelled;
  case AneError::Interrupted:
    return diag::AneInterrupted;
  case AneError::NotAllowed:
    return diag::AneNotAllowed;
  case AneError::NotTakenForMil:
    return diag::AneNotTakenForMil;
  case AneError::Unknown:
    return diag::AneUnknown;
  }
  llvm_unreachable("no such meaning");
}

void ane::report(Stage stage, const AneError &error, llvm::StringRef text,
                 Diagnostics &diags) {
  diags.report(placeOf(error, text, diags), kindOf(error.meaning),
               nameOf(stage), error.raw);
}
