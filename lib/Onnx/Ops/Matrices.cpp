//===- Matrices.cpp - determinants ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"

using namespace anec;
using namespace anec::onnx;

/// Element [..., row, column], without these axes.
static Val elementAt(Emitter &e, Val x, int64_t row, int64_t column) {
  Val element = e.slice(e.slice(x, -2, row, row + 1), -1, column, column + 1);
  return e.reshape(element, llvm::ArrayRef(x.shape()).drop_back(2));
}

/// By rows of up to 4: the sum over the first row of element times cofactor.
static Val determinant(Emitter &e, Val x, int64_t row,
                       llvm::ArrayRef<int64_t> columns) {
  if (columns.size() == 1)
    return elementAt(e, x, row, columns.front());
  Val sum;
  for (size_t i = 0; i != columns.size(); ++i) {
    Shape others(columns);
    others.erase(others.begin() + i);
    Val element = elementAt(e, x, row, columns[i]);
    Val term = e.mul(element, determinant(e, x, row + 1, others));
    sum = !i ? term : i % 2 ? e.sub(sum, term) : e.add(sum, term);
  }
  return sum;
}

static void readDet(Node &n) {
  Val x = n.in(0);
  if (!x)
    return;
  if (x.rank() < 2 || x.dim(-1) != x.dim(-2))
    return n.fail("`Det` needs square matrices");
  if (x.dim(-1) > 4)
    return n.refuse("a determinant of more than 4 rows");
  Shape columns;
  for (int64_t i = 0; i != x.dim(-1); ++i)
    columns.push_back(i);
  n.out(determinant(n.e, x, 0, columns));
}

static constexpr OpRow matrixTable[] = {
    {.name = "Det", .read = readDet, .since = 11, .limits = "of up to 4 rows"},
};

llvm::ArrayRef<OpRow> onnx::matrixRows() { return matrixTable; }
