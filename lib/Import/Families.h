//===- Families.h - the families of models ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A family is one row: the value of `model_type` in config.json, how its keys
/// become a Decoder, and what its arrays are called.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_FAMILIES_H
#define ANEC_LIB_IMPORT_FAMILIES_H

#include "ConfigReader.h"

namespace anec {

/// What the array of a role is called; `#` stands for the number of the layer.
struct ArrayName {
  WeightRole role;
  llvm::StringLiteral pattern;
};

/// The names of a file's arrays: those of a family, and before them what it
/// calls otherwise than others.
struct ArrayNames {
  llvm::ArrayRef<ArrayName> shared, own;

  /// The pattern of a role that the family has.
  llvm::StringRef of(WeightRole role) const;
};

struct Family {
  llvm::StringLiteral name; ///< `model_type`
  void (*read)(ConfigReader &config, Decoder &decoder);
  ArrayNames arrays;
  /// Before the names of all arrays but the classifier's, in files of whole
  /// models; files of the decoder alone are without it.
  llvm::StringLiteral prefix;
};

/// All families, sorted by name.
llvm::ArrayRef<Family> families();
/// Null when there is none.
const Family *findFamily(llvm::StringRef name);

/// Reads config.json. Returns the family of the model; null, with the reason
/// reported, when it has parts that anec does not know. `path` and `names` are
/// for messages.
[[nodiscard]] const Family *readDecoder(const llvm::json::Object &object,
                                        llvm::StringRef path,
                                        llvm::ArrayRef<std::string> ignoredKeys,
                                        Decoder &decoder, Diagnostics &diags,
                                        const ConfigNames &names = {});

/// The names that most families have in folders.
llvm::ArrayRef<ArrayName> folderArrays();

// The readers, and the names, by the file that they are in.
void readLlama(ConfigReader &config, Decoder &decoder);
void readMistral(ConfigReader &config, Decoder &decoder);
void readQwen2(ConfigReader &config, Decoder &decoder);
void readQwen3(ConfigReader &config, Decoder &decoder);
void readSmolLM3(ConfigReader &config, Decoder &decoder);

void readGemma2(ConfigReader &config, Decoder &decoder);
void readGemma3(ConfigReader &config, Decoder &decoder);
llvm::ArrayRef<ArrayName> gemmaArrays();

void readGpt2(ConfigReader &config, Decoder &decoder);
llvm::ArrayRef<ArrayName> gpt2Arrays();

void readPhi(ConfigReader &config, Decoder &decoder);
llvm::ArrayRef<ArrayName> phiArrays();
void readPhi3(ConfigReader &config, Decoder &decoder);

/// The sizes that most families name alike. Without `head_dim`, heads have
/// `headDim` channels, or, if that is 0, share those of the model.
void readSizes(ConfigReader &config, Decoder &decoder, int64_t headDim = 0);
/// Gives all layers the same kind.
void setKinds(Decoder &decoder, const LayerKind &kind);
/// Gives the layers `windowed` selects the window `size`, and the others none.
void setWindows(Decoder &decoder, const std::vector<bool> &windowed,
                int64_t size);

} // namespace anec

#endif // ANEC_LIB_IMPORT_FAMILIES_H
