//===- DiagnosticsPage.cpp - docs/diagnostics.md --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../DiagnosticText.h"
#include "Pages.h"
#include "anec/API/Diags.h"
#include "anec/Arrays/Diags.h"
#include "anec/Bench/Diags.h"
#include "anec/CoreML/Diags.h"
#include "anec/Formats/Diags.h"
#include "anec/Frontend/Diags.h"
#include "anec/Generate/Diags.h"
#include "anec/IR/Diags.h"
#include "anec/Import/Diags.h"
#include "anec/MIL/Diags.h"
#include "anec/Onnx/Diags.h"
#include "anec/Ops/Diags.h"
#include "anec/Package/Diags.h"
#include "anec/Passes/Diags.h"
#include "anec/Probe/Diags.h"
#include "anec/Quantize/Diags.h"
#include "anec/Report/ReferencePages.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/FileDiags.h"
#include "anec/Target/Diags.h"
#include "anec/Text/Diags.h"
#include "anec/Torch/Diags.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

std::vector<diag::AnyKind> anec::libraryDiagnostics() {
  return {
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/API/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Arrays/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Bench/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/CoreML/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Formats/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Frontend/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/IR/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Import/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/MIL/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Onnx/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Ops/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Package/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Passes/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Probe/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Quantize/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Runtime/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Target/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Generate/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Text/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Torch/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Train/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Support/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Support/FileDiags.def"
  };
}

void anec::printDiagnosticsPage(llvm::ArrayRef<diag::AnyKind> diagnostics,
                                llvm::raw_ostream &out) {
  out << "# Diagnostics\n\nThe id of a message stands in brackets behind it, "
         "except for notes. `anec explain ID`\nprints what this page says "
         "about it. "
         "`{0}`, `{1}`, ... are filled in.\n";
  std::vector<diag::AnyKind> sorted = diagnostics.vec();
  llvm::sort(sorted, [](diag::AnyKind lhs, diag::AnyKind rhs) {
    return lhs->id < rhs->id;
  });
  for (diag::AnyKind kind : sorted)
    out << "\n## " << kind->id << "\n\n**" << spelling(kind->severity) << ":** "
        << kind->shownText() << "\n\n"
        << diagnosticText(kind->id) << '\n';
}
