//===- PortParts.h - inputs and outputs without copies ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A packed kernel cuts its input into pieces first and puts its output
/// together last. Where a program does nothing else with them, the pieces live
/// in places of their own, which are read and written directly: weights that
/// ride in an input stay where they are from run to run, and nothing is cut or
/// put together.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PORTPARTS_H
#define ANEC_LIB_RUNTIME_CPU_PORTPARTS_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/DenseSet.h"

namespace anec::cpu {

/// A rectangle of a port, and the value that it is.
struct PortPart {
  unsigned port;
  Region region;
  const Value *value;
};

struct PortParts {
  PortParts() = default;
  PortParts(const Function &function, Numerics numerics);

  /// They cover what the program reads of its inputs, and its whole outputs.
  std::vector<PortPart> inputs, outputs;
  std::vector<const Value *> states;
  /// Slices of inputs and concats of outputs, which nothing has to run.
  llvm::DenseSet<const Op *> absorbed;
  /// Inputs and outputs that exist as their parts only.
  llvm::DenseSet<const Value *> dissolved;

private:
  void addInput(const Value &param, unsigned port, Numerics numerics);
  void addOutput(const Value *result, unsigned port, Numerics numerics);
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PORTPARTS_H
