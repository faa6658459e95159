//===- FindingJson.h - findings and diagnostics as JSON ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_FINDINGJSON_H
#define ANEC_LIB_REPORT_FINDINGJSON_H

#include "anec/Target/Check.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// Writes an object: the fields of the rule, the message and its place.
/// `errors` are the ids of known errors that it can cause.
void writeFinding(const Finding &finding, const Assumptions &assumptions,
                  const Diagnostics &diags, llvm::json::OStream &json,
                  llvm::ArrayRef<llvm::StringRef> errors = {});
/// Writes an object: the id, the severity, the place and the message.
void writeDiagnostic(const Diagnostic &diagnostic, const Diagnostics &diags,
                     llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_LIB_REPORT_FINDINGJSON_H
