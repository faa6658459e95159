//===- OpRows.cpp - the table of operators --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Schema.h"
#include "lib/Onnx/Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::onnx;

static std::vector<OpRow> sorted(std::vector<OpRow> rows) {
  llvm::sort(rows, [](const OpRow &lhs, const OpRow &rhs) {
    return lhs.name < rhs.name;
  });
  return rows;
}

static std::vector<OpRow> collectOnnx() {
  std::vector<OpRow> rows;
#define FAMILY(NAME) llvm::append_range(rows, NAME##Rows());
#define MICROSOFT_FAMILY(NAME)
#include "Families.def"
  return sorted(std::move(rows));
}

static std::vector<OpRow> collectMicrosoft() {
  std::vector<OpRow> rows;
#define FAMILY(NAME)
#define MICROSOFT_FAMILY(NAME) llvm::append_range(rows, NAME##Rows());
#include "Families.def"
  return sorted(std::move(rows));
}

llvm::ArrayRef<OpRow> onnx::opRows(llvm::StringRef domain) {
  static const std::vector<OpRow> own = collectOnnx();
  static const std::vector<OpRow> others = collectMicrosoft();
  return domain.empty()        ? llvm::ArrayRef(own)
         : domain == microsoft ? llvm::ArrayRef(others)
                               : llvm::ArrayRef<OpRow>();
}

std::vector<OnnxOperator> anec::onnxOperators() {
  std::vector<OnnxOperator> operators;
  for (llvm::StringRef domain :
       {llvm::StringRef(), llvm::StringRef(microsoft)}) {
    auto first = std::ptrdiff_t(operators.size());
    for (const OpRow &row : opRows(domain))
      operators.push_back({row.name, domain, true, row.since, row.limits});
    for (const RefusedOp &op : refusedOps(domain))
      operators.push_back({op.name, domain, false, 0, op.reason});
    std::sort(operators.begin() + first, operators.end(),
              [](const OnnxOperator &lhs, const OnnxOperator &rhs) {
                return lhs.name < rhs.name;
              });
  }
  return operators;
}
