//===- LayerCalls.h - how a model calls its layers --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Layers of a model can differ in their window and their rotary embedding.
/// What differs is a parameter of the layer; a pattern that repeats becomes a
/// `repeat`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_LAYERCALLS_H
#define ANEC_LIB_IMPORT_LAYERCALLS_H

#include "Decoder.h"
#include "llvm/Support/raw_ostream.h"

namespace anec {

/// The parameters of a layer that its calls give different values.
class KindParameters {
public:
  explicit KindParameters(const std::vector<LayerKind> &kinds);

  bool hasWindow = false, hasTheta = false, hasRotary = false,
       hasFactor = false, hasMagnitude = false;

  /// The rotary embedding of the first layer that has one.
  const Rotary *rotated() const { return first; }
  /// The same of one whose angles are scaled, if there is one.
  const Rotary *scaled() const { return firstScaled; }
  /// `, window: int, theta: float`
  std::string layerParameters() const;
  /// `, theta, factor`: those that the rotation takes.
  std::string rotationParameters() const;
  /// `, window = 512, theta = 10000.0`
  std::string arguments(const LayerKind &kind) const;

private:
  const Rotary *first = nullptr, *firstScaled = nullptr;
};

/// Whether the differences between layers can be written: rotary embeddings
/// differ only in theta, the number of channels, and the factor and the
/// magnitude of scaling.
bool canWriteKinds(const std::vector<LayerKind> &kinds);

/// The statements that apply all layers to `x`.
void writeLayerCalls(const Decoder &decoder, const KindParameters &parameters,
                     llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_IMPORT_LAYERCALLS_H
