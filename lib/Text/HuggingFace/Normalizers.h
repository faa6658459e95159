//===- Normalizers.h - what changes a text before it is split ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_NORMALIZERS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_NORMALIZERS_H

#include "Fields.h"
#include <memory>

namespace anec::hf {

/// A stretch of text between added tokens, or a part of one.
struct Stretch {
  std::string text;
  /// The whole text begins with it.
  bool isFirst = false;
  /// It continues a stretch of which only a part was given: nothing is put
  /// before it.
  bool continues = false;
};

class Normalizer {
public:
  virtual ~Normalizer();
  /// Returns false, with `error` set, when a limit is exceeded.
  [[nodiscard]] virtual bool apply(Stretch &stretch,
                                   std::string &error) const = 0;
};

/// A type of normalizer: its name in the file, and its reader, which returns
/// null after an error.
struct NormalizerRow {
  llvm::StringLiteral type;
  std::unique_ptr<Normalizer> (*read)(Fields &fields);
};
// Each in a file of its own.
extern const NormalizerRow bertNormalizerRow, byteLevelNormalizerRow,
    precompiledRow;

/// The normalizer that `fields` describes; null after an error.
std::unique_ptr<Normalizer> readNormalizer(Fields &fields);

/// `{"String": ..}` or `{"Regex": ..}`, as a regular expression; nothing after
/// an error.
class Regex;
std::optional<Regex> readPattern(Fields fields);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_NORMALIZERS_H
