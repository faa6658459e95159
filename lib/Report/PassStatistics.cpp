//===- PassStatistics.cpp - counters and times of passes ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/PassStatistics.h"
#include "lib/IR/Text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

void anec::printAfterPass(const PassDef &pass, const Function &function,
                          llvm::raw_ostream &out) {
  out << "// after " << pass.name << '\n';
  printIR(function, out);
}

void anec::printPassCounts(llvm::ArrayRef<PassReport> reports,
                           llvm::raw_ostream &out) {
  for (const PassReport &report : reports)
    for (unsigned index = 0; index < maxStats; ++index)
      if (report.counts[index])
        out << llvm::format("%8llu ", (unsigned long long)report.counts[index])
            << report.pass->name << " - " << report.pass->stats[index].summary
            << '\n';
}

void anec::printPassTimes(llvm::ArrayRef<PassReport> reports,
                          llvm::raw_ostream &out) {
  double total = 0;
  for (const PassReport &report : reports)
    total += report.seconds;
  for (const PassReport &report : reports)
    out << llvm::format("%10.3f ms %5.1f%%  ", report.seconds * 1e3,
                        total > 0 ? 100 * report.seconds / total : 0.0)
        << report.pass->name << '\n';
  out << llvm::format("%10.3f ms 100.0%%  total (measured)\n", total * 1e3);
}
