//===- CharacterTables.h - what categories do not say of characters -*- C++
//-*-//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_CHARACTERTABLES_H
#define ANEC_LIB_TEXT_JINJA_CHARACTERTABLES_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace anec::jinja {

struct Range {
  uint32_t first, last;
};
/// A character whose upper or title case has several; 0 ends them.
struct FullCase {
  uint32_t character;
  uint32_t upper[3], title[3];
};

/// Sorted, as are the others. Each adds to a category: Ll, Lu, Nd, and N.
llvm::ArrayRef<Range> otherLower();
llvm::ArrayRef<Range> otherUpper();
llvm::ArrayRef<Range> otherDigits();
llvm::ArrayRef<Range> otherNumbers();
llvm::ArrayRef<FullCase> fullCases();

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_CHARACTERTABLES_H
