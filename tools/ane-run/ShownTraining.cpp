//===- ShownTraining.cpp - training that shows how it goes ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ShownTraining.h"
#include "../Signals.h"
#include "../Terminal.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

using namespace anec;

bool anec::trainShown(const TrainOptions &options, Backend &backend,
                      bool isShown, Diagnostics &diags) {
  catchRequestsToStop();
  std::function<unsigned()> width;
  if (llvm::sys::Process::StandardOutIsDisplayed())
    width = terminalColumns;
  Progress progress(isShown ? llvm::outs() : llvm::nulls(), width);
  bool ok = train(options, backend, progress, diags);
  progress.end();
  return ok;
}
