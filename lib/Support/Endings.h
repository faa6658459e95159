//===- Endings.h - endings of paths that choose a format --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_ENDINGS_H
#define ANEC_LIB_SUPPORT_ENDINGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// `.mil`; empty when the last part of `path` has none.
llvm::StringRef endingOf(llvm::StringRef path);
/// The one of `endings` that the ending of `path` is mistyped for; empty when
/// it is no such ending.
llvm::StringRef closestEnding(llvm::StringRef path,
                              llvm::ArrayRef<llvm::StringRef> endings);
/// Whether `path` is a device, a FIFO or a socket, whose name says nothing.
bool isSpecialFile(llvm::StringRef path);
/// Says that `path` has none of `endings`, which they are, and which is meant;
/// empty when it has one, or is a special file.
std::string wrongEnding(llvm::StringRef path,
                        llvm::ArrayRef<llvm::StringRef> endings);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_ENDINGS_H
