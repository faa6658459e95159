//===- TemporaryName.h - names of what is not finished yet ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Files and folders are written beside their target as
/// `TARGET.RRRRRRRRCCCCCCCC.tmp`: eight random hexadecimal digits, and the
/// CRC-32 of the target's name and these digits. The checksum shows that anec
/// chose the name, so that nothing of the user's is taken for a leftover.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_TEMPORARYNAME_H
#define ANEC_LIB_SUPPORT_TEMPORARYNAME_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// A new temporary name for the file or folder `target`.
std::string temporaryName(llvm::StringRef target);

/// The target of a temporary name; empty when `name` is none.
llvm::StringRef temporaryTarget(llvm::StringRef name);

/// `path`, whose last name may be a temporary one, with the name of its target.
llvm::StringRef withoutTemporaryEnd(llvm::StringRef path);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_TEMPORARYNAME_H
