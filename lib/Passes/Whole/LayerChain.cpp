//===- LayerChain.cpp - layers that pass values on ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LayerChain.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The result whose values are the arguments of the parts behind; nothing when
/// there is none.
static std::optional<size_t> resultBefore(const RepeatedOps &repeated,
                                          llvm::ArrayRef<Value *> values) {
  for (auto [index, results] : llvm::enumerate(repeated.results))
    if (llvm::ArrayRef(results).drop_back() == values.drop_front())
      return index;
  return std::nullopt;
}

/// Whether only the part behind uses the results of a part that is not the
/// last one.
static bool isPassedOnOnly(const RepeatedOps &repeated,
                           llvm::ArrayRef<Value *> results) {
  for (size_t part = 0; part + 1 < repeated.count(); ++part) {
    const std::vector<Op *> &own = repeated.parts[part],
                            &behind = repeated.parts[part + 1];
    for (const Operand *use = results[part]->firstUse(); use;
         use = use->nextUse())
      if (!use->owner() || (!llvm::is_contained(own, use->owner()) &&
                            !llvm::is_contained(behind, use->owner())))
        return false;
  }
  return true;
}

std::optional<LayerChain> LayerChain::of(const RepeatedOps &repeated) {
  LayerChain chain;
  std::vector<bool> isCarried(repeated.results.size());
  for (const std::vector<Value *> &values : repeated.arguments) {
    std::optional<size_t> result = resultBefore(repeated, values);
    if (!result && !llvm::all_equal(values))
      return std::nullopt;
    if (result && isCarried[*result])
      return std::nullopt;
    if (result)
      isCarried[*result] = true;
    chain.carried.push_back(result);
  }
  bool allCarried = llvm::all_of(isCarried, [](bool is) { return is; }) &&
                    llvm::all_of(repeated.results, [&](const auto &results) {
                      return isPassedOnOnly(repeated, results);
                    });
  return allCarried && !isCarried.empty() ? std::optional(chain) : std::nullopt;
}
