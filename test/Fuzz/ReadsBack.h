//===- ReadsBack.h - what a reader gave, as MIL and back --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_READSBACK_H
#define ANEC_TEST_FUZZ_READSBACK_H

#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace anec {

/// Ends the process if `ok` is false, with the diagnostics and `text`.
inline void expectFine(bool ok, const Diagnostics &diags,
                       llvm::StringRef text = "") {
  if (ok)
    return;
  llvm::errs() << text;
  diags.print(llvm::errs());
  std::abort();
}

/// Expects that `module`, which a reader gave, verifies.
inline void expectVerified(const Module &module, Diagnostics &diags) {
  expectFine(verify(module, diags), diags);
}

/// Expects that `module` can be printed as MIL, and that read again, with the
/// weight files of `folder`.
inline void expectReadsBack(const Module &module, llvm::StringRef folder,
                            Diagnostics &diags,
                            const MILReadOptions &options = {}) {
  std::string text;
  llvm::raw_string_ostream out(text);
  MILPrintOptions print;
  print.placement = MILPrintOptions::Placement::Keep;
  expectFine(printMIL(module, out, print, diags), diags);
  llvm::StringRef copy = diags.addBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, "printed.mil"));
  expectFine(readMIL(copy, folder, opTable(), diags, options) != nullptr, diags,
             text);
}

} // namespace anec

#endif // ANEC_TEST_FUZZ_READSBACK_H
