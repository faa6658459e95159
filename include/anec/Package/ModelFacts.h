//===- ModelFacts.h - what weights depend on in a model ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Properties of a model that the names and shapes of its weights do not show:
/// the layout and base of its rotary embedding, the epsilon of its norms. A
/// model with other values computes other results from the same weights.
/// Packages (`facts` in the manifest) and weight files (the metadata of
/// .safetensors files) store these facts, and they are compared when weights
/// are loaded.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_MODELFACTS_H
#define ANEC_PACKAGE_MODELFACTS_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include <map>
#include <set>

namespace anec {

/// The names of the facts: those of Hugging Face's config.json, if it has them.
namespace fact {
constexpr llvm::StringLiteral ropeStyle = "rope_style";
constexpr llvm::StringLiteral ropeTheta = "rope_theta";
/// `none`, or a JSON object.
constexpr llvm::StringLiteral ropeScaling = "rope_scaling";
/// The channels of a head that are rotated, if not all of them are.
constexpr llvm::StringLiteral ropeChannels = "rope_channels";
constexpr llvm::StringLiteral rmsNormEps = "rms_norm_eps";
/// The factor of the product of adapters.
constexpr llvm::StringLiteral loraScale = "lora_scale";
/// The matrices with adapters that are multiplied as their transposes.
constexpr llvm::StringLiteral loraTransposed = "lora_transposed";
} // namespace fact

class ModelFacts {
public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  /// The facts of the models in `module`, or of its functions if it has no
  /// model. Passes must not have lowered the ops yet.
  static ModelFacts of(const Module &module);
  /// The facts in the metadata of a file.
  static ModelFacts from(const Entries &metadata);
  /// A number of an fp32 parameter as the text of a fact.
  static std::string spell(double number);

  /// Adds a value. A fact has several values if layers differ.
  void add(llvm::StringRef name, llvm::StringRef value);
  /// Adds the facts of `other` that are not known here.
  void complete(const ModelFacts &other);
  void remove(llvm::StringRef name) { values.erase(name.str()); }

  /// All values of the fact, in one text; empty if it is not known.
  std::string find(llvm::StringRef name) const;
  /// Whether `value` is a value of the fact.
  bool has(llvm::StringRef name, llvm::StringRef value) const;
  /// The value of the fact, if it has exactly one.
  std::optional<std::string> only(llvm::StringRef name) const;
  /// The facts as they are written, sorted by name.
  Entries entries() const;
  /// The names of the facts that are known in both and differ: neither has all
  /// values of the other.
  std::vector<std::string> differences(const ModelFacts &other) const;

private:
  std::map<std::string, std::set<std::string>> values;
};

/// Whether weights with these facts, from the file `path`, fit a model. Reports
/// an error for each fact that differs.
[[nodiscard]] bool checkFacts(const ModelFacts &model,
                              const ModelFacts &weights, llvm::StringRef path,
                              Diagnostics &diags);

} // namespace anec

#endif // ANEC_PACKAGE_MODELFACTS_H
