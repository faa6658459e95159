//===- AskedPlace.h - where a machine runs an op ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_ASKEDPLACE_H
#define ANEC_RUNTIME_ASKEDPLACE_H

#include "anec/IR/IR.h"
#include "anec/Support/Words.h"
#include <optional>

namespace anec {

/// The units of a machine that run ops.
ANEC_ENUM(Device, (Engine, "engine"), (GPU, "gpu"), (CPU, "cpu"),
          (Unknown, "unknown"))

/// What a system answered about an op of a program.
struct AskedPlace {
  std::string op;                ///< `conv`
  std::string result;            ///< name of its first result
  Device preferred;              ///< where it is going to run
  std::vector<Device> supported; ///< where it could run
  std::optional<double> cost;    ///< its share of the program's, 0 to 1
};

/// What is asked about.
struct PlacementQuestion {
  const Function &function;
  /// What the function was read from: a package of Core ML is asked about as it
  /// is, and for anything else, or nothing, one is written.
  std::string source = {};
};

} // namespace anec

#endif // ANEC_RUNTIME_ASKEDPLACE_H
