//===- CostGraphs.h - graphs of programs and schedules ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_COSTGRAPHS_H
#define ANEC_LIB_REPORT_COSTGRAPHS_H

#include "anec/Target/Predict.h"
#include "lib/Report/LayeredDrawing.h"

namespace anec {

/// The ops of a program between its inputs and outputs. Constants and weights
/// are left out.
LayeredDrawing drawProgram(const Function &function);

/// The calls of a host function, each with its predicted time in `run`. The
/// host ops between calls are grouped: one node for those at the same number of
/// calls from the inputs, and another for those of them that only gradients
/// depend on.
LayeredDrawing drawSchedule(const Function &host, const RunCost &run);

} // namespace anec

#endif // ANEC_LIB_REPORT_COSTGRAPHS_H
