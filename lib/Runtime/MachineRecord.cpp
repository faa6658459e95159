//===- MachineRecord.cpp - the machine of measurements --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/MachineRecord.h"

using namespace anec;

MachineRecord anec::describeMachine(const BackendRow &row,
                                    const BackendSettings &settings) {
  MachineNames names = row.machine(settings);
  MachineRecord record;
  record.chip = std::move(names.chip);
  record.system = std::move(names.system);
  record.backend = row.name;
  record.isEngine = row.capabilities.runsOnEngine;
  if (record.isEngine) {
    record.path = row.valueOf("path", settings).str();
    bool isOther = !row.valueOf("framework", settings).empty();
    record.framework = isOther ? "other" : "system";
  }
  record.stagingFolder = std::move(names.temporaryFolder);
  return record;
}
