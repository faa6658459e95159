//===- Dense.cpp - runs with contiguous arrays ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Shim/Ledger.h"
#include "Compiler.h"
#include <cstring>

using namespace anec;
using namespace ane_double;

void ane_double::runDense(LoadedProgram &program,
                          llvm::ArrayRef<const uint8_t *> inputs,
                          llvm::ArrayRef<uint8_t *> outputs) {
  if (ledger().odd == "idle" || (program.isStale && program.hasRun))
    return;
  program.hasRun = true;
  Executable &executable = *program.executable;
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.emplace_back(inputs[i], executable.inputs()[i].type.numBytes());
  for (size_t i = 0; i < outputs.size(); ++i)
    out.emplace_back(outputs[i], executable.outputs()[i].type.numBytes());
  Diagnostics diags;
  if (!executable.run(in, out, diags))
    return;
  for (auto [port, bytes] : llvm::zip_equal(executable.outputs(), out)) {
    if (ledger().odd == "zeros")
      std::memset(bytes.data(), 0, bytes.size());
    size_t row = port.type.isScalar() ? bytes.size()
                                      : size_t(port.type.shape.back()) *
                                            byteSize(port.type.dtype, 1);
    if (program.isWrong)
      std::memset(bytes.data() + bytes.size() - row, 0, row);
  }
}
