//===- Windows.cpp - the windows that training takes ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenData.h"
#include "lib/Train/Diags.h"

using namespace anec;

uint64_t TokenData::windowCount(uint64_t length) const {
  return (total - 1) / length;
}

void TokenData::readWindow(uint64_t length, uint64_t window,
                           llvm::MutableArrayRef<int32_t> tokens,
                           llvm::MutableArrayRef<int32_t> targets) const {
  copy(window * length, tokens);
  copy(window * length + 1, targets);
}

void TokenData::reportTooFew(uint64_t length, bool validates,
                             Diagnostics &diags) const {
  uint64_t needed = (validates ? 2 : 1) * length + 1;
  diags.report({}, diag::TooFewTokens, total, needed, length);
}

std::optional<Windows> Windows::divide(const TokenData &data, uint64_t length,
                                       double validationShare, uint64_t seed,
                                       Diagnostics &diags) {
  std::optional<DataOrder> order = DataOrder::divide(
      data.windowCount(length), /*perRun=*/1, validationShare, seed);
  if (order)
    return Windows(length, std::move(*order));
  data.reportTooFew(length, validationShare > 0, diags);
  return std::nullopt;
}
