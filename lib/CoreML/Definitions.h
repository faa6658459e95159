//===- Definitions.h - what Core ML's ops take ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_DEFINITIONS_H
#define ANEC_LIB_COREML_DEFINITIONS_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"

namespace anec::coreml {

/// Whether some opset's definition of the op takes its arguments: MIL text can
/// have more than the definitions in coremltools (converters/mil/mil/ops/defs),
/// and the engine takes more. Reports what is wrong.
[[nodiscard]] bool checkDefinition(const Op &op, Diagnostics &diags);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_DEFINITIONS_H
