//===- Diagnostics.cpp - errors of the C API ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "anec/API/Diags.h"
#include "anec/MIL/Diags.h"
#include "anec/Package/Diags.h"
#include "anec/Passes/Diags.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/Listing.h"
#include "anec/Target/Diags.h"
#include "anec/Train/Diags.h"

using namespace anec;
using namespace anec::c;

const char *anec_version(void) { return ANEC_VERSION; }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static anec_severity severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return ANEC_ERROR;
  case Severity::Warning:
    return ANEC_WARNING;
  case Severity::Remark:
    return ANEC_REMARK;
  case Severity::Note:
    return ANEC_NOTE;
  }
  return ANEC_ERROR;
}

void Call::append(const Diagnostic &diagnostic) {
  std::optional<SourcePlace> place = diags->locate(diagnostic.range);
  if (!place && sources)
    place = sources->locate(diagnostic.range);
  std::string message = diagnostic.message;
  if (place && place->line == 0)
    message = (listedWords(diagnostic.range) + ": " + message).str();
  out->records.push_back({severityOf(diagnostic.severity()),
                          diagnostic.kind->id.str(), message,
                          place ? place->file.str() : diagnostic.file, place});
  for (const Diagnostic &note : diagnostic.notes)
    append(note);
}

/// Whether an error is the fault of the call, independent of the input.
static bool isUsage(diag::AnyKind kind) {
  static constexpr diag::AnyKind kinds[] = {
      diag::BadArgument,    diag::NoSuchInput,       diag::InputTwice,
      diag::ArrayMissing,   diag::ArrayElements,     diag::ArraySize,
      diag::ArrayShape,     diag::NoSuchBackend,     diag::NoDefaultEntry,
      diag::NeedsPackage,   diag::NotATrainingEntry, diag::NothingAccumulated,
      diag::NoSuchEntry,    diag::NoSuchFunction,    diag::UnknownRule,
      diag::AssumptionForm, diag::NoSuchTarget,      diag::BadHyperparameter,
  };
  return llvm::is_contained(kinds, kind);
}

static bool isMachine(diag::AnyKind kind) {
  return kind == diag::CannotWrite || kind == diag::OutOfMemory ||
         kind == diag::NoMemoryForWeight || findKnownError(kind->id) ||
         (kind->id.starts_with("ane-") && !(kind == diag::AneNoState));
}

/// The status of the most severe error reported.
static anec_status statusOf(const Diagnostics &diags) {
  anec_status status = ANEC_INPUT_ERROR;
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.severity() != Severity::Error)
      continue;
    if (isMachine(diagnostic.kind))
      return ANEC_MACHINE_ERROR;
    if (isUsage(diagnostic.kind))
      status = ANEC_USAGE_ERROR;
  }
  return status;
}

anec_status Call::end(bool ok) {
  if (out) {
    for (const Diagnostic &diagnostic : diags->all())
      append(diagnostic);
    llvm::raw_string_ostream stream(out->text);
    diags->print(stream);
  }
  return ok && !diags->hasErrors() ? ANEC_OK : statusOf(*diags);
}

anec_status Call::refuse(llvm::StringRef name, llvm::StringRef reason) {
  diags->report({}, diag::BadArgument, name, reason);
  return end(false);
}

anec_status c::outOfMemory(anec_diagnostics *out) noexcept {
  Call call(out);
  call.diagnostics().report({}, diag::OutOfMemory);
  return call.end(false);
}

//===----------------------------------------------------------------------===//
// The caller's list
//===----------------------------------------------------------------------===//

anec_diagnostics *anec_diagnostics_create(void) { return new anec_diagnostics; }

void anec_diagnostics_destroy(anec_diagnostics *diags) { delete diags; }

void anec_diagnostics_clear(anec_diagnostics *diags) {
  if (diags)
    *diags = {};
}

size_t anec_diagnostics_count(const anec_diagnostics *diags) {
  return diags ? diags->records.size() : 0;
}

anec_status anec_diagnostics_get(const anec_diagnostics *diags, size_t index,
                                 anec_diagnostic *out) {
  if (!diags || index >= diags->records.size() || !canGive(out))
    return ANEC_USAGE_ERROR;
  const anec_diagnostics::Record &record = diags->records[index];
  SourcePlace place = record.place.value_or(SourcePlace());
  give({sizeof(anec_diagnostic), record.severity, record.id.c_str(),
        record.message.c_str(), record.file.c_str(), place.line, place.column,
        place.endLine, place.endColumn},
       out);
  return ANEC_OK;
}

const char *anec_diagnostics_text(const anec_diagnostics *diags) {
  return diags ? diags->text.c_str() : "";
}
