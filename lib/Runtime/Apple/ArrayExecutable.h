//===- ArrayExecutable.h - a program with arrays of its own -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_ARRAYEXECUTABLE_H
#define ANEC_LIB_RUNTIME_APPLE_ARRAYEXECUTABLE_H

#include "HostArray.h"

namespace anec::apple {

/// An executable whose inputs and outputs are contiguous arrays in host memory.
/// Outputs are marked before each run: a framework that reports success without
/// having written one is an error.
class ArrayExecutable : public Executable {
public:
  [[nodiscard]] bool writeInput(unsigned port, const Region &region,
                                const float *elements,
                                Diagnostics &diags) override;
  [[nodiscard]] bool readOutput(unsigned port, const Region &region,
                                float *elements, Diagnostics &diags) override;
  [[nodiscard]] bool execute(Diagnostics &diags) override;
  [[nodiscard]] bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                         llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                         Diagnostics &diags) override;
  uint64_t constantBytes() const override { return weightBytes; }
  /// The bytes of the arrays; the framework's other memory is not known.
  uint64_t activationBytes() const override;

protected:
  explicit ArrayExecutable(uint64_t constantBytes)
      : weightBytes(constantBytes) {}
  void addInput(const Port &port, DType elements);
  void addOutput(const Port &port, DType elements);

  /// Computes the outputs from the inputs. Returns false, with the reason
  /// reported, on failure.
  [[nodiscard]] virtual bool compute(llvm::ArrayRef<HostArray> inputs,
                                     llvm::MutableArrayRef<HostArray> outputs,
                                     Diagnostics &diags) = 0;
  /// Reports that an output was not written.
  virtual void reportUnwritten(llvm::StringRef output,
                               Diagnostics &diags) const = 0;

private:
  std::vector<HostArray> inputArrays, outputArrays;
  uint64_t weightBytes;
};

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_ARRAYEXECUTABLE_H
