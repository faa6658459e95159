//===- CostGraphs.h - graphs of programs and schedules ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COSTGRAPHS_H
#define ANEC_TOOLS_ANEC_COSTGRAPHS_H

#include "LayeredDrawing.h"
#include "anec/Target/Predict.h"

namespace anec {

/// The ops of a program between its inputs and outputs.
LayeredDrawing drawProgram(const Function &function);

/// What a host function calls. The ops in between are one node where they are
/// as many calls from the inputs, those that only gradients come from another.
LayeredDrawing drawSchedule(const Function &host, const RunCost &run);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COSTGRAPHS_H
