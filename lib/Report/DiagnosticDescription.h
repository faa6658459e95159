//===- DiagnosticDescription.h - what a message means -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_DIAGNOSTICDESCRIPTION_H
#define ANEC_LIB_REPORT_DIAGNOSTICDESCRIPTION_H

#include "anec/Support/Diagnostics.h"

namespace anec {

/// Prints the text of `kind`, why it is reported, and an example of it.
void printDiagnostic(diag::AnyKind kind, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_DIAGNOSTICDESCRIPTION_H
