//===- Reader.h - ONNX models to IR -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_READER_H
#define ANEC_LIB_ONNX_READER_H

#include "anec/IR/IR.h"
#include "anec/MIL/Reader.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// Reads the ONNX model at `path` as a module with the kernel `main`, of MIL
/// ops in fp32. Opsets 1 to 28; int64 and double become int32 and fp32.
/// What depends only on constants and shapes is computed. Of `options`,
/// `shapes`, `values` and `description` count. Returns null, with the reason
/// reported, when the model cannot be read; a node without a counterpart is an
/// error that names it. Weights in other files must lie in the model's folder.
[[nodiscard]] std::unique_ptr<Module>
readOnnx(llvm::StringRef path, Diagnostics &diags,
         const MILReadOptions &options = {});

} // namespace anec

#endif // ANEC_LIB_ONNX_READER_H
