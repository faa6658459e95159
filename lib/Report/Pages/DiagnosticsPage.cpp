//===- DiagnosticsPage.cpp - docs/reference/diagnostics.md ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../DiagnosticText.h"
#include "Pages.h"
#include "lib/API/Diags.h"
#include "lib/Arrays/Diags.h"
#include "lib/Bench/Diags.h"
#include "lib/CoreML/Diags.h"
#include "lib/Formats/Diags.h"
#include "lib/Frontend/Diags.h"
#include "lib/Generate/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/Import/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/Onnx/Diags.h"
#include "lib/Ops/Diags.h"
#include "lib/Package/Diags.h"
#include "lib/Passes/Diags.h"
#include "lib/Probe/Diags.h"
#include "lib/Quantize/Diags.h"
#include "lib/Report/ReferencePages.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/FileDiags.h"
#include "lib/Target/Diags.h"
#include "lib/Text/Diags.h"
#include "lib/Torch/Diags.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

std::vector<diag::AnyKind> anec::libraryDiagnostics() {
  return {
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/API/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Arrays/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Bench/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/CoreML/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Formats/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Frontend/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/IR/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Import/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/MIL/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Onnx/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Ops/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Package/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Passes/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Probe/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Quantize/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Runtime/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Target/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Generate/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Text/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Torch/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Train/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Support/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "lib/Support/FileDiags.def"
  };
}

void anec::printDiagnosticsPage(llvm::ArrayRef<diag::AnyKind> diagnostics,
                                llvm::raw_ostream &out) {
  out << "# Diagnostics\n\nThe id of a message stands in brackets behind it, "
         "except for notes. `anec explain ID`\nprints what this page says "
         "about it. "
         "`{0}`, `{1}`, ... are filled in.\n\n"
         "Files that are not text are shown as text: models of ONNX and Core "
         "ML "
         "in the text\nformat of protobuf, as `protoc --encode` reads it; "
         "files "
         "of arrays by the name, type and\nshape of each, and the number that "
         "all its elements are, 0 without one; archives of\nPyTorch by their "
         "entries.\n";
  std::vector<diag::AnyKind> sorted = diagnostics.vec();
  llvm::sort(sorted, [](diag::AnyKind lhs, diag::AnyKind rhs) {
    return lhs->id < rhs->id;
  });
  for (diag::AnyKind kind : sorted)
    out << "\n## " << kind->id << "\n\n**" << spelling(kind->severity) << ":** "
        << kind->shownText() << "\n\n"
        << diagnosticText(kind->id) << '\n';
}
