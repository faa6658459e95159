//===- WeightBinding.h - where weights get their values ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Gives the `weight` ops of a function their values: from what ArraySource
/// opens, by name or through a mapping file, or drawn from a seed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_WEIGHTBINDING_H
#define ANEC_PACKAGE_WEIGHTBINDING_H

#include "anec/Arrays/ArraySource.h"
#include "anec/IR/IR.h"
#include "anec/IR/SourceWeights.h"
#include "anec/Package/ModelFacts.h"
#include "anec/Support/Executor.h"
#include "anec/Support/Words.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec {

struct WeightOptions {
  /// A file or folder that ArraySource opens; empty for none.
  std::string source;
  /// The contents of `source`, if it is a file that has been read.
  MappedFile contents;
  /// A .safetensors file with adapters: its arrays come before those of
  /// `source`, by the names of weights. Empty for none.
  std::string adapter;
  /// A JSON object from weight names (`attention.wq`) to names in `source`;
  /// empty when they are the same. A weight missing from it keeps its own name.
  /// The object can have a member `config`, which is for exporting.
  std::string mapping;
  /// The program or package that the weights are for. Without `mapping`, the
  /// file `findWeightMap(program)`, if there is one, maps names too, where
  /// `source` has an array of the other name.
  std::string program;
  /// The map in the package, if it is in memory; null otherwise.
  MappedFile programMap = nullptr;
  /// Values by name, of weights that `adapter` and `source` do not have; null
  /// for none.
  std::shared_ptr<const WeightValues> values = nullptr;
  /// Draws all weights that have no value otherwise; without it, a missing
  /// weight is an error.
  std::optional<uint64_t> seed;
  /// Its workers draw weights and write weight files; null creates one with a
  /// thread per processor.
  std::shared_ptr<Executor> executor = nullptr;
};

/// The initial distribution of a drawn weight.
/// - `Normal`: with a deviation of 1/sqrt(inputs of one output)
/// - `Table`: normal with a deviation of 0.02: rows that are looked up
ANEC_ENUM(InitialValue, (Normal, "normal"), (Table, "table"), (Ones, "ones"),
          (Zeros, "zeros"))

class WeightBinding {
public:
  /// Opens the sources that `options` names. Returns nothing, with the reason
  /// reported, on failure.
  [[nodiscard]] static std::optional<WeightBinding>
  open(const WeightOptions &options, Diagnostics &diags);

  /// The value of `weight`, in its result's type; null, with the reason
  /// reported, when it is unavailable.
  [[nodiscard]] ConstantRef resolve(const Op &weight, Diagnostics &diags) const;
  /// The array called `name`, declared as `type`, or drawn from `initial`;
  /// `range` is for messages.
  [[nodiscard]] ConstantRef resolve(llvm::StringRef name,
                                    const TensorType &type,
                                    InitialValue initial, SourceRange range,
                                    Diagnostics &diags) const;
  /// Whether there is a value for `name` without drawing it.
  bool has(llvm::StringRef name) const;
  /// Whether the facts in the weight file fit `model`; differences are
  /// reported.
  [[nodiscard]] bool fits(const ModelFacts &model, Diagnostics &diags) const;
  /// Whether `source` has one of the weights `names`; reported if not. Those
  /// that it lacks are drawn from the seed, if there is one: warns of them,
  /// unless they are adapters that `--lora=` has added.
  [[nodiscard]] bool hasSome(llvm::ArrayRef<std::string> names,
                             Diagnostics &diags) const;
  /// Whether there is any source of values.
  bool hasValues() const { return arrays || adapter || values || seed; }
  /// The digest of the weights that the adapters were trained beside, and
  /// their file; empty if it does not say.
  std::string baseOfAdapter() const;
  llvm::StringRef adapterPath() const { return adapter ? adapter->path() : ""; }
  /// See ArraySource.
  void releasePages() const {
    if (arrays)
      arrays->releasePages();
  }
  /// See WeightOptions.
  Executor &executor() const { return *workers; }

  /// The name in the source of the array of a weight.
  llvm::StringRef storedName(llvm::StringRef name) const;
  /// Lets weights have the names that a map has for arrays, too: the weights of
  /// a program that was made of a model, for that model.
  void addInverse();

private:
  /// Whether the adapter or the source has the weight.
  bool isStored(llvm::StringRef name) const;
  [[nodiscard]] bool openMap(const WeightOptions &options, Diagnostics &diags);

  std::optional<ArraySource> arrays, adapter;
  llvm::StringMap<std::string> names;
  bool isMappingFound = false; ///< and not asked for
  llvm::StringSet<> constants; ///< weights that are not drawn
  std::shared_ptr<const WeightValues> values;
  std::optional<uint64_t> seed;
  std::shared_ptr<Executor> workers = std::make_shared<Executor>();
};

/// The member of a map with the names of weights that were constants of a
/// model.
constexpr llvm::StringLiteral mappedConstants = "constants";

/// `model.names.json` for `model.tdsl`: the map that `anec import` writes
/// beside a program, from the names of weights to those of arrays.
std::string namesFileOf(llvm::StringRef program);
/// The copy of a map that a package has.
constexpr llvm::StringLiteral packagedWeightMap = "names.json";
/// The map for `program`, a program or a package, of those that nobody named:
/// the one beside it, or the one in the package. Empty if there is none.
std::string findWeightMap(llvm::StringRef program);
/// Reads the map at `path`. Returns false, with the reason reported, when it is
/// none.
[[nodiscard]] bool readWeightMap(llvm::StringRef path,
                                 llvm::StringMap<std::string> &map,
                                 Diagnostics &diags);

/// Whether the operand in `slot` of `call` is used as a scale in the callee.
using IsScale = llvm::function_ref<bool(const Op &call, unsigned slot)>;
/// The initial distribution of `weight`, by its first use: a vector is all ones
/// when it is a scale (`gamma`), otherwise zeros.
InitialValue initialValue(const Op &weight, IsScale isScaleElsewhere = nullptr);
/// Whether the parameter `value` is used as a scale.
bool scales(const Value &value, IsScale isScaleElsewhere = nullptr);

/// Elements of `type` for the weight `name`, the same for a name and a seed on
/// any machine. Matrices and filters are normal with a deviation of
/// 1/sqrt(inputs of one output), or of 0.02 where rows are looked up: a table
/// that is the classifier too then starts with a loss near that of guessing.
ConstantRef drawWeight(llvm::StringRef name, TensorType type,
                       InitialValue initial, uint64_t seed, Executor &executor);

} // namespace anec

#endif // ANEC_PACKAGE_WEIGHTBINDING_H
