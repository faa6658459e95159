//===- ClosedOrder.h - an order in which groups run -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_CLOSEDORDER_H
#define ANEC_LIB_PASSES_CLOSEDORDER_H

#include "OpenedModule.h"

namespace anec {

/// The ops of the host function and all ops of each group, sorted so that a
/// group can run as a unit, otherwise in their original order.
std::vector<std::vector<Op *>> closedOrder(const OpenedBody &body);

} // namespace anec

#endif // ANEC_LIB_PASSES_CLOSEDORDER_H
