//===- OpRows.cpp - the table of operators --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "lib/Torch/Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::torch;

static std::vector<OpRow> collectRows() {
  std::vector<OpRow> rows;
#define FAMILY(NAME) llvm::append_range(rows, NAME##Rows());
#include "Families.def"
  llvm::sort(rows, [](const OpRow &lhs, const OpRow &rhs) {
    return lhs.name < rhs.name;
  });
  return rows;
}

llvm::ArrayRef<OpRow> torch::opRows() {
  static const std::vector<OpRow> rows = collectRows();
  return rows;
}

static constexpr llvm::StringLiteral isRandom =
    "its result is different in every run; draw numbers outside of the model "
    "and give them as an input";
static constexpr llvm::StringLiteral linearAlgebra =
    "decompositions of matrices have no counterpart";

// Sorted by name.
static constexpr RefusedOp refused[] = {
    {"aten.bernoulli.default", isRandom},
    {"aten.linalg_cholesky.default", linearAlgebra},
    {"aten.linalg_eigh.default", linearAlgebra},
    {"aten.linalg_qr.default", linearAlgebra},
    {"aten.linalg_svd.default", linearAlgebra},
    {"aten.multinomial.default", isRandom},
    {"aten.native_dropout.default", isRandom},
    {"aten.normal.default", isRandom},
    {"aten.rand.default", isRandom},
    {"aten.rand_like.default", isRandom},
    {"aten.randint.default", isRandom},
    {"aten.randn.default", isRandom},
    {"aten.randn_like.default", isRandom},
    {"aten.randperm.default", isRandom},
    {"export.access_subclass_inner_tensor.default",
     "a weight is a subclass of tensors; unwrap them before the export, of "
     "torchao's by `torchao.utils.unwrap_tensor_subclass(model)`"},
};

llvm::ArrayRef<RefusedOp> torch::refusedOps() { return refused; }

std::vector<TorchOperator> anec::torchOperators() {
  std::vector<TorchOperator> operators;
  for (const OpRow &row : opRows())
    operators.push_back({row.name, true, row.limits});
  for (const RefusedOp &row : refusedOps())
    operators.push_back({row.name, false, row.reason});
  llvm::sort(operators, [](const TorchOperator &lhs, const TorchOperator &rhs) {
    return lhs.name < rhs.name;
  });
  return operators;
}
