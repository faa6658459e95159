//===- Quantization.h - forms of quantized weights --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What `--quantize=` names: the numbers that weights are stored as, and how
/// many elements share a scale or a palette. docs/use/quantization.md defines
/// the forms.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZATION_H
#define ANEC_QUANTIZE_QUANTIZATION_H

#include "anec/IR/Type.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

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

/// How the inputs of products are rounded to int8 in a program: with a scale
/// for each channel, or one for the tensor, from the largest magnitudes that
/// calibration saw.
struct ActivationQuantization {
  enum class Scales : uint8_t { Channel, Tensor };
  Scales scales = Scales::Channel;
  /// The largest magnitude that is not clipped, relative to the largest one of
  /// calibration.
  double margin = 1.5;
};

struct Quantization {
  QuantizedForm form = QuantizedForm::Int8;
  Granularity granularity = Granularity::Channel;
  int64_t group = 0; ///< for Granularity::Group
  /// Each weight is stored as int4 or int8 if that, with a scale for each group
  /// of inputs, gives its very elements, and keeps its type otherwise: of
  /// weights that were unpacked from such integers, nothing is lost.
  bool isExact = false;
  /// Weights with fewer elements keep their type.
  int64_t fewestElements = 2048;
  /// For int8 activations too; without it, they keep their type.
  std::optional<ActivationQuantization> activations;
  /// Patterns of the names of weights that keep their type, with `*` for any
  /// text: `attention.wq` of all instances, `attention.3.wq` of one where
  /// each has its own program, as in a whole model. The inputs of their
  /// products are not rounded either.
  std::vector<std::string> skipped;

  /// Parses `int8`, `lut4:per-channel`, `int4:group=32`. A form alone has the
  /// granularity that is known to run on engines: int8 and int4 per channel,
  /// palettes per tensor. `w8a8` is `int8` with int8 activations, and `exact`
  /// has groups of 32, which those of GGUF files are. Returns
  /// nothing for any other text, with the reason in `why`.
  static std::optional<Quantization> parse(llvm::StringRef text,
                                           std::string &why);
  /// The form of the weights, with the granularity: `int8:per-channel`.
  std::string str() const;
  /// As users write it: `str`, `w8a8` or `exact`.
  std::string name() const;
  /// Whether the weight `name` keeps its type; adds the pattern that says so to
  /// `used`.
  bool skips(llvm::StringRef name, std::set<std::string> &used) const;

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
