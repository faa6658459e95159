//===- CompileRequest.cpp - what is to be compiled, or shown --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompileRequest.h"
#include "anec/Support/AtomicFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

bool CompileRequest::write(llvm::function_ref<void(llvm::raw_ostream &)> print,
                           Diagnostics &diags) const {
  if (toStandardOutput()) {
    print(llvm::outs());
    return true;
  }
  AtomicFiles files(diags);
  OutputFile *file = files.add(output);
  if (!file)
    return false;
  print(*file);
  return files.commit();
}

std::vector<const PassDef *>
CompileRequest::passesOr(std::vector<const PassDef *> passes) const {
  if (passesGiven)
    passes = options.passes.passes;
  llvm::erase_if(passes, [&](const PassDef *pass) {
    return llvm::is_contained(skippedPasses, pass->name);
  });
  return passes;
}
