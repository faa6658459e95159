//===- FatalErrors.h - fatal errors of LLVM ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_FATALERRORS_H
#define ANEC_TOOLS_FATALERRORS_H

namespace anec {

/// Ends the process as a failure of the machine when LLVM cannot go on, for
/// example because standard output cannot be written.
void endOnFatalErrors();

} // namespace anec

#endif // ANEC_TOOLS_FATALERRORS_H
