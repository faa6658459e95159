//===- Once.cpp - runs the fuzz targets on given files --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// fuzz-once TARGET FILE... runs a target once on each file, without libFuzzer:
/// any compiler builds it, and the tests run it on what was found before.
///
//===----------------------------------------------------------------------===//

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using Target = int(const uint8_t *, size_t);
#define FUZZ_TARGET(NAME) extern "C" Target NAME;
#include "Targets.def"

static constexpr std::pair<llvm::StringLiteral, Target *> targets[] = {
#define FUZZ_TARGET(NAME) {#NAME, &NAME},
#include "Targets.def"
};

int main(int count, char **words) {
  Target *target = nullptr;
  for (const auto &[name, function] : targets)
    if (count > 1 && name == words[1])
      target = function;
  if (!target) {
    llvm::errs() << "usage: fuzz-once TARGET FILE...\n";
    return 2;
  }
  for (int i = 2; i < count; ++i) {
    auto file = llvm::MemoryBuffer::getFile(words[i]);
    if (!file) {
      llvm::errs() << words[i] << ": " << file.getError().message() << '\n';
      return 1;
    }
    llvm::StringRef bytes = (*file)->getBuffer();
    target(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  }
  llvm::outs() << count - 2 << " files\n";
  return 0;
}
