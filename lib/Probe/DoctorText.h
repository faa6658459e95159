//===- DoctorText.h - the text that the doctor prints -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_DOCTORTEXT_H
#define ANEC_PROBE_DOCTORTEXT_H

#include "Trials.h"
#include "lib/Probe/Doctor.h"
#include "lib/Probe/ProbeFile.h"
#include <set>

namespace anec {

/// The trials that are asked for, in their order.
std::vector<const Trial *> chosenTrials(const DoctorOptions &options);

/// Says what will be done, how long it can take, and what may happen.
void announceDoctor(const DoctorOptions &options, llvm::raw_ostream &out);

/// A table of verdicts, no wider than 80 columns: a row for each trial, with a
/// column for each path, and below it the reasons of failures.
class DoctorTable {
public:
  explicit DoctorTable(llvm::ArrayRef<DoctorPath> paths) : paths(paths) {}
  void printHead(llvm::raw_ostream &out) const;
  void printRow(const ProbeFile &report, llvm::StringRef trial,
                llvm::raw_ostream &out);

private:
  void printCells(llvm::StringRef name,
                  llvm::function_ref<llvm::StringRef(const DoctorPath &)> cell,
                  llvm::raw_ostream &out) const;

  llvm::ArrayRef<DoctorPath> paths;
  std::set<std::string> said; ///< reasons why programs were not tried
};

/// Prints the verdict on each hazard, and what they do not mean.
void printHazards(const ProbeFile &report, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_PROBE_DOCTORTEXT_H
