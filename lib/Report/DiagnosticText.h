//===- DiagnosticText.h - what data/diagnostics says ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// data/diagnostics has a section of Markdown for each message: why it is
/// reported, and a program or command with it, or why no such example is shown.
/// It is not a part of the rows of messages, so that a better sentence does not
/// compile all that reports one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_DIAGNOSTICTEXT_H
#define ANEC_LIB_REPORT_DIAGNOSTICTEXT_H

#include "llvm/ADT/StringRef.h"

namespace anec {

/// The section about the message called `id`, without its heading; empty if
/// there is none.
llvm::StringRef diagnosticText(llvm::StringRef id);

} // namespace anec

#endif // ANEC_LIB_REPORT_DIAGNOSTICTEXT_H
