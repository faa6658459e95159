//===- Quantization.h - forms of quantized weights --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What `--quantize=` names: the numbers that weights are stored as, and how
/// many elements share a scale or a palette. docs/quantization.md defines the
/// forms.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZATION_H
#define ANEC_QUANTIZE_QUANTIZATION_H

#include "anec/IR/Type.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace anec {

/// How the elements of a weight are stored.
enum class QuantizedForm : uint8_t {
  Int8, ///< integers in [-127, 127], times a scale
  Int4, ///< integers in [-7, 7], times a scale
  Lut4, ///< indices into a palette of 16 elements
  Lut6, ///< indices into a palette of 64 elements
};

/// The elements that share a scale or a palette.
enum class Granularity : uint8_t {
  Tensor,  ///< all
  Channel, ///< those of an output
  /// Scales: `group` inputs of an output. Palettes: `group` outputs.
  Group,
};

/// The axes of a weight whose elements multiply the inputs of a product, and
/// make its outputs. A filter has other axes too.
struct ProductAxes {
  unsigned outputs = 0, inputs = 1;
};

struct Quantization {
  QuantizedForm form = QuantizedForm::Int8;
  Granularity granularity = Granularity::Channel;
  int64_t group = 0; ///< for Granularity::Group
  /// Weights with fewer elements keep their type.
  int64_t fewestElements = 2048;

  /// Parses `int8`, `lut4:per-channel`, `int4:group=32`. A form alone has the
  /// granularity that is known to run on engines: int8 and int4 per channel,
  /// palettes per tensor. Returns nothing for any other text, with the reason
  /// in `why`.
  static std::optional<Quantization> parse(llvm::StringRef text,
                                           std::string &why);
  /// What `parse` reads, with the granularity: `int8:per-channel`.
  std::string str() const;

  bool isPalette() const { return form >= QuantizedForm::Lut4; }
  unsigned bits() const;
  /// The element type of the integers or indices.
  DType dataType() const;
  /// The extents of the array of scales or palettes for a weight of `shape`.
  /// For groups that do not divide the extent of their axis, they are rounded
  /// down.
  Shape blocks(llvm::ArrayRef<int64_t> shape, ProductAxes axes) const;
};

} // namespace anec

#endif // ANEC_QUANTIZE_QUANTIZATION_H
