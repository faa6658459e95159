//===- Measured.h - what was measured on machines ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The files of data/measured, which are built in: what `ane-run doctor --run`
/// found on machines of users, as data/judge.py took it over. Where there is a
/// measurement, it takes the place of a prediction.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_MEASURED_H
#define ANEC_LIB_PROBE_MEASURED_H

#include "anec/Target/Target.h"
#include "lib/Probe/ProbeFile.h"

namespace anec {

/// A program by one path.
struct MeasuredKernel {
  std::string path, hazard, kernel, verdict;
  double milliseconds = 0; ///< the median of its runs; 0 without
};

struct MeasuredMachine {
  std::string chip, macOS, target;
  std::vector<MeasuredKernel> kernels;
  /// `RULE=deny` where a program showed a hazard.
  std::vector<std::string> assumptions;
};

/// The machines of the files in `folder`, or those that are built in when it is
/// empty. Returns nothing, with the reason reported, when a file is not what it
/// should be.
[[nodiscard]] std::optional<std::vector<MeasuredMachine>>
readMeasured(llvm::StringRef folder, Diagnostics &diags);

/// What was measured of a target.
struct Measurements {
  /// The microseconds of a program that does almost nothing.
  std::optional<double> floor;
  std::vector<std::string> assumptions;
};
/// Those of `target`, of machines with the major version of `macOS` if there
/// are any; the slowest of several machines.
Measurements measurementsOf(llvm::ArrayRef<MeasuredMachine> machines,
                            llvm::StringRef target, llvm::StringRef macOS);
/// Those of a report, without what follows about rules.
std::optional<double> measuredFloor(const ProbeFile &report);

/// `target` with a measured floor in place of the published one.
Target withFloor(const Target &target, double microseconds);

/// The page docs/reference/chips.md, with the machines of `folder` as
/// `readMeasured` takes it. Returns false, with the reason reported, when they
/// cannot be read.
[[nodiscard]] bool printChipsPage(llvm::StringRef folder,
                                  llvm::raw_ostream &out, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_PROBE_MEASURED_H
