//===- Opsets.h - the opsets that ops need ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_OPSETS_H
#define ANEC_LIB_COREML_OPSETS_H

#include "anec/IR/IR.h"

namespace anec::coreml {

/// Numbers of opsets: `ios15` is 15.
struct OpsetRange {
  unsigned first = 15;
  unsigned last = 99; ///< the newest one, whatever it is
};

/// The opsets whose definition of the op takes these operands, parameters and
/// results. From the definitions in coremltools
/// (converters/mil/mil/ops/defs).
OpsetRange opsetsOf(const Op &op);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_OPSETS_H
