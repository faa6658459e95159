//===- Coordinates.h - values that say where to read ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// fp16 has the coordinates of an image of 1024 pixels only to half a pixel,
/// and their differences, such as the flow from one image to another, not at
/// all. So ops that compute coordinates stay in fp32, and what computes with
/// coordinates, up to an op that makes features of them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_COORDINATES_H
#define ANEC_LIB_PASSES_NARROW_COORDINATES_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

class Coordinates {
public:
  explicit Coordinates(const Function &function);

  /// Whether `op` computes coordinates, or with coordinates.
  bool computes(const Op &op) const;
  /// Whether `op` samples an image at coordinates that stay in fp32.
  bool areReadBy(const Op &op) const;

private:
  bool isCoordinate(const Value *value) const;
  void follow(const Op &op);

  /// Ops that the coordinates of some op depend on by arithmetic or by moves.
  llvm::DenseSet<const Op *> sources;
  llvm::DenseSet<const Op *> wide;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_COORDINATES_H
