//===- Shapes.h - extents that an export leaves open ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_SHAPES_H
#define ANEC_LIB_TORCH_SHAPES_H

#include "Expressions.h"
#include "Program.h"
#include "lib/MIL/FlexibleShapes.h"

namespace anec::torch {

/// Chooses the extents of inputs, and with them those of all values.
class Shapes {
public:
  Shapes(const Program &program, StringRef path,
         mil::RequestedShapes &requested, Diagnostics &diags)
      : program(program), path(path), requested(requested), diags(diags) {}

  /// Finds the numbers of the symbols that inputs have. Returns false after an
  /// error.
  bool choose();
  /// Nothing if a symbol has no number.
  std::optional<Shape> shapeOf(llvm::ArrayRef<Extent> extents) const;

private:
  bool bind(const InputSpec &input, const TensorMeta &meta);
  bool solve(const Extent &extent, int64_t number);
  bool isInRange(StringRef symbol, int64_t number) const;
  bool refuse(const InputSpec &input, const TensorMeta &meta,
              const InputShape &given);
  /// What the file says of an input that is a tensor; null for others.
  const TensorMeta *metaOf(const InputSpec &input) const;

  const Program &program;
  StringRef path;
  mil::RequestedShapes &requested;
  Diagnostics &diags;
  Symbols symbols;
};

/// `[s10, 8]`.
std::string describe(llvm::ArrayRef<Extent> extents);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_SHAPES_H
