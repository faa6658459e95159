//===- ConfigReader.h - reads config.json, key by key -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads Hugging Face's config.json so that nothing in it is overlooked: a key
/// that no family reads, and that is not known to be without effect on the
/// results, is an error.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_CONFIGREADER_H
#define ANEC_LIB_IMPORT_CONFIGREADER_H

#include "Decoder.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace anec {

/// What keys are called in the file that an object was made from, for messages;
/// a key that is missing keeps its name.
using ConfigNames = std::map<std::string, std::string, std::less<>>;

/// How the rotary embedding of a family is described.
struct RotaryForm {
  /// The key of theta outside of `rope_parameters`.
  llvm::StringRef thetaKey = "rope_theta";
  /// The type of layers that is meant, in families that have a part of
  /// `rope_parameters` for each.
  llvm::StringRef type;
  /// The part of the channels that rotates, in families where it is not all
  /// channels, by default.
  std::optional<double> part;
  /// `original_max_position_embeddings` by default; 0: those of the model.
  int64_t original = 0;
  /// Whether config.json can name no scaling but `longrope`.
  bool isLongOnly = false;
};

class ConfigReader {
public:
  /// `path` and `names` are for messages.
  ConfigReader(const llvm::json::Object &object, llvm::StringRef path,
               llvm::ArrayRef<std::string> ignored, Diagnostics &diags,
               ConfigNames names = {});

  // A value that is missing or null is `fallback`; without one, and where it
  // has another type, an error is reported.

  /// An integer from 1 to 2^31 - 1.
  int64_t size(llvm::StringRef key,
               std::optional<int64_t> fallback = std::nullopt) {
    return integer(key, fallback, 1);
  }
  /// The same up to 10000: what is kept for each layer is kept after this.
  int64_t layers(llvm::StringRef key);
  /// The same as `size`, from 0 on.
  int64_t count(llvm::StringRef key, int64_t fallback) {
    return integer(key, fallback, 0);
  }
  /// `size`, where null is another default than no value.
  int64_t sizeOrNull(llvm::StringRef key, int64_t fallback, int64_t null) {
    return size(key, isNull(key) ? null : fallback);
  }
  /// A positive number.
  double number(llvm::StringRef key,
                std::optional<double> fallback = std::nullopt);
  /// The same; 0 for null.
  double numberOrZero(llvm::StringRef key, double fallback = 0);
  bool flag(llvm::StringRef key, bool fallback);
  std::string text(llvm::StringRef key, llvm::StringRef fallback);
  /// An activation by its name.
  Activation activation(llvm::StringRef key, llvm::StringRef fallback);
  /// `layer_types`: whether each of `layers` layers has a window; empty when it
  /// is not given.
  std::vector<bool> windowedLayers(int64_t layers);
  /// A list of `count` integers; empty when it is missing or null.
  std::vector<int64_t> integers(llvm::StringRef key, int64_t count);
  /// The window of layers; 0 for none. `isUsed` says that layers have one:
  /// then null, and no value without a default, are errors.
  int64_t window(int64_t fallback, bool isUsed);
  /// The rotary embedding of a layer with heads of `headDim` channels.
  Rotary rotary(int64_t headDim, double theta, const RotaryForm &form = {});

  /// Whether the key has a value that is not null.
  bool has(llvm::StringRef key) const;
  /// Counts `key` as read.
  void accept(llvm::StringRef key) { used.insert(key); }
  /// Reports that the value of `key` is not among `known`.
  void refuse(llvm::StringRef key, const llvm::Twine &known);
  /// Reports something about the whole file.
  void fail(const llvm::Twine &reason);
  /// That `count` things, such as "channels", do not divide over `parts`
  /// others.
  void failToDivide(int64_t count, llvm::StringRef things, int64_t parts,
                    llvm::StringRef others);

  /// Checks the keys that were not read. Returns false when there was an error
  /// since the beginning.
  [[nodiscard]] bool finish();
  bool hasFailed() const { return failed; }

private:
  const llvm::json::Value *find(llvm::StringRef key);
  /// Whether the value is null, or `--ignore-key` makes it so.
  bool isNull(llvm::StringRef key) const {
    return object.get(key) && !has(key);
  }
  int64_t integer(llvm::StringRef key, std::optional<int64_t> fallback,
                  int64_t least);
  void missing(llvm::StringRef key);
  /// The object that describes the rotary embedding.
  llvm::json::Object rotaryParameters(const RotaryForm &form);
  void checkOriginal();
  /// A positive number of `parameters`, or what `number` is.
  void take(const llvm::json::Object &parameters, llvm::StringRef key,
            double &number);
  std::string spell(llvm::StringRef key) const;
  llvm::StringRef nameOf(llvm::StringRef key) const;

  const llvm::json::Object &object;
  std::string path;
  llvm::StringSet<> ignored, used;
  Diagnostics &diags;
  ConfigNames names;
  bool failed = false;
};

} // namespace anec

#endif // ANEC_LIB_IMPORT_CONFIGREADER_H
