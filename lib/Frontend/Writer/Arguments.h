//===- Arguments.h - what functions share becomes arguments -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_WRITER_ARGUMENTS_H
#define ANEC_LIB_FRONTEND_WRITER_ARGUMENTS_H

#include "anec/IR/IR.h"

namespace anec::frontend {

/// The values of weights that were constants, by name.
using ConstantWeights = std::vector<std::pair<std::string, ConstantRef>>;

/// Gives a module a form that can be written, in which a name is one thing:
/// weights that several functions have become weights of the entry, which it
/// passes on, and so do constants that have no expression, as frozen weights.
ConstantWeights makeArguments(Module &module, Function &entry);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_WRITER_ARGUMENTS_H
