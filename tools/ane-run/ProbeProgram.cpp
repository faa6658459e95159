//===- ProbeProgram.cpp - programs that break and keep rules --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeProgram.h"

using namespace anec;

static constexpr ProbeProgram programs[] = {
#include "ProbePrograms.inc"
};

llvm::ArrayRef<ProbeProgram> anec::probePrograms() { return programs; }

const ProbeProgram *anec::findProbeProgram(llvm::StringRef rule,
                                           llvm::StringRef kind) {
  for (const ProbeProgram &program : programs)
    if (rule == program.rule && kind == program.kind)
      return &program;
  return nullptr;
}
