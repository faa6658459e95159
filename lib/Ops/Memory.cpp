//===- Memory.cpp - states and tensor buffers -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that move values from and to memory. Later reads and later runs see what
/// is written to a state, so state ops keep their order and are never removed.
/// A buffer is an array in its caller's layout; inside a program, it is an
/// ordinary tensor.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Memory.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Positions.h"

using namespace anec;

static constexpr ParamDef inHolder(Holder holder, ParamDef param) {
  param.holder = holder;
  return param;
}

static void evalCopy(EvalContext &ctx) { ctx.out[0].data = ctx.in[0]->data; }

//===----------------------------------------------------------------------===//
// read_state, write_state
//===----------------------------------------------------------------------===//

constinit const OpDef ops::ReadState = {
    .name = "read_state",
    .summary = "Returns the contents of the state `input`.",
    .family = "memory",
    .params = {inHolder(Holder::State, value(param::input, movableTypes))},
    .traits = trait::Mil | trait::SideEffect,
    .infer = inferSame,
    .eval = evalCopy,
    .positions = {positions::apart},
};

static bool inferWriteState(InferContext &ctx) {
  return checkShape(ctx, 1, ctx.type(0).shape); // C1
}

/// The op has no result; the owner of the state stores the data.
static void evalWriteState(EvalContext &) {}

constinit const OpDef ops::WriteState = {
    .name = "write_state",
    .summary = "Stores `data` in the state `input`.",
    .family = "memory",
    .params = {inHolder(Holder::State, value(param::input, movableTypes)),
               value(param::data, movableTypes)},
    .traits = trait::Mil | trait::SideEffect,
    .constraints = {"`data` has the shape of the state"},
    .infer = inferWriteState,
    .eval = evalWriteState,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// tensor_buffer_to_tensor, tensor_to_tensor_buffer
//===----------------------------------------------------------------------===//

constinit const OpDef ops::TensorBufferToTensor = {
    .name = "tensor_buffer_to_tensor",
    .summary = "The tensor in the buffer `input`.",
    .family = "memory",
    .params = {inHolder(Holder::Buffer, value(param::input, movableTypes))},
    .traits = trait::Mil | trait::DataMovement | trait::Renames,
    .opsetTag = "ios17",
    .infer = inferSame,
    .eval = evalCopy,
};

static bool inferToBuffer(InferContext &ctx) {
  unsigned rank = ctx.type(0).rank();
  return checkLength(ctx, param::strides, rank) &&           // C1
         checkLength(ctx, param::interleaveFactors, rank) && // C2
         checkRange(ctx, param::strides, 1) &&               // C3
         checkRange(ctx, param::interleaveFactors, 1) &&     // C4
         inferSame(ctx);
}

constinit const OpDef ops::TensorToTensorBuffer = {
    .name = "tensor_to_tensor_buffer",
    .summary = "A buffer that holds `input`, with `strides` and "
               "`interleave_factors`.",
    .family = "memory",
    .params = {value(param::input, movableTypes),
               ParamDef{param::interleaveFactors,
                        ParamKind::Constant,
                        {DType::UInt8},
                        0,
                        1},
               ParamDef{
                   param::strides, ParamKind::Constant, {DType::Int64}, 0, 1}},
    .traits = trait::Mil | trait::DataMovement | trait::Renames,
    .constraints = {"`strides` has an element for each axis",
                    "`interleave_factors` has an element for each axis",
                    "strides are at least 1",
                    "interleave factors are at least 1"},
    .resultHolder = Holder::Buffer,
    .opsetTag = "ios17",
    .infer = inferToBuffer,
    .eval = evalCopy,
};
