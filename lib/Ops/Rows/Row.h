//===- Row.h - declares the rows of a family --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `ANEC_ROWS(convRows, Conv, ConvTranspose)` declares the rows `ops::Conv` and
/// `ops::ConvTranspose`, which `Ops/Conv.cpp` defines, and `ops::convRows`, the
/// list of them for the table. A name without a row is a link error.
///
/// A file includes the families whose ops it names: a new op rebuilds only
/// these.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROWS_ROW_H
#define ANEC_LIB_OPS_ROWS_ROW_H

#include "lib/IR/OpDef.h"
#include <array>

namespace anec::ops {

template <typename... Rows>
constexpr std::array<const OpDef *, sizeof...(Rows)>
addressesOf(const Rows &...rows) {
  return {&rows...};
}

} // namespace anec::ops

#define ANEC_ROWS(LIST, ...)                                                   \
  extern const OpDef __VA_ARGS__;                                              \
  inline constexpr auto LIST = addressesOf(__VA_ARGS__);

#endif // ANEC_LIB_OPS_ROWS_ROW_H
