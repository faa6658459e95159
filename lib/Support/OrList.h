//===- OrList.h - alternatives in a message ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_ORLIST_H
#define ANEC_LIB_SUPPORT_ORLIST_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace anec {

/// "a", "a or b", "a, b or c"; empty for none.
std::string orList(llvm::ArrayRef<std::string> words);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_ORLIST_H
