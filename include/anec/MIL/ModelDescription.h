//===- ModelDescription.h - what a model says of itself ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a Core ML model says beyond its functions: how callers see inputs and
/// outputs (as images, labels, optional arrays), which function is called by
/// default, and who made it. The IR has none of it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_MODELDESCRIPTION_H
#define ANEC_MIL_MODELDESCRIPTION_H

#include "anec/IR/Constant.h"
#include "anec/Support/Words.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace anec {

/// The order of the channels of an image, which is also that of the program.
ANEC_ENUM(ColorSpace, (Gray, "grayscale"), (GrayFloat16, "grayscale fp16"),
          (RGB, "RGB"), (BGR, "BGR"))

struct ImageDescription {
  int64_t width = 0, height = 0;
  ColorSpace colors = ColorSpace::RGB;
};

/// An input, an output or a state as callers see it.
struct FeatureDescription {
  std::string name;
  std::string summary; ///< the author's words; may be empty
  /// As the model declares it: `fp16[1, 3, 8]`, `image 20x24 RGB`, `string`.
  std::string type;
  bool isOptional = false;
  /// Whether callers can give values of several shapes.
  bool hasSeveralShapes = false;
  /// Each element of an optional input that is not given; 0 unless declared.
  double byDefault = 0;
  /// Of an image: the program's array has the pixels as [1, channels, height,
  /// width], 0 to 255.
  std::optional<ImageDescription> image;
  /// Of the label of a classifier: the strings or 64-bit integers of which the
  /// program's result is the index.
  ConstantRef classes;
};

/// What the host does with the results of a function: of boxes that overlap, it
/// keeps the one of the most confidence. Names are of results, and the
/// function passes on the thresholds that are inputs.
struct BoxSuppression {
  std::string confidence, coordinates; ///< [boxes, classes] and [boxes, 4]
  std::string overlapInput, confidenceInput;   ///< empty for none
  std::string keptConfidence, keptCoordinates; ///< what callers see
  double overlapThreshold = 0, confidenceThreshold = 0;
  bool isPerClass = false; ///< only boxes of one class suppress each other
  /// How many boxes callers see; those that are missing are zeros.
  int64_t fewest = 0, most = -1; ///< -1 is unbounded
};

struct FunctionDescription {
  std::string name;
  std::vector<FeatureDescription> inputs, outputs, states;
  std::optional<BoxSuppression> suppression;

  const FeatureDescription *input(llvm::StringRef name) const;
  const FeatureDescription *output(llvm::StringRef name) const;
  /// The description of the output, added if it is missing.
  FeatureDescription &outputOf(llvm::StringRef name);
};

/// A model in a pipeline.
struct PartDescription {
  std::string name; ///< may be empty
  std::string kind; ///< `mlProgram`
};

struct ModelDescription {
  /// Empty when the model does not name one.
  std::string defaultFunction;
  std::vector<FunctionDescription> functions;
  /// The author, license and other entries, by name, in the model's order.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Of a pipeline, in the order in which they run.
  std::vector<PartDescription> parts;

  /// Null when nothing is known about the function.
  const FunctionDescription *find(llvm::StringRef function) const;
  /// The same, added if it is missing.
  FunctionDescription &of(llvm::StringRef function);
};

} // namespace anec

#endif // ANEC_MIL_MODELDESCRIPTION_H
