//===- RandomGraph.cpp - functions of random ops --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;

/// Attempts per op; most rows take a few.
static constexpr unsigned maxAttempts = 400;
/// Values stay small, so that many graphs fit into a second.
static constexpr int64_t maxElements = 4096;

RandomGraph::RandomGraph(uint64_t seed, Module &module)
    : function(*module.addFunction(FunctionKind::Kernel, "main")), random(seed),
      builder(function, &diags),
      floatType(chance(0.8) ? DType::FP32 : DType::FP16) {}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Shape RandomGraph::anyShape() {
  Shape shape(oneOf({0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5}));
  for (int64_t &extent : shape)
    extent = oneOf({1, 1, 2, 2, 3, 4, 4, 6, 8});
  return shape;
}

ConstantRef RandomGraph::anyArray(const TensorType &type) {
  std::vector<double> elements(type.numElements());
  std::normal_distribution<double> normal;
  for (double &element : elements) {
    if (isFloat(type.dtype))
      element = normal(random);
    else if (type.dtype == DType::Bool)
      element = double(number(0, 1));
    else if (unsigned bits = bitWidth(type.dtype); bits < 8)
      element = double(number(0, (int64_t(1) << bits) - 1));
    else
      element = double(number(type.dtype >= DType::UInt1 ? 0 : -4, 6));
  }
  return Constant::fromDoubles(type, elements);
}

Value *RandomGraph::fresh(const TensorType &type) {
  Value *value = builder.build(ops::Const, {}, {{"val", anyArray(type)}}, "c");
  made.push_back(value);
  return value;
}

/// Makes some of the constants that the new op takes parameters.
void RandomGraph::settleFresh(const OpDef &def) {
  for (Value *value : made) {
    if (def.has(trait::Constexpr) || chance(0.3))
      continue;
    Value *parameter = function.addParameter(
        value->type, "p" + std::to_string(function.parameters().size()));
    value->replaceAllUsesWith(parameter);
    value->definingOp()->erase();
    values.push_back(parameter);
  }
  made.clear();
}

void RandomGraph::dropFresh() {
  for (Value *value : made)
    value->definingOp()->erase();
  made.clear();
}

Value *RandomGraph::existing(DTypeSet dtypes) {
  llvm::SmallVector<Value *, 16> fitting;
  for (Value *value : values)
    if (dtypes.contains(value->type.dtype))
      fitting.push_back(value);
  return fitting.empty() ? nullptr
                         : fitting[number(0, int64_t(fitting.size()) - 1)];
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::optional<DType> RandomGraph::dtypeFor(const ParamDef &param) {
  if (auto it = bound.find(param.typeVar); param.typeVar && it != bound.end())
    return param.dtypes.contains(it->second) ? std::optional(it->second)
                                             : std::nullopt;
  if (param.dtypes.contains(floatType) && chance(0.9))
    return floatType;
  llvm::SmallVector<DType, 16> all;
  for (unsigned dtype = 0; dtype < numDTypes; ++dtype)
    if (param.dtypes.contains(DType(dtype)) &&
        (!isFloat(DType(dtype)) || DType(dtype) == floatType))
      all.push_back(DType(dtype));
  if (all.empty())
    return std::nullopt;
  return all[number(0, int64_t(all.size()) - 1)];
}

/// A shape that has a chance to go with the operands there are.
Shape RandomGraph::shapeFor(const OpDef &def, const ParamDef &param) {
  llvm::StringRef op = def.name, name = param.name;
  Shape x =
      operands.empty() || !operands[0] ? anyShape() : operands[0]->type.shape;
  int64_t rank = int64_t(x.size());
  int64_t channels = rank > 1 ? x[1] : 1;
  bool recurrent = op == "lstm" || op == "gru" || op == "rnn";
  if (recurrent && rank == 3) {
    int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
    if (name.starts_with("initial"))
      return {x[1], hidden * (op == "lstm" && chance(0.3) ? 2 : 1)};
    if (name.starts_with("weight_ih"))
      return {gates * hidden, x[2]};
    if (name.starts_with("weight_hh"))
      return {gates * hidden, hidden};
    return {(name.starts_with("peephole") ? 3 : gates) * hidden};
  }
  if ((op == "conv" || op == "conv_transpose") && rank >= 3) {
    Shape shape = {oneOf<int64_t>({1, 2, 4}), channels};
    if (op == "conv_transpose")
      std::swap(shape[0], shape[1]);
    else if (chance(0.3))
      shape[1] = std::max<int64_t>(channels / 2, 1);
    for (int64_t i = 2; i < rank; ++i)
      shape.push_back(number(1, 3));
    if (name == "weight")
      return shape;
    const Shape &weight = operands[1]->type.shape;
    return {weight[op == "conv" ? 0 : 1]};
  }
  if (op == "linear" && rank >= 1 && name == "weight")
    return {hidden, x.back()};
  if (op == "linear")
    return {hidden};
  if (op == "matmul" && rank >= 2) {
    Shape shape = x;
    std::swap(shape[rank - 1], shape[rank - 2]);
    return chance(0.5) ? shape : x;
  }
  if (op == "einsum" && rank >= 3) {
    Shape shape = x;
    shape[rank - 3] = x[rank - 1];
    shape[rank - 1] = number(1, 4);
    return shape;
  }
  if (op.ends_with("_norm") || op == "prelu" || op == "softplus_parametric")
    return op == "layer_norm" ? (chance(0.5) && rank ? Shape{x.back()} : x)
                              : Shape{channels};
  if (op.starts_with("scatter") && name == "updates" && operands[1]) {
    const Shape &indices = operands[1]->type.shape;
    if (op == "scatter_along_axis")
      return indices;
    Shape shape = indices;
    if (op == "scatter_nd" && !indices.empty() && indices.back() <= rank) {
      shape.pop_back();
      shape.append(x.begin() + indices.back(), x.end());
    } else if (op == "scatter" && rank > 0) {
      shape.append(x.begin() + 1, x.end());
    }
    return shape;
  }
  if (name == "indices" && rank > 0 && (op.ends_with("along_axis"))) {
    Shape shape = x;
    shape[number(0, rank - 1)] = number(1, 4);
    return shape;
  }
  if (name == "indices" && op.ends_with("_nd"))
    return {number(1, 3), number(1, std::max<int64_t>(rank, 1))};
  if (name == "coordinates" && rank == 4)
    return {x[0], number(1, 3), number(1, 3), 2};
  if (name == "transform_matrix" && rank == 4)
    return {chance(0.5) ? 1 : x[0], 6};
  if (name == "boxes")
    return {number(1, 2), 4};
  if (name == "box_indices")
    return {operands[2] ? operands[2]->type.shape[0] : 1};
  if (name == "roi")
    return {number(1, 2), 1, oneOf<int64_t>({4, 5}), 1, 1};
  if (name == "lengths" && rank > 0)
    return {x[number(0, rank - 1)]};
  if (op == "slice_update" && name == "update")
    return Shape(rank, 1);
  if (name == "scale" || name == "zero_point" || name == "offset") {
    if (op.contains("blockwise")) {
      Shape shape = name == "offset" && operands[operands.size() - 1]
                        ? operands.back()->type.shape
                        : x;
      for (int64_t &extent : shape)
        if (name == "scale" && chance(0.5))
          extent = 1;
      return shape;
    }
    return rank && chance(0.4) ? Shape{x[number(0, rank - 1)]} : Shape{};
  }
  if (op == "constexpr_lut_to_dense" && name == "lut") {
    Shape shape(rank, 1);
    shape.append({int64_t(1) << bitWidth(operands[0]->type.dtype),
                  oneOf<int64_t>({1, 1, 2})});
    return shape;
  }
  if (op == "constexpr_sparse_to_dense" && name == "mask")
    return {oneOf<int64_t>({2, 4, 8})};
  // The same, or something that broadcasts with it, or anything.
  if (chance(0.1))
    return anyShape();
  Shape shape = x;
  for (int64_t &extent : shape)
    if (chance(0.2))
      extent = 1;
  while (!shape.empty() && shape[0] == 1 && chance(0.3))
    shape.erase(shape.begin());
  return shape;
}

Value *RandomGraph::operandFor(const OpDef &def, const ParamDef &param) {
  bool constant = def.has(trait::Constexpr);
  bool first = operands.empty();
  bool absent = param.kind == ParamKind::OptionalValue && chance(0.4);
  if (absent)
    return nullptr;
  if (!constant && first && chance(0.7))
    if (Value *value = existing(param.dtypes)) {
      bound[param.typeVar] = value->type.dtype;
      return value;
    }
  std::optional<DType> dtype = dtypeFor(param);
  if (!dtype)
    return nullptr;
  bound[param.typeVar] = *dtype;
  TensorType type(*dtype, first ? anyShape() : shapeFor(def, param));
  if (type.numElements() > maxElements)
    return nullptr;
  if (!constant && chance(0.3))
    for (Value *value : values)
      if (value->type == type && chance(0.5))
        return value;
  return fresh(type);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

ConstantRef RandomGraph::textFor(const OpDef &def, const ParamDef &param) {
  llvm::StringRef name = param.name, op = def.name;
  const char *text = "";
  if (name.ends_with("dtype"))
    text = oneOf(
        {"int32", "fp16", "fp32", "bool", "int8", "uint8", "int16", "uint16"});
  else if (name == "mode" && op == "gelu")
    text = oneOf({"EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"});
  else if (name == "mode" && op == "pad")
    text = oneOf({"constant", "reflect", "replicate"});
  else if (name == "mode")
    text = oneOf({"add", "sub", "mul", "div", "max", "min", "update"});
  else if (name == "pad_type")
    text = oneOf({"valid", "custom", "same", "same_lower"});
  else if (name == "direction")
    text = oneOf({"forward", "reverse", "bidirectional"});
  else if (name.ends_with("activation"))
    text = oneOf(
        {"sigmoid", "tanh", "relu", "linear", "scaled_tanh", "sigmoid_hard"});
  else if (name == "equation")
    text = oneOf({"nchw,nwhu->nchu", "chw,whr->chr"});
  else if (name == "sampling_mode" && op == "affine")
    text = "bilinear";
  else if (name == "sampling_mode" && op == "resample")
    text = oneOf({"bilinear", "nearest"});
  else if (name == "sampling_mode")
    text = oneOf({"DEFAULT", "ALIGN_CORNERS", "STRICT_ALIGN_CORNERS",
                  "OFFSET_CORNERS", "UNALIGN_CORNERS"});
  else if (name == "interpolation_mode")
    text = oneOf({"LINEAR", "NEAREST_NEIGHBOR"});
  else if (name == "padding_mode" && op == "affine")
    text = "constant";
  else if (name == "padding_mode")
    text = oneOf({"constant", "border", "reflection", "symmetric"});
  else if (name == "coordinates_mode")
    text = oneOf({"unnormalized", "normalized_minus_one_to_one",
                  "normalized_zero_to_one"});
  else if (name == "box_coordinate_mode")
    text = oneOf({"CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST",
                  "CENTER_SIZE_HEIGHT_FIRST", "CENTER_SIZE_WIDTH_FIRST"});
  return Constant::string(text);
}

ConstantRef RandomGraph::listFor(const ParamDef &param) {
  llvm::StringRef name = param.name;
  Shape x =
      operands.empty() || !operands[0] ? Shape() : operands[0]->type.shape;
  int64_t rank = int64_t(x.size());
  Shape list;
  if (name == "perm" || name == "axes") {
    for (int64_t axis = 0; axis < rank; ++axis)
      list.push_back(axis);
    std::shuffle(list.begin(), list.end(), random);
    if (name == "axes")
      list.truncate(number(0, rank));
  } else if (name == "shape") {
    if (x.empty() || chance(0.3))
      list = anyShape();
    else if (chance(0.3))
      list = {-1};
    else
      list = Shape(x.rbegin(), x.rend());
  } else {
    int64_t spatial = std::max<int64_t>(rank - 2, 0);
    int64_t length =
        llvm::StringSwitch<int64_t>(name)
            .Cases("strides", "dilations", "kernel_sizes", spatial)
            .Case("pad", chance(0.5) ? 2 * spatial : 2 * number(0, rank))
            .Cases("crop_height", "crop_width", "block_shape", 2)
            .Case("split_sizes", number(1, 3))
            .Default(rank);
    bool mask = param.dtypes.contains(DType::Bool);
    for (int64_t i = 0; i < length; ++i)
      list.push_back(mask                               ? number(0, 1)
                     : name == "begin" || name == "end" ? number(-3, 4)
                     : name == "stride" ? oneOf<int64_t>({1, 1, 2, -1, -2})
                     : name == "size"   ? oneOf<int64_t>({-1, 1, 1, 2})
                     : name == "pad" || name.starts_with("crop")
                         ? number(0, 2)
                         : number(1, 2));
  }
  DType dtype = DType::Int32;
  if (!param.dtypes.contains(dtype))
    dtype = param.dtypes.contains(DType::Bool) ? DType::Bool : DType::UInt32;
  std::vector<double> elements(list.begin(), list.end());
  return Constant::fromDoubles({dtype, {int64_t(list.size())}}, elements);
}

ConstantRef RandomGraph::constantFor(const OpDef &def, const ParamDef &param) {
  bool optional =
      param.kind == ParamKind::OptionalConstant || !param.fallback.empty();
  if (optional && chance(0.4))
    return nullptr;
  if (param.dtypes.contains(DType::String))
    return textFor(def, param);
  if (param.rank == 1)
    return listFor(param);
  std::optional<DType> dtype = dtypeFor(param);
  if (!dtype)
    return nullptr;
  bound[param.typeVar] = *dtype;
  if (&def == &ops::Affine) // it takes no other
    return isFloat(*dtype)         ? Constant::scalar(*dtype, 0)
           : *dtype == DType::Bool ? Constant::boolean(true)
                                   : Constant::int32(number(1, 3));
  if (param.rank < 0)
    return anyArray({*dtype, {2, 2}});
  if (isInteger(*dtype)) {
    bool axis = llvm::StringRef(param.name).ends_with("axis");
    return Constant::scalar(*dtype,
                            double(axis ? number(-3, 3) : number(0, 4)));
  }
  return anyArray({*dtype});
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool RandomGraph::attempt(const OpDef &def) {
  operands.clear();
  bound.clear();
  hidden = number(1, 5);
  for (const ParamDef &param : def.parameters()) {
    if (param.isConstant())
      continue;
    unsigned count = param.kind == ParamKind::Variadic ? number(1, 3) : 1;
    for (unsigned i = 0; i < count; ++i) {
      operands.push_back(operandFor(def, param));
      if (!operands.back() && param.kind != ParamKind::OptionalValue) {
        dropFresh();
        return false;
      }
    }
  }
  llvm::SmallVector<ConstantRef, 8> constants;
  for (const ParamDef &param : def.parameters())
    if (param.isConstant())
      constants.push_back(constantFor(def, param));
  Op *op = builder.createWithSlots(def, operands, constants, {});
  bool large = op && llvm::any_of(op->resultValues(), [](const Value *result) {
                 return result->type.numElements() > maxElements;
               });
  if (large)
    op->erase();
  if (!op || large) {
    dropFresh();
    return false;
  }
  settleFresh(def);
  for (Value *result : op->resultValues())
    values.push_back(result);
  return true;
}

bool RandomGraph::addOp(const OpDef &def) {
  for (unsigned i = 0; i < maxAttempts; ++i)
    if (attempt(def))
      return true;
  return false;
}

void RandomGraph::grow(unsigned count) {
  llvm::ArrayRef<const OpDef *> rows = opTable().all();
  for (unsigned i = 0; i < count; ++i) {
    const OpDef *def = rows[number(0, int64_t(rows.size()) - 1)];
    if (def->has(trait::Mil) && def->eval && def != &ops::Const)
      addOp(*def);
  }
}

void RandomGraph::finish() {
  llvm::SmallVector<Value *, 8> results;
  for (Value *value : values)
    if (value->definingOp() && (!value->hasUses() || chance(0.2)))
      results.push_back(value);
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back("r" + std::to_string(i));
  llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
  function.setResults(results, views);
}
