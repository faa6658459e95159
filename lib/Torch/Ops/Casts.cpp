//===- Casts.cpp - conversions of element types ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::torch;

/// To the type that PyTorch says the result has.
static void convert(Node &n) {
  n.ignore("dtype");
  n.ignore("other");
  Item x = n.item("self");
  ScalarType type = n.outType();
  if (isComplex(type) && !isComplex(x.type)) {
    Val real = n.cast(x, ScalarType::Float32);
    Shape shape = real.shape();
    shape.push_back(1);
    Val zero = n.e.filled(DType::FP32, shape, 0);
    return n.out(n.e.concat({n.e.reshape(real, shape), zero}, -1));
  }
  if (isComplex(type) != isComplex(x.type))
    return n.fail("conversions from complex numbers are not supported");
  // Wide integers stay what they are, since shapes have large ones.
  if (x.type == type)
    return n.out(x.val);
  if (isFloating(x.type) && type == ScalarType::UInt8) {
    // Below 0, it is not the same everywhere.
    return n.out(
        n.cast(n.e.cast(x.val, DType::Int32), ScalarType::Int32, type));
  }
  n.out(n.cast(x, type));
}

static constexpr OpRow castTable[] = {
    {"aten._to_copy.default", convert, "", true},
    {"aten.to.device", convert, "", true},
    {"aten.to.dtype", convert, "", true},
    {"aten.to.dtype_layout", convert, "", true},
    {"aten.to.other", convert},
    {"aten.type_as.default", convert},
};

llvm::ArrayRef<OpRow> torch::castRows() { return castTable; }
