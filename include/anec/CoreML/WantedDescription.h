//===- WantedDescription.h - what packages say of themselves ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a person wants a Core ML package to say and to take that its program
/// does not have: names, images, class labels, words and an author. A JSON file
/// has it (docs/formats/coreml.md):
///
///   {
///     "author": "Ada",
///     "inputs": {"x": {"name": "photo",
///                      "image": {"colors": "RGB", "scale": 0.0078431373,
///                                "bias": -1}}},
///     "classifier": {"classes": "labels.txt", "probabilities": "y"}
///   }
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_COREML_WANTEDDESCRIPTION_H
#define ANEC_COREML_WANTEDDESCRIPTION_H

#include "anec/IR/IR.h"
#include "anec/MIL/ModelDescription.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// An array as an image: each element that the program takes is that of the
/// image, 0 to 255, times `scale` plus `bias`; and of an output, each element
/// of the image is that of the program times `scale` plus `bias`. Both have one
/// number, or one for each channel.
struct WantedImage {
  ColorSpace colors = ColorSpace::RGB;
  std::vector<double> scale = {1}, bias = {0};
  SourceRange range;
};

/// An input or an output.
struct WantedFeature {
  std::string of;      ///< its name in the program
  std::string name;    ///< its name in the package; empty for the same
  std::string summary; ///< for people
  std::optional<WantedImage> image;
  /// Makes an input optional, with this value for each element.
  std::optional<double> byDefault;
  SourceRange range, nameRange, defaultRange;
};

/// The label of the most probable class, and a dictionary of probabilities, in
/// place of an output.
struct WantedClassifier {
  /// Strings or 64-bit integers, in the order of the output's elements.
  ConstantRef classes;
  std::string probabilities; ///< the output; empty for the only one
  /// Whether the output has scores, of which `softmax` makes probabilities.
  bool hasScores = false;
  /// The name of the output with the label; that of the dictionary is
  /// `NAME_probs`.
  std::string label = "classLabel";
  SourceRange range, classesRange, probabilitiesRange, labelRange;
};

struct WantedDescription {
  /// Entries as in ModelDescription: `description`, `author`, `license`,
  /// `version`, and the user's own.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<WantedFeature> inputs, outputs;
  std::optional<WantedClassifier> classifier;
};

/// Reads the JSON file at `path`. Ranges are places in its text. Returns
/// nothing, with the reason reported, on failure.
[[nodiscard]] std::optional<WantedDescription>
readWantedDescription(llvm::StringRef path, Diagnostics &diags);
/// The same for a text, a buffer of `diags`. Files that it names are relative
/// to `folder`.
[[nodiscard]] std::optional<WantedDescription>
parseWantedDescription(llvm::StringRef text, llvm::StringRef folder,
                       Diagnostics &diags);

/// Gives the functions of `module`, which become a package, the inputs and
/// outputs that are wanted, and adds the rest to `description`. Returns false,
/// with the reason reported, when the program does not have what is described.
[[nodiscard]] bool describeProgram(Module &module,
                                   const WantedDescription &wanted,
                                   ModelDescription &description,
                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_COREML_WANTEDDESCRIPTION_H
