//===- main.cpp - a program that embeds anec ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/anec.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  anec::Diagnostics diags;
  anec::ProgramSessionOptions options;
  options.compile.weights.seed = 7;
  auto session = anec::ProgramSession::openFile("digits.tdsl", options, diags);
  std::vector<float> images(784 * 64, 1), loss(1);
  std::vector<int32_t> labels(64);
  if (session && session->run("", {{"images", images}, {"labels", labels}},
                              {{"output", loss}}, diags))
    llvm::outs() << "loss " << loss[0] << " with "
                 << session->gradients().size() << " gradients\n";
  diags.print(llvm::errs());
  return diags.hasErrors();
}
