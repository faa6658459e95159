//===- OrderIO.cpp - sort names in interface order ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine passes multiple inputs (and outputs) to a program sorted by the
/// bytes of their names; names of outputs are compared with the suffix
/// `@output` (so that `y2` sorts before `y`). Prefixes make this order equal to
/// the declared order.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// `a_`, `b_`, ...; two letters when there are more than 26 names.
static std::string prefix(size_t index, size_t count) {
  std::string text;
  if (count > 26)
    text += char('a' + index / 26);
  text += char('a' + index % 26);
  return text + "_";
}

/// Adds prefixes to `names`, unless they are already sorted when compared with
/// `suffix` appended, or are more than 676. Returns whether it added them.
static bool orderNames(std::vector<std::string> &names,
                       llvm::StringRef suffix) {
  auto before = [&](const std::string &lhs, const std::string &rhs) {
    return lhs + suffix.str() < rhs + suffix.str();
  };
  if (llvm::is_sorted(names, before) || names.size() > 26 * 26)
    return false;
  for (auto [index, name] : llvm::enumerate(names))
    name = prefix(index, names.size()) + name;
  return true;
}

static bool orderIO(Function &function, PassContext &ctx) {
  if (function.kind != FunctionKind::Kernel)
    return false;
  std::vector<std::string> inputs, outputs = function.resultNames();
  for (const auto &param : function.parameters())
    inputs.push_back(param->name);
  bool changed = false;
  if (orderNames(inputs, "")) {
    for (auto [param, name] : llvm::zip_equal(function.parameters(), inputs))
      param->name = name;
    ctx.count("renamed", inputs.size());
    changed = true;
  }
  if (orderNames(outputs, "@output")) {
    llvm::SmallVector<llvm::StringRef, 4> names(outputs.begin(), outputs.end());
    function.setResults(function.resultValues(), names, function.resultRoles());
    ctx.count("renamed", outputs.size());
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::OrderIO = {
    .name = "order-io",
    .summary =
        "Rename inputs and outputs of kernels so that they are sorted by name",
    .description = "(%x, %w) -> (%y, %t)  ==>  (%a_x, %b_w) -> (%a_y, %b_t)",
    .stats = {{{"renamed", "inputs and outputs renamed"}}},
    .tolerance = 0,
    .needs = Need::NotCalled,
    .run = orderIO,
};
