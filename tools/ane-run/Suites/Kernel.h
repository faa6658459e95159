//===- Kernel.h - programs that benchmarks run -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Products with matrices, one after the other, over many positions, in the
/// forms that others have timed. Positions do not mix: what comes out at one
/// follows from what goes in there, so that few of them tell what is right.
///
/// The matrices are dense and, where they are square, orthogonal (a cosine
/// transform with signs), so that values keep their size and errors add up
/// slowly however long the chain is: nothing vanishes, nothing overflows, and a
/// wrong matrix gives something else altogether.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SUITES_KERNEL_H
#define ANEC_TOOLS_ANE_RUN_SUITES_KERNEL_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"

namespace anec {

enum class KernelForm : uint8_t {
  Conv,         ///< 1x1 convolutions; fp16 inputs and outputs
  ConvFp32,     ///< fp32 inputs and outputs, cast in the program
  OneWeight,    ///< as ConvFp32, and all convolutions have the same weight
  Int8Weights,  ///< fp16, with weights unpacked from int8
  Int8,         ///< and what is between convolutions rounded to int8
  Matmul,       ///< `matmul` with a constant
  PackedMatmul, ///< `matmul` with a weight that is part of the input
};
/// `conv`, `conv, fp32 I/O`, ...: for people.
llvm::StringRef describe(KernelForm form);
/// For file names and JSON: `conv`, `conv-fp32-io`, ...
llvm::StringRef spelling(KernelForm form);

struct Kernel {
  KernelForm form = KernelForm::Conv;
  int64_t inputs = 0, outputs = 0; ///< channels
  int64_t height = 1, width = 0;   ///< positions
  unsigned depth = 1;              ///< products; more than one is square
  uint64_t seed = 1;               ///< of the weights

  int64_t positions() const { return height * width; }
  int64_t flops() const {
    return 2 * inputs * outputs * positions() * int64_t(depth);
  }
  /// As the program stores them.
  uint64_t weightBytes() const;
  /// The same over `positions` positions.
  Kernel narrowed(int64_t positions) const;
};

/// A module with the kernel as its only function, `main`, of one parameter.
std::unique_ptr<Module> buildKernel(const Kernel &kernel,
                                    llvm::StringRef milVersion);

/// Where the parameter has what goes in and, behind, the weight of
/// PackedMatmul: as packages have them that train.
PackedLayout inputLayout(const Kernel &kernel);
/// That weight, [outputs, inputs].
ConstantRef packedWeight(const Kernel &kernel);

/// What activations are multiples of, where they are rounded to int8.
double activationStep();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SUITES_KERNEL_H
