//===- QuantizeWeights.h - quantizes the weights of programs ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Replaces the weights of products in a lowered function by ops that unpack
/// them. A constant is quantized at once. Of a `weight`, whose values come
/// later, and differ between the instances of a repeated layer, the parts (the
/// integers and the scales, or the indices and the palettes) become `weight`
/// ops of their own, whose values `QuantizedWeights` computes from those of the
/// weight:
///
///   conv(x, weight{attention.wq})
///     ==>  conv(x, constexpr_blockwise_shift_scale(weight{data of ...},
///                                                  weight{scale of ...}))
///
/// With int8 activations, the inputs of these products are rounded too:
///
///   conv(x, w)  ==>  conv(dequantize(quantize(x, s), s), w)
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_QUANTIZE_QUANTIZEWEIGHTS_H
#define ANEC_QUANTIZE_QUANTIZEWEIGHTS_H

#include "anec/IR/IR.h"
#include "anec/IR/WeightView.h"
#include "anec/Quantize/InputMoments.h"
#include "anec/Quantize/QuantizationReport.h"
#include "anec/Support/Diagnostics.h"
#include <functional>
#include <map>

namespace anec {

/// The ops that unpack weights.
enum class UnpackingOps : uint8_t {
  /// Of ios18: constexpr_blockwise_shift_scale, and constexpr_lut_to_dense with
  /// a palette for each block.
  Blockwise,
  /// Those of ios16, which ios18 has too: constexpr_affine_dequantize.
  Affine,
  /// Those of ios16 only: also constexpr_lut_to_dense with `shape`.
  Packed,
};

/// The form that gives the very elements of all arrays that a view of a weight
/// reads; nothing when none does, or a value is not available.
using ExactForm = std::function<std::optional<QuantizedForm>(const WeightView &,
                                                             ProductAxes)>;

struct QuantizeOptions {
  Quantization quantization;
  UnpackingOps ops = UnpackingOps::Blockwise;
  /// Where each quantized weight is reported; may be null.
  QuantizationReport *report = nullptr;
  /// Elements are rounded so that the outputs for these inputs change less;
  /// null to round to nearest.
  std::shared_ptr<const InputMoments> moments = nullptr;
  /// The functions are what the host computes: their constants, and weights
  /// that groups do not divide, keep their type.
  bool onHost = false;
  /// For Quantization::isExact, of weights.
  ExactForm exactForm = nullptr;
};

/// The axes of the weight that `op` has in `slot`; nothing when it is not a
/// weight of a product.
std::optional<ProductAxes> productAxes(const Op &op, unsigned slot);

/// What a weight multiplies, and the axis whose elements the product sums over.
struct ProductInput {
  Value *value = nullptr;
  unsigned axis = 0;
  friend bool operator==(const ProductInput &, const ProductInput &) = default;
};
/// The other operand of the product `op`, which has a weight in `slot`.
ProductInput productInput(const Op &op, unsigned slot);

/// Whether `ops` have a form for `quantization`.
bool canUnpack(const Quantization &quantization, UnpackingOps ops);

enum class WeightPart : uint8_t {
  Data,  ///< integers or indices
  Table, ///< scales or palettes
  Input, ///< the scales of the activation that the weight multiplies
};
/// `data`, `scale` or `palette`, and `input_scale`.
llvm::StringRef spelling(WeightPart part, const Quantization &quantization);

/// A part of a quantized `weight`.
struct QuantizedPart {
  WeightView view; ///< of the weight; without an instance
  ProductAxes axes;
  WeightPart part = WeightPart::Data;
  TensorType type;   ///< of the part
  Quantization form; ///< of the weight
  SourceRange range;
  /// The channels of the product's input, when it is rounded to int8; 0
  /// otherwise.
  int64_t inputChannels = 0;
  /// Of WeightPart::Input: the weights that share the activation.
  std::vector<std::pair<WeightView, ProductAxes>> sharing = {};
};

/// The elements that a view of a weight has, in its type; null, with the reason
/// reported, when they are not available.
using WeightValue = llvm::function_ref<ConstantRef(const WeightView &view)>;

class QuantizedWeights {
public:
  /// `executor` must outlive this.
  QuantizedWeights(QuantizeOptions options, Executor &executor);
  ~QuantizedWeights();

  /// Quantizes the weights of the products in `function`, a kernel of MIL ops
  /// or what the host computes. Of the latter, weights with an instance of
  /// their own for each turn of a `repeat` stay as they are. With `value`, a
  /// weight with so few scales that they are in the text of a program is
  /// quantized at once, as a constant is. Returns false, with the reason
  /// reported, when one cannot be quantized.
  [[nodiscard]] bool rewrite(Function &function, WeightValue value,
                             Diagnostics &diags);
  /// The number of weights that `rewrite` has replaced.
  unsigned count() const { return replaced; }
  /// The patterns of Quantization::skipped that kept the type of a weight.
  const std::set<std::string> &usedSkips() const { return skips; }

  /// The part that `weight`, an op that `rewrite` made, reads; null for any
  /// other op.
  const QuantizedPart *find(const Op &weight) const;
  /// The value of a part. `array` names the array of the weight that `value`
  /// returns, for messages and reports: `attention.3.wq`. Parts of one array
  /// are computed together when they are resolved one after the other.
  [[nodiscard]] ConstantRef resolve(const QuantizedPart &part,
                                    llvm::StringRef array, WeightValue value,
                                    Diagnostics &diags);

private:
  struct Product;
  struct InputUse;
  static int64_t channelsOfInput(llvm::ArrayRef<Product> products);
  void noteInputs(llvm::ArrayRef<Product> products, WeightView view,
                  ConstantRef known, llvm::StringRef name, SourceRange range);
  [[nodiscard]] bool rewriteInputs(WeightValue value, Diagnostics &diags);
  [[nodiscard]] bool rewriteInput(llvm::ArrayRef<InputUse> uses,
                                  WeightValue value, Diagnostics &diags);
  /// The range of the inputs of the first weight that has one. False, with the
  /// reason reported, when it is not finite.
  [[nodiscard]] bool findRange(llvm::ArrayRef<std::string> digests,
                               llvm::StringRef name, SourceRange range,
                               std::optional<InputRange> &found,
                               Diagnostics &diags) const;
  [[nodiscard]] ConstantRef resolveInput(const QuantizedPart &part,
                                         llvm::StringRef array,
                                         WeightValue value, Diagnostics &diags);
  [[nodiscard]] bool replace(Op &source, llvm::ArrayRef<Product> products,
                             WeightValue value, Diagnostics &diags);
  ConstantRef valueAtOnce(const Op &source, ProductAxes axes,
                          const Quantization &form, WeightValue value) const;
  std::optional<Quantization> formOf(const Op &source, ProductAxes axes) const;
  bool hasOtherAxes(const WeightView &view, ProductAxes axes) const;
  bool isDivided(const TensorType &type, ProductAxes axes) const;
  [[nodiscard]] bool checkShape(llvm::StringRef name, const TensorType &type,
                                ProductAxes axes, SourceRange range,
                                Diagnostics &diags) const;
  [[nodiscard]] bool checkElements(llvm::StringRef name, const Constant &value,
                                   SourceRange range, Diagnostics &diags) const;
  [[nodiscard]] std::optional<QuantizedArray>
  quantize(llvm::StringRef name, const Constant &value, ProductAxes axes,
           const Quantization &form, SourceRange range,
           Diagnostics &diags) const;
  TensorType typeOf(const TensorType &weight, ProductAxes axes, WeightPart part,
                    const Quantization &form) const;
  ConstantRef constantOf(const QuantizedArray &array, const TensorType &type,
                         WeightPart part, const Quantization &form) const;
  void noteSkipped(llvm::StringRef name);
  void report(llvm::StringRef name, const Constant &weight, ProductAxes axes,
              const Quantization &form, int64_t inputChannels,
              const QuantizedArray &array);
  std::optional<QuantizedInput> reportInput(const Constant &weight,
                                            ProductAxes axes,
                                            int64_t inputChannels) const;

  QuantizeOptions options;
  Executor &executor;
  unsigned replaced = 0;
  std::set<std::string> skips;
  /// Weights whose inputs a warning says were not seen; functions share them.
  std::set<std::string> uncalibrated;
  std::vector<InputUse> inputUses; ///< of the function that is rewritten
  std::map<std::string, QuantizedPart, std::less<>> parts; ///< by weight name
  /// The array that was quantized last, and the name and view of it.
  std::string lastKey;
  QuantizedArray last;
};

} // namespace anec

#endif // ANEC_QUANTIZE_QUANTIZEWEIGHTS_H
