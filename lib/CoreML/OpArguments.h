//===- OpArguments.h - what each parameter of an op has ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_OPARGUMENTS_H
#define ANEC_LIB_COREML_OPARGUMENTS_H

#include "lib/IR/OpDef.h"

namespace anec::coreml {

/// A parameter that an op has an argument for.
struct OpArgument {
  const ParamDef *param;
  DType dtype;
  const Value *value = nullptr; ///< null for a constant
};

/// The arguments of `op`, without those of a variadic parameter.
inline llvm::SmallVector<OpArgument, 8> argumentsOf(const Op &op) {
  llvm::SmallVector<OpArgument, 8> arguments;
  unsigned values = 0, constants = 0;
  for (const ParamDef &param : op.def().parameters()) {
    if (param.kind == ParamKind::Variadic)
      continue;
    if (param.isConstant()) {
      if (const ConstantRef &constant = op.constants()[constants++])
        arguments.push_back({&param, constant->dtype()});
    } else if (const Value *value = op.operand(values++)) {
      arguments.push_back({&param, value->type.dtype, value});
    }
  }
  return arguments;
}

/// Whether the value is an array of the program, also an unpacked one.
inline bool isStored(const Value &value) {
  const Op *op = value.definingOp();
  return op &&
         (op->def().has(trait::Stored) || op->def().has(trait::Constexpr));
}

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_OPARGUMENTS_H
