//===- PackIO.cpp - one input and one output ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Kernels on the engine run best with one input and one output. The input
/// tensors become slices of the one input, and the output tensors are joined to
/// one output, at the positions of PackedLayout.h.
///
/// A kernel that is called in the same module is not changed, since its callers
/// pass separate tensors; Package/ takes kernels out of the program first.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/PackedLayout.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

static bool checkFP16(const Function &kernel, llvm::StringRef name,
                      const TensorType &type, SourceRange range,
                      PassContext &ctx) {
  if (type.dtype == DType::FP16)
    return true;
  ctx.diags.report(range, diag::PackedDType, kernel.name, name, type.str());
  return false;
}

/// Collects the types of the interface. Returns false when one of the tensors
/// cannot be packed.
static bool collectTypes(const Function &kernel,
                         llvm::SmallVectorImpl<TensorType> &inputs,
                         llvm::SmallVectorImpl<TensorType> &outputs,
                         PassContext &ctx) {
  bool ok = true;
  for (const auto &param : kernel.parameters()) {
    ok &= checkFP16(kernel, param->name, param->type, param->range(), ctx);
    inputs.push_back(param->type);
  }
  for (unsigned index = 0; index < kernel.numResults(); ++index) {
    const TensorType &type = kernel.result(index)->type;
    ok &=
        checkFP16(kernel, kernel.resultNames()[index], type, kernel.range, ctx);
    outputs.push_back(type);
  }
  return ok;
}

static Value *reshape(Builder &builder, Value *value,
                      llvm::ArrayRef<int64_t> shape) {
  if (value->type.shape == Shape(shape))
    return value;
  return builder.build(ops::Reshape, {value}, {{param::shape, shape}},
                       value->name);
}

static void packInputs(Function &kernel, llvm::ArrayRef<TensorType> types) {
  PackedLayout layout = packTensors(types, inputAlignment);
  Builder builder(kernel);
  builder.setInsertionPoint(kernel.body().empty() ? nullptr
                                                  : &kernel.body().front());
  Value *packed = kernel.addParameter({DType::FP16, layout.shape()}, "input");
  packed->declared = kernel.parameters().front()->declared;
  for (const Region &part : layout.parts) {
    Value *param = kernel.parameters().front().get();
    builder.setRange(param->declared);
    Shape begin = {part.channel, part.column};
    Shape size = {part.channels, part.columns};
    Value *value = packed;
    if (size != layout.shape())
      value = builder.build(ops::SliceBySize, {packed},
                            {{param::begin, begin}, {param::size, size}},
                            param->name);
    param->replaceAllUsesWith(reshape(builder, value, param->type.shape));
    kernel.eraseParameter(0);
  }
}

/// Pads `value` [channels, columns] with zeros to `channels` channels.
static Value *paddedChannels(Builder &builder, Value *value, int64_t channels) {
  int64_t missing = channels - value->type.shape[0];
  if (missing == 0)
    return value;
  return builder.build(ops::Pad, {value},
                       {{param::pad, {0, missing, 0, 0}},
                        {param::constantVal, Constant::scalar(DType::FP16, 0)}},
                       value->name);
}

static void packOutputs(Function &kernel, llvm::ArrayRef<TensorType> types) {
  PackedLayout layout = packTensors(types);
  bool stacked = layout.parts.size() < 2 || layout.parts[1].column == 0;
  Builder builder(kernel);
  builder.setRange(kernel.range);
  llvm::SmallVector<Value *, 4> parts;
  for (auto [value, part] :
       llvm::zip_equal(kernel.resultValues(), layout.parts)) {
    value = reshape(builder, value, {part.channels, part.columns});
    parts.push_back(stacked ? value
                            : paddedChannels(builder, value, layout.channels));
  }
  Value *packed = parts.front();
  if (parts.size() > 1)
    packed = builder.build(
        ops::Concat, parts,
        {{param::axis, stacked ? 0 : 1}, {param::interleave, false}}, "output");
  kernel.setResults({packed}, {"output"});
}

static bool packKernel(Function &kernel, PassContext &ctx) {
  llvm::SmallVector<TensorType, 4> inputs, outputs;
  if (!collectTypes(kernel, inputs, outputs, ctx))
    return false;
  bool changed = false;
  if (!inputs.empty() && !isPacked(inputs)) {
    packInputs(kernel, inputs);
    ctx.count("inputs", inputs.size());
    changed = true;
  }
  if (!outputs.empty() && !isPacked(outputs)) {
    packOutputs(kernel, outputs);
    ctx.count("outputs", outputs.size());
    changed = true;
  }
  return changed;
}

static bool packIO(Module &module, PassContext &ctx) {
  llvm::StringSet<> called;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Call))
        called.insert(op.get(param::callee));
  bool changed = false;
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Kernel && !function->isDeclaration() &&
        !function->hasMemory() && !called.contains(function->name))
      changed |= packKernel(*function, ctx);
  return changed;
}

constinit const PassDef passes::PackIO = {
    .name = "pack-io",
    .summary = "Pack inputs and outputs of kernels without callers into one "
               "input and one output",
    .description = "(%a: fp16[2, 8], %b: fp16[3, 8])  ==>  (%input: fp16[5, "
                   "8]); %a = slice_by_size(%input); %b = "
                   "slice_by_size(%input)",
    .stats = {{{"inputs", "inputs packed"}, {"outputs", "outputs packed"}}},
    .tolerance = 0,
    .changesInterface = true,
    .runOnModule = packIO,
};
