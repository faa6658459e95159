//===- Listing.cpp - places in files without lines ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Listing.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>

using namespace anec;
using llvm::StringRef;

/// The end of the identifiers of listings, which no path has.
static constexpr llvm::StringLiteral mark("\n(listing)");

bool anec::takeListedPath(StringRef &identifier) {
  return identifier.consume_back(mark);
}

StringRef anec::listedWords(SourceRange range) {
  const char *begin = range.Start.getPointer();
  return {begin, size_t(range.End.getPointer() - begin)};
}

/// Between the words of a line and its origin.
static constexpr char originMark = '\t';

StringRef anec::listedOrigin(SourceRange range) {
  const char *end = range.End.getPointer();
  return *end == originMark ? StringRef(end + 1).split('\n').first : "";
}

SourceRange Listing::add(StringRef line, StringRef origin) {
  origin = origin.split('\n').first;
  size_t size = line.size() + 1 + (origin.empty() ? 0 : origin.size() + 1);
  if (left < size) {
    // Few buffers, since finding the one of a range takes time for each.
    constexpr size_t largestChunk = 1 << 24;
    left = std::max(chunk, size);
    chunk = std::min(chunk * 4, largestChunk);
    auto buffer =
        llvm::WritableMemoryBuffer::getNewMemBuffer(left, path + mark);
    next = buffer->getBufferStart();
    diags.addBuffer(std::move(buffer));
  }
  std::memcpy(next, line.data(), line.size());
  llvm::SMLoc begin = llvm::SMLoc::getFromPointer(next);
  next += line.size();
  SourceRange range{begin, llvm::SMLoc::getFromPointer(next)};
  if (!origin.empty()) {
    *next++ = originMark;
    next = std::copy(origin.begin(), origin.end(), next);
  }
  *next++ = '\n';
  left -= size;
  return range;
}
