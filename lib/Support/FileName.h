//===- FileName.h - names that become file names ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Names of weights, outputs and parts of packages come from files that others
/// may have written. They become file names only when these functions accept
/// them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_FILENAME_H
#define ANEC_LIB_SUPPORT_FILENAME_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// The longest name in bytes. Most systems take 255; temporary names are
/// longer than final ones.
constexpr size_t mostFileName = 200;

/// Whether `name` can be the name of a file in a folder: it is not empty, `.`
/// or `..`, has no separators and no control characters, and is not too long.
bool isFileName(llvm::StringRef name);

/// Whether `path` is of names that isFileName accepts, with `/` between them:
/// it leads to a file in a folder or below it.
bool isFilePath(llvm::StringRef path);

/// `name` for a message: control characters are escaped, and a long name is
/// cut.
std::string showFileName(llvm::StringRef name);

/// The path of `name` in `folder`; `name` alone where `folder` is empty.
std::string pathIn(llvm::StringRef folder, llvm::StringRef name);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_FILENAME_H
