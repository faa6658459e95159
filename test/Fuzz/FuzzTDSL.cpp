//===- FuzzTDSL.cpp - any text through the front end ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the text is, the front end gives a module that verifies or an
/// error, and can render both.
///
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Frontend.h"
#include "lib/IR/Text.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostics diags;
  llvm::StringRef text = diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
      {reinterpret_cast<const char *>(data), size}, "fuzz.tdsl"));
  FrontendOptions options;
  options.defines = {{"seq", "4"}};
  std::unique_ptr<Module> module = parseTDSL(text, options, opTable(), diags);
  llvm::raw_null_ostream out;
  diags.print(out);
  if (bool(module) == diags.hasErrors())
    std::abort();
  if (!module)
    return 0;
  if (!verify(*module, diags)) {
    diags.print(llvm::errs());
    std::abort();
  }
  printIR(*module, out);
  return 0;
}
