//===- Terminal.h - the terminal of standard output -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_TERMINAL_H
#define ANEC_TOOLS_TERMINAL_H

namespace anec {

/// The number of columns: `COLUMNS` of the environment, if it is a number, or
/// what the terminal has now; 0 when neither is known.
unsigned terminalColumns();

} // namespace anec

#endif // ANEC_TOOLS_TERMINAL_H
