//===- ProbeProgram.h - programs that break and keep rules -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBEPROGRAM_H
#define ANEC_TOOLS_ANE_RUN_PROBEPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// The MIL that the tests of rules have, built in.
struct ProbeProgram {
  const char *rule;
  const char *kind; ///< `bad` breaks the rule, `good` keeps it
  const char *text;
};
llvm::ArrayRef<ProbeProgram> probePrograms();
/// Null when there is none.
const ProbeProgram *findProbeProgram(llvm::StringRef rule,
                                     llvm::StringRef kind);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBEPROGRAM_H
