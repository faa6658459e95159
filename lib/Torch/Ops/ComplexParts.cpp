//===- ComplexParts.cpp - real and imaginary parts ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::torch;

/// The real and the imaginary parts, which are an axis already.
static void sameElements(Node &n) { n.out(n.e.native(n.item("self").val)); }

static void joinParts(Node &n) {
  Emitter &e = n.e;
  Val real = n.in("real"), imaginary = n.in("imag");
  std::optional<Shape> shape = broadcastShapes(real.shape(), imaginary.shape());
  if (n.failed() || !shape)
    return n.fail("its parts do not broadcast");
  Shape wide = *shape;
  wide.push_back(1);
  Val left = e.reshape(e.broadcast(real, *shape), wide);
  n.out(e.concat({left, e.reshape(e.broadcast(imaginary, *shape), wide)}, -1));
}

template <int Part>
static void partOf(Node &n) {
  Item x = n.item("self");
  if (!isComplex(x.type))
    return Part == 0 ? n.out(n.e.native(x.val)) : n.fail("it is real");
  if (n.failed())
    return;
  Shape shape = x.val.shape();
  shape.pop_back();
  n.out(n.e.reshape(n.e.slice(x.val, -1, Part, Part + 1), shape));
}

static constexpr OpRow complexPartTable[] = {
    {"aten.complex.default", joinParts},
    {"aten.imag.default", partOf<1>, "", true},
    {"aten.real.default", partOf<0>, "", true},
    {"aten.view_as_complex.default", sameElements, "", true},
    {"aten.view_as_real.default", sameElements, "", true},
};

llvm::ArrayRef<OpRow> torch::complexPartRows() { return complexPartTable; }
