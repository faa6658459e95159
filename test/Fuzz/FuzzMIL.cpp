//===- FuzzMIL.cpp - any text through the MIL reader and printer ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the text is, the reader gives a module that verifies or an error;
/// and what it gives is printed, read again and printed as the same bytes.
///
//===----------------------------------------------------------------------===//

#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;

static std::unique_ptr<Module> read(llvm::StringRef bytes, Diagnostics &diags) {
  llvm::StringRef text =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(bytes, "fuzz.mil"));
  MILReadOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  std::unique_ptr<Module> module =
      readMIL(text, "/no/such/folder", opTable(), diags, options);
  llvm::raw_null_ostream out;
  diags.print(out);
  if (bool(module) == diags.hasErrors())
    std::abort();
  return module;
}

static std::string print(const Module &module, Diagnostics &diags) {
  std::string text;
  llvm::raw_string_ostream out(text);
  MILPrintOptions options;
  options.placement = MILPrintOptions::Placement::Keep;
  if (!printMIL(module, out, options, diags))
    std::abort();
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostics diags;
  std::unique_ptr<Module> module =
      read({reinterpret_cast<const char *>(data), size}, diags);
  if (!module)
    return 0;
  if (!verify(*module, diags)) {
    diags.print(llvm::errs());
    std::abort();
  }
  std::string first = print(*module, diags);
  std::unique_ptr<Module> again = read(first, diags);
  if (!again || print(*again, diags) != first) {
    llvm::errs() << first;
    diags.print(llvm::errs());
    std::abort();
  }
  return 0;
}
