//===- kernel.cpp - a program that compiles a kernel ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/anec.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  anec::Diagnostics diags;
  anec::CompileOptions options;
  options.weights.seed = 7;
  auto package = anec::compileText(R"(
    kernel linear(x: fp16[16, 8]) -> fp16[4, 8] {
      weight w: fp16[4, 16];
      return relu(w @ x);
    }
  )",
                                   "linear.tdsl", options, diags);
  if (package && package->print(llvm::outs(), diags) &&
      package->write("linear.mil", diags))
    return 0;
  diags.print(llvm::errs());
  return 1;
}
