//===- Utf8.h - whole characters of a text ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_UTF8_H
#define ANEC_LIB_TRAIN_UTF8_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"

namespace anec {

/// The bytes of the character that `text` begins with; 0 if it begins with
/// none, or with a part of one. `text` is not empty.
inline size_t legalCharacterSize(llvm::StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t size = llvm::getNumBytesForUTF8(*begin);
  bool isLegal =
      size <= text.size() && llvm::isLegalUTF8Sequence(begin, begin + size);
  return isLegal ? size : 0;
}

} // namespace anec

#endif // ANEC_LIB_TRAIN_UTF8_H
