//===- HostExecutable.h - a program with arrays of its own ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H
#define ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H

#include "Program.h"

namespace anec::ane {

/// An executable of a path that takes contiguous arrays instead of surfaces.
/// Outputs are marked before each run: a path that reports success without
/// having written one is an error.
class HostExecutable : public Executable {
public:
  HostExecutable(std::shared_ptr<Program> program, const ProgramPorts &ports,
                 uint64_t constantBytes);

  bool writeInput(unsigned port, const Region &region, const float *elements,
                  Diagnostics &diags) override;
  bool readOutput(unsigned port, const Region &region, float *elements,
                  Diagnostics &diags) override;
  bool execute(Diagnostics &diags) override;
  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &diags) override;
  uint64_t constantBytes() const override { return weightBytes; }
  /// The bytes of the arrays; the engine's other memory is not known.
  uint64_t activationBytes() const override;

private:
  std::shared_ptr<Program> program;
  std::vector<HostArray> inputArrays, outputArrays;
  uint64_t weightBytes;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H
