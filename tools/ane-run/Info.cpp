//===- Info.cpp - ane-run info PROGRAM ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "anec/Report/ProgramReport.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

void anec::printInfo(const LoadedProgram &program, bool json,
                     llvm::raw_ostream &out) {
  if (!json) {
    printReport(*program.function, program.module->version, out);
    return;
  }
  llvm::json::OStream stream(out, 2);
  printReport(*program.function, program.module->version, stream);
  out << '\n';
}
