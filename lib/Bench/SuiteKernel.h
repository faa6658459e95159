//===- SuiteKernel.h - programs that benchmarks run -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Chains of products with matrices over many positions, in the forms that
/// others have timed. Positions do not mix: the output at a position depends
/// only on the input there, so that a few positions suffice to check all.
///
/// The matrices are dense and, where they are square, orthogonal (a cosine
/// transform with signs), so that values keep their size and errors add up
/// slowly in a chain of any length: no value vanishes or overflows, and a wrong
/// matrix gives entirely different outputs.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_BENCH_SUITEKERNEL_H
#define ANEC_LIB_BENCH_SUITEKERNEL_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/Support/Words.h"

namespace anec {

/// With their names in files and JSON. `Conv` is 1x1 convolutions with fp16
/// inputs and outputs; `ConvFp32` has fp32 ones, cast in the program, and
/// `OneWeight` also the same weight for all convolutions. `Int8Weights` are
/// unpacked, and `Int8` rounds activations too. `Matmul` is of a constant, and
/// `PackedMatmul` of a weight that is part of the input.
ANEC_ENUM(KernelForm, (Conv, "conv"), (ConvFp32, "conv-fp32-io"),
          (OneWeight, "conv-fp32-io-one-weight"), (Int8Weights, "int8-weights"),
          (Int8, "w8a8"), (Matmul, "matmul"),
          (PackedMatmul, "matmul-packed-weight"))
/// For text output: `conv`, `conv, fp32 I/O`, ...
llvm::StringRef describe(KernelForm form);

struct SuiteKernel {
  KernelForm form = KernelForm::Conv;
  int64_t inputs = 0, outputs = 0; ///< channels
  int64_t height = 1, width = 0;   ///< positions
  unsigned depth = 1; ///< number of products; if several, they are square
  uint64_t seed = 1;  ///< of the weights

  int64_t positions() const { return height * width; }
  int64_t flops() const {
    return 2 * inputs * outputs * positions() * int64_t(depth);
  }
  /// Bytes of the weights as the program stores them.
  uint64_t weightBytes() const;
  /// The same kernel over `positions` positions, in one row.
  SuiteKernel narrowed(int64_t positions) const;
};

/// A module with the kernel as its only function, `main`, of one parameter.
std::unique_ptr<Module> buildKernel(const SuiteKernel &kernel,
                                    llvm::StringRef milVersion);

/// The layout of the kernel's parameter: its input, followed by the weight of
/// PackedMatmul, as in packages that train.
PackedLayout inputLayout(const SuiteKernel &kernel);
/// The weight of PackedMatmul, [outputs, inputs].
ConstantRef packedWeight(const SuiteKernel &kernel);

/// The scale of activations that are rounded to int8.
double activationStep();

} // namespace anec

#endif // ANEC_LIB_BENCH_SUITEKERNEL_H
