//===- ParamNames.h - parameters of several families ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The handles of parameters that ops of several families have, or code that is
/// about no family. Others are in lib/Ops/Params, by family, or beside the only
/// row that has them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_PARAMNAMES_H
#define ANEC_LIB_IR_PARAMNAMES_H

#include "lib/IR/ModeParam.h"

namespace anec::param {

ANEC_PARAM(alpha, "alpha", Float)
ANEC_PARAM(axes, "axes", Ints)
ANEC_PARAM(axis, "axis", Int)
ANEC_PARAM(begin, "begin", Ints)
ANEC_PARAM(beta, "beta", Float)
ANEC_PARAM(betaValue, "beta", Value)
ANEC_PARAM(bias, "bias", Value)
ANEC_PARAM(blocks, "blocks", Any)
ANEC_PARAM(body, "body", String)
ANEC_PARAM(callee, "callee", String)
ANEC_PARAM(carried, "carried", Int)
ANEC_PARAM(collected, "collected", Strings)
ANEC_PARAM(constantVal, "constant_val", Float)
ANEC_PARAM(data, "data", Value)
ANEC_PARAM(dtype, "dtype", DType)
ANEC_PARAM(epsilon, "epsilon", Float)
ANEC_PARAM(equation, "equation", String)
ANEC_PARAM(from, "from", Int)
ANEC_PARAM(groups, "groups", Int)
ANEC_PARAM(index, "index", Value)
ANEC_PARAM(indices, "indices", Value)
ANEC_PARAM(input, "input", Value)
ANEC_PARAM(interleave, "interleave", Bool)
ANEC_PARAM(interleaveFactors, "interleave_factors", Ints)
ANEC_PARAM(keepDims, "keep_dims", Bool)
ANEC_PARAM(mask, "mask", Value)
ANEC_PARAM(name, "name", String)
ANEC_PARAM(offValue, "off_value", Float)
ANEC_PARAM(onValue, "on_value", Float)
ANEC_PARAM(oneHotVectorSize, "one_hot_vector_size", Int)
ANEC_PARAM(outputDtype, "output_dtype", DType)
ANEC_PARAM(pad, "pad", Ints)
ANEC_PARAM(perm, "perm", Ints)
ANEC_PARAM(position, "position", Value)
ANEC_PARAM(reps, "reps", Ints)
ANEC_PARAM(results, "results", Strings)
ANEC_PARAM(reverse, "reverse", Bool)
ANEC_PARAM(shape, "shape", Ints)
ANEC_PARAM(size, "size", Ints)
ANEC_PARAM(windowSize, "size", Int)
ANEC_PARAM(sliced, "sliced", Int)
ANEC_PARAM(strides, "strides", Ints)
ANEC_PARAM(to, "to", Int)
ANEC_PARAM(transposeX, "transpose_x", Bool)
ANEC_PARAM(transposeY, "transpose_y", Bool)
ANEC_PARAM(val, "val", Any)
ANEC_PARAM(fillValue, "value", Float)
ANEC_PARAM(value, "value", Value)
ANEC_PARAM(values, "values", Value)
ANEC_PARAM(weight, "weight", Value)
ANEC_PARAM(x, "x", Value)
ANEC_PARAM(y, "y", Value)

} // namespace anec::param

#endif // ANEC_LIB_IR_PARAMNAMES_H
