//===- MachineRecord.h - the machine of measurements ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_MACHINERECORD_H
#define ANEC_LIB_RUNTIME_MACHINERECORD_H

#include "anec/Runtime/Backends.h"

namespace anec {

/// The machine and backend used for times and verdicts, for comparable reports.
struct MachineRecord {
  std::string chip = "not known"; ///< the processor, or the chip of the engine
  std::string system = "not known";
  std::string backend = "cpu";
  /// Whether the backend runs programs on the Neural Engine. If not, the fields
  /// below are empty.
  bool isEngine = false;
  std::string path;          ///< the methods of the framework: `in-memory`
  std::string framework;     ///< `system`, or `other` for a test framework
  std::string stagingFolder; ///< where the backend stages programs
};

/// The machine that programs run on with the backend of `row`.
MachineRecord describeMachine(const BackendRow &row,
                              const BackendSettings &settings);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_MACHINERECORD_H
