//===- BackendChoice.h - the backend that programs run on -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H
#define ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H

#include "lib/Runtime/MachineRecord.h"

namespace anec {

/// The backends that this program was built with.
const Backends &toolBackends();

/// A backend and its settings.
struct BackendChoice {
  const BackendRow *row = nullptr;
  BackendSettings settings;

  llvm::StringRef valueOf(llvm::StringRef option) const {
    return row->valueOf(option, settings);
  }
  MachineRecord record() const { return describeMachine(*row, settings); }
  /// Returns null, with the reason reported, when the machine does not have it.
  [[nodiscard]] std::unique_ptr<Backend> open(Diagnostics &diags) const {
    return row->check(settings, diags) ? row->open(settings, diags) : nullptr;
  }
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H
