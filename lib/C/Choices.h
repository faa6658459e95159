//===- Choices.h - options of a few values ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_C_CHOICES_H
#define ANEC_LIB_C_CHOICES_H

#include "anec/Support/Words.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec::c {

/// The reason for refusing `given`, which is none of `known`: "it is one of
/// `a`, `b`, not `c`; did you mean `b`?".
std::string wrongChoice(llvm::StringRef given,
                        llvm::ArrayRef<llvm::StringRef> known);
/// The same for the number of an enumeration, whose names are `known`.
std::string wrongChoice(int given, llvm::ArrayRef<llvm::StringRef> known);

/// The words of an enumeration, for wrongChoice.
template <Worded Enum>
llvm::SmallVector<llvm::StringRef> knownWords() {
  return {allWords<Enum>().begin(), allWords<Enum>().end()};
}

} // namespace anec::c

#endif // ANEC_LIB_C_CHOICES_H
