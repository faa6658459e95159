//===- Diagnostics.cpp - errors of the C API ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "lib/API/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/Package/Diags.h"
#include "lib/Passes/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Listing.h"
#include "lib/Target/Diags.h"
#include "lib/Train/Diags.h"
#include <string_view>

using namespace anec;
using namespace anec::c;

#define ANEC_C_TEXT_OF(number) #number
#define ANEC_C_SPELLED(macro) ANEC_C_TEXT_OF(macro)

/// The version that the header says.
static constexpr std::string_view versionOfHeader =
    ANEC_C_SPELLED(ANEC_C_VERSION_MAJOR) "." ANEC_C_SPELLED(
        ANEC_C_VERSION_MINOR) "." ANEC_C_SPELLED(ANEC_C_VERSION_PATCH);
static_assert(versionOfHeader == ANEC_VERSION,
              "anec-c.h has the version of the project");

const char *anec_version(void) { return ANEC_VERSION; }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const char *anec_status_name(anec_status status) {
  switch (status) {
  case ANEC_OK:
    return "ANEC_OK";
  case ANEC_INPUT_ERROR:
    return "ANEC_INPUT_ERROR";
  case ANEC_USAGE_ERROR:
    return "ANEC_USAGE_ERROR";
  case ANEC_MACHINE_ERROR:
    return "ANEC_MACHINE_ERROR";
  }
  return "not a status";
}

const char *anec_status_text(anec_status status) {
  switch (status) {
  case ANEC_OK:
    return "success";
  case ANEC_INPUT_ERROR:
    return "a source, a file or an array is invalid";
  case ANEC_USAGE_ERROR:
    return "an argument is invalid";
  case ANEC_MACHINE_ERROR:
    return "the machine or the backend failed";
  }
  return "not a status";
}

const char *anec_severity_name(anec_severity severity) {
  switch (severity) {
  case ANEC_SEVERITY_ERROR:
    return "error";
  case ANEC_SEVERITY_WARNING:
    return "warning";
  case ANEC_SEVERITY_REMARK:
    return "remark";
  case ANEC_SEVERITY_NOTE:
    return "note";
  }
  return "not a severity";
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static anec_severity severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return ANEC_SEVERITY_ERROR;
  case Severity::Warning:
    return ANEC_SEVERITY_WARNING;
  case Severity::Remark:
    return ANEC_SEVERITY_REMARK;
  case Severity::Note:
    return ANEC_SEVERITY_NOTE;
  }
  return ANEC_SEVERITY_ERROR;
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
      diag::BadArgument,       diag::NoSuchInput,
      diag::InputTwice,        diag::ArrayMissing,
      diag::ArrayElements,     diag::ArraySize,
      diag::ArrayShape,        diag::NoSuchBackend,
      diag::NoDefaultEntry,    diag::NeedsPackage,
      diag::NotATrainingEntry, diag::NothingAccumulated,
      diag::NoTrainingEntry,   diag::NoSuchEntry,
      diag::NoSuchFunction,    diag::UnknownRule,
      diag::AssumptionForm,    diag::NoSuchTarget,
      diag::BadHyperparameter,
  };
  return llvm::is_contained(kinds, kind);
}

static bool isMachine(diag::AnyKind kind) {
  return kind == diag::CannotWrite || kind == diag::OutOfMemory ||
         kind == diag::NoMemoryForWeight || kind == diag::NoLanguageModels ||
         findKnownError(kind->id) ||
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
  return countOf(diags);
}

static anec_diagnostic
describedDiagnostic(const anec_diagnostics::Record &record) {
  SourcePlace place = record.place.value_or(SourcePlace());
  return {sizeof(anec_diagnostic),
          record.severity,
          record.id.c_str(),
          record.message.c_str(),
          record.file.c_str(),
          place.line,
          place.column,
          place.endLine,
          place.endColumn};
}

anec_status anec_diagnostics_get(const anec_diagnostics *diags, size_t index,
                                 anec_diagnostic *out) {
  return giveRecord(diags, index, out, describedDiagnostic);
}

const char *anec_diagnostics_text(const anec_diagnostics *diags) {
  return diags ? diags->text.c_str() : "";
}
