//===- InputUse.h - products of quantized weights ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_QUANTIZE_INPUTUSE_H
#define ANEC_LIB_QUANTIZE_INPUTUSE_H

#include "anec/Quantize/QuantizeWeights.h"

namespace anec {

/// A use of a weight by a product.
struct QuantizedWeights::Product {
  Op *op;
  unsigned slot;
  ProductAxes axes;
};

/// The use of an activation by the product of a quantized weight.
struct QuantizedWeights::InputUse {
  Op *product;
  ProductInput input;
  ProductAxes axes;  ///< of the weight
  std::string name;  ///< of the weight
  WeightView view;   ///< of a `weight`
  ConstantRef known; ///< the weight, if its value is known
  SourceRange range; ///< of the weight
};

} // namespace anec

#endif // ANEC_LIB_QUANTIZE_INPUTUSE_H
