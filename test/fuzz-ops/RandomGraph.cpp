//===- RandomGraph.cpp - functions of random ops --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Sample.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <array>

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
  Value *value =
      builder.build(ops::Const, {}, {{param::val, anyArray(type)}}, "c");
  made.push_back(value);
  return value;
}

/// Whether an op takes `value` where it takes a constant as well. What follows
/// from constants is one to MIL, then, and has to be right.
static bool standsForConstant(const Value *value) {
  for (const Operand *use = value->firstUse(); use; use = use->nextUse()) {
    const Op &op = *use->owner();
    for (const ParamDef &param : op.def().parameters())
      if (!param.isConstant() && op.def().findConstantParam(param.name) >= 0 &&
          op.operand(unsigned(op.def().valueSlot(param.name))) == value)
        return true;
  }
  return false;
}

/// Makes some of the constants that the new op takes parameters.
void RandomGraph::settleFresh(const OpDef &def) {
  for (Value *value : made) {
    if (def.has(trait::Constexpr) || (chance(0.3) && !standsForConstant(value)))
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

/// The parameters of a convolution and of the products.
std::optional<Shape> RandomGraph::productShape(llvm::StringRef op,
                                               llvm::StringRef name,
                                               const Shape &x) {
  int64_t rank = int64_t(x.size());
  if (op == "linear" && rank >= 1)
    return name == "weight" ? Shape{hidden, x.back()} : Shape{hidden};
  if (op == "matmul" && rank >= 2) {
    Shape shape = x;
    if (chance(0.5))
      std::swap(shape[rank - 1], shape[rank - 2]);
    return shape;
  }
  if (op == "einsum" && rank >= 3) {
    Shape shape = x;
    shape[rank - 3] = x[rank - 1];
    shape[rank - 1] = number(1, 4);
    return shape;
  }
  if (!op.starts_with("conv") || rank < 3)
    return std::nullopt;
  bool transposed = op == "conv_transpose";
  if (name == "bias")
    return Shape{operands[1]->type.shape[transposed ? 1 : 0]};
  Shape shape = {oneOf<int64_t>({1, 2, 4}), x[1]};
  if (transposed)
    std::swap(shape[0], shape[1]);
  else if (chance(0.3))
    shape[1] = std::max<int64_t>(x[1] / 2, 1);
  for (int64_t i = 2; i < rank; ++i)
    shape.push_back(number(1, 3));
  return shape;
}

std::optional<Shape> RandomGraph::recurrentShape(llvm::StringRef op,
                                                 llvm::StringRef name,
                                                 const Shape &x) {
  int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : op == "rnn" ? 1 : 0;
  if (gates == 0 || x.size() != 3)
    return std::nullopt;
  if (name.starts_with("initial"))
    return Shape{x[1], hidden * (op == "lstm" && chance(0.3) ? 2 : 1)};
  if (name.starts_with("weight_ih"))
    return Shape{gates * hidden, x[2]};
  if (name.starts_with("weight_hh"))
    return Shape{gates * hidden, hidden};
  return Shape{(name.starts_with("peephole") ? 3 : gates) * hidden};
}

/// Indices, and what goes where they say.
std::optional<Shape> RandomGraph::indexedShape(llvm::StringRef op,
                                               llvm::StringRef name,
                                               const Shape &x) {
  int64_t rank = int64_t(x.size());
  bool alongAxis = op.ends_with("along_axis"), nd = op.ends_with("_nd");
  if (name == "indices" && alongAxis && rank > 0) {
    Shape shape = x;
    shape[number(0, rank - 1)] = number(1, 4);
    return shape;
  }
  if (name == "indices" && nd)
    return Shape{number(1, 3), number(1, std::max<int64_t>(rank, 1))};
  if (name == "lengths" && rank > 0)
    return Shape{x[number(0, rank - 1)]};
  if (name == "begin" || name == "end")
    return Shape{rank};
  if (name == "update")
    return Shape(rank, 1);
  if (name != "updates")
    return std::nullopt;
  Shape shape = operands[1]->type.shape;
  if (nd && !shape.empty() && shape.back() <= rank) {
    int64_t depth = shape.pop_back_val();
    shape.append(x.begin() + depth, x.end());
  } else if (op == "scatter" && rank > 0) {
    shape.append(x.begin() + 1, x.end());
  }
  return shape;
}

/// Where images are read.
std::optional<Shape> RandomGraph::pointsShape(llvm::StringRef name,
                                              const Shape &x) {
  if (name == "coordinates" && x.size() == 4)
    return Shape{x[0], number(1, 3), number(1, 3), 2};
  if (name == "transform_matrix" && x.size() == 4)
    return Shape{chance(0.5) ? 1 : x[0], 6};
  if (name == "boxes")
    return Shape{number(1, 2), 4};
  if (name == "box_indices")
    return Shape{operands[2] ? operands[2]->type.shape[0] : 1};
  if (name == "roi")
    return Shape{number(1, 2), 1, oneOf<int64_t>({4, 5}), 1, 1};
  return std::nullopt;
}

/// Scales, offsets, masks and tables of compressed values.
std::optional<Shape> RandomGraph::compressionShape(llvm::StringRef op,
                                                   llvm::StringRef name,
                                                   const Shape &x) {
  if (op == "constexpr_lut_to_dense") {
    Shape shape(x.size(), 1);
    shape.append({int64_t(1) << bitWidth(operands[0]->type.dtype),
                  oneOf<int64_t>({1, 1, 2})});
    return shape;
  }
  if (name == "mask")
    return Shape{oneOf<int64_t>({2, 4, 8})};
  if (op.contains("blockwise") && name == "offset")
    return operands.back()->type.shape;
  if (op.contains("blockwise") && name == "scale") {
    Shape shape = x;
    for (int64_t &extent : shape)
      if (chance(0.5))
        extent = 1;
    return shape;
  }
  if (name == "scale" || name == "zero_point")
    return !x.empty() && chance(0.4) ? Shape{x[number(0, x.size() - 1)]}
                                     : Shape();
  return std::nullopt;
}

/// A shape that has a chance to go with the operands there are.
Shape RandomGraph::shapeFor(const OpDef &def, const ParamDef &param) {
  llvm::StringRef op = def.name, name = param.name;
  Shape x = operands[0]->type.shape;
  for (std::optional<Shape> shape :
       {productShape(op, name, x), recurrentShape(op, name, x),
        indexedShape(op, name, x), pointsShape(name, x),
        compressionShape(op, name, x)})
    if (shape)
      return *shape;
  if (op == "layer_norm")
    return chance(0.5) && !x.empty() ? Shape{x.back()} : x;
  if (op.ends_with("_norm") || op == "prelu" || op == "softplus_parametric")
    return {x.size() > 1 ? x[1] : 1};
  // The same, or something that broadcasts with it, or anything.
  if (chance(0.1))
    return anyShape();
  for (int64_t &extent : x)
    if (chance(0.2))
      extent = 1;
  while (!x.empty() && x[0] == 1 && chance(0.3))
    x.erase(x.begin());
  return x;
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
  bool standsForConstant = def.findConstantParam(param.name) >= 0;
  if (!constant && !standsForConstant && chance(0.3))
    for (Value *value : values)
      if (value->type == type && chance(0.5))
        return value;
  return fresh(type);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// What a text parameter may be; of one op, or (empty) of the others that have
/// the parameter.
struct Choices {
  llvm::StringLiteral op, param;
  std::array<const char *, 8> texts;
};
} // namespace

static constexpr Choices allChoices[] = {
    {"affine", "coordinates_mode", {"normalized_minus_one_to_one"}},
    {"affine", "padding_mode", {"constant"}},
    {"affine", "sampling_mode", {"bilinear"}},
    {"gelu", "mode", {"EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"}},
    {"pad", "mode", {"constant", "reflect", "replicate"}},
    {"resample", "sampling_mode", {"bilinear", "nearest"}},
    {"",
     "activation",
     {"sigmoid", "tanh", "relu", "linear", "scaled_tanh", "sigmoid_hard"}},
    {"",
     "box_coordinate_mode",
     {"CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST",
      "CENTER_SIZE_WIDTH_FIRST"}},
    {"", "cell_activation", {"tanh", "relu", "linear", "sigmoid_hard"}},
    {"",
     "coordinates_mode",
     {"unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"}},
    {"", "direction", {"forward", "reverse", "bidirectional"}},
    {"",
     "dtype",
     {"int32", "fp16", "fp32", "bool", "int8", "uint8", "int16", "uint16"}},
    {"", "equation", {"nchw,nwhu->nchu", "chw,whr->chr"}},
    {"", "interpolation_mode", {"LINEAR", "NEAREST_NEIGHBOR"}},
    {"", "mode", {"add", "sub", "mul", "div", "max", "min", "update"}},
    {"", "output_dtype", {"int32", "uint16", "int8", "uint8", "fp32"}},
    {"", "output_indices_dtype", {"int32", "uint16", "int8"}},
    {"", "pad_type", {"valid", "custom", "same", "same_lower"}},
    {"", "padding_mode", {"constant", "border", "reflection", "symmetric"}},
    {"", "recurrent_activation", {"sigmoid", "relu", "tanh", "scaled_tanh"}},
    {"",
     "sampling_mode",
     {"DEFAULT", "ALIGN_CORNERS", "STRICT_ALIGN_CORNERS", "OFFSET_CORNERS",
      "UNALIGN_CORNERS"}}};

ConstantRef RandomGraph::textFor(const OpDef &def, const ParamDef &param) {
  for (const Choices &choices : allChoices) {
    if ((!choices.op.empty() && choices.op != def.name) ||
        choices.param != param.name)
      continue;
    int64_t count =
        llvm::count_if(choices.texts, [](const char *text) { return text; });
    return Constant::string(choices.texts[number(0, count - 1)]);
  }
  return Constant::string("");
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
    if (chance(0.15)) {
      addStoredProduct();
      continue;
    }
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
