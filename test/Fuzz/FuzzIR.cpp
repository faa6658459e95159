//===- FuzzIR.cpp - any text through the IR's parser and the passes -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A text that parses prints, and what was printed parses to the same. The
/// default pipeline keeps it well-formed.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;

static std::string print(const Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printIR(module, out);
  return text;
}

[[noreturn]] static void fail(const Diagnostics &diags, llvm::StringRef text) {
  diags.print(llvm::errs());
  llvm::errs() << text;
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostics diags;
  llvm::StringRef text = diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
      {reinterpret_cast<const char *>(data), size}, "fuzz.ir"));
  std::unique_ptr<Module> module = parseIR(text, opTable(), diags);
  llvm::raw_null_ostream nowhere;
  diags.print(nowhere);
  if (!module)
    return diags.hasErrors() ? 0 : (fail(diags, "neither module nor error"), 0);

  Diagnostics again;
  std::string first = print(*module);
  std::unique_ptr<Module> reparsed =
      parseIR(again.addBuffer(llvm::MemoryBuffer::getMemBuffer(first)),
              opTable(), again);
  if (!reparsed || print(*reparsed) != first)
    fail(again, first);

  PassManagerOptions options;
  options.passes = defaultPipeline().vec();
  if (!runPasses(*module, options, diags))
    fail(diags, first);
  return 0;
}
