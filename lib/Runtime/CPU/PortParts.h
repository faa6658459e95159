//===- PortParts.h - inputs and outputs without copies ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A packed kernel first slices its input, and concatenates its output last. If
/// a program has no other use of them, each part has its own memory, which is
/// read and written directly: weights in a packed input stay in place between
/// runs, and nothing is sliced or concatenated.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PORTPARTS_H
#define ANEC_LIB_RUNTIME_CPU_PORTPARTS_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/DenseSet.h"

namespace anec::cpu {

/// A rectangle of a port, and its value.
struct PortPart {
  unsigned port;
  Region region;
  const Value *value;
};

struct PortParts {
  PortParts() = default;
  PortParts(const Function &function, Numerics numerics);

  /// The parts cover what the program reads of its inputs, and its whole
  /// outputs.
  std::vector<PortPart> inputs, outputs;
  std::vector<const Value *> states;
  /// Slices of inputs and concats of outputs, which do not have to run.
  llvm::DenseSet<const Op *> absorbed;
  /// Inputs and outputs that exist only as their parts.
  llvm::DenseSet<const Value *> dissolved;

private:
  void addInput(const Value &param, unsigned port, Numerics numerics);
  void addOutput(const Value *result, unsigned port, Numerics numerics);
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PORTPARTS_H
