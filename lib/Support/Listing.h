//===- Listing.h - places in files without lines ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Diagnostics point to ranges of texts. For a binary file, the text is a
/// listing with a line for each of its parts: `in function `main`, op `conv_3`
/// (conv)`. Diagnostics whose range is such a line are about the file, begin
/// with the words of the line, and have no line number.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_LISTING_H
#define ANEC_LIB_SUPPORT_LISTING_H

#include "anec/Support/Diagnostics.h"

namespace anec {

class Listing {
public:
  /// The parts of the file `path`. The text is a buffer of `diags`.
  Listing(llvm::StringRef path, Diagnostics &diags)
      : path(path.str()), diags(diags) {}

  /// Adds a line, which must not contain a line break, and returns its range.
  /// `origin` says where the part comes from, as listedOrigin returns it; what
  /// follows a line break in it is left out.
  SourceRange add(llvm::StringRef line, llvm::StringRef origin = "");

private:
  std::string path;
  Diagnostics &diags;
  char *next = nullptr;
  size_t left = 0;
  size_t chunk = 1 << 14; ///< the size of the next buffer
};

/// The words of the line with this range.
llvm::StringRef listedWords(SourceRange range);

/// Where the part with this range comes from, in what the user wrote:
/// `model.py:14, in forward`; empty when it is not known.
llvm::StringRef listedOrigin(SourceRange range);

/// Whether a buffer called `identifier` is a listing; if so, `identifier` is
/// then the path of the file.
bool takeListedPath(llvm::StringRef &identifier);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_LISTING_H
