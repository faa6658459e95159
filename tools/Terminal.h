//===- Terminal.h - the terminal of standard output -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_TERMINAL_H
#define ANEC_TOOLS_TERMINAL_H

#include "llvm/Support/raw_ostream.h"

namespace anec {

/// The number of columns: `COLUMNS` of the environment, if it is a number, or
/// what the terminal has now; 0 when neither is known.
unsigned terminalColumns();

/// Whether to print in colours: to a terminal that has them, unless NO_COLOR of
/// the environment says otherwise.
bool hasColors(llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_TERMINAL_H
