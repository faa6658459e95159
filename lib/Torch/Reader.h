//===- Reader.h - archives of torch.export to IR ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_READER_H
#define ANEC_LIB_TORCH_READER_H

#include "anec/IR/IR.h"
#include "anec/MIL/Reader.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// Reads the archive at `path`, which torch.export.save of PyTorch 2.6 or
/// newer wrote, as a module with the kernel `main`, of MIL ops in fp32; int64
/// and double become int32 and fp32. Buffers that the model writes become
/// states. Of `options`, `shapes`, `values`, `function` and `description`
/// count. Returns null, with the reason reported, when the model cannot be
/// read; an operator without a counterpart is an error that names it and the
/// line in Python.
[[nodiscard]] std::unique_ptr<Module>
readTorch(llvm::StringRef path, Diagnostics &diags,
          const MILReadOptions &options = {});

} // namespace anec

#endif // ANEC_LIB_TORCH_READER_H
