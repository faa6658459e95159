//===- NamedFiles.h - files by their names ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_NAMEDFILES_H
#define ANEC_SUPPORT_NAMEDFILES_H

#include "anec/Support/MappedFile.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

/// The contents of files by their names relative to one folder, with `/`
/// between folders: files that are mapped, or that are in memory alone.
using NamedFiles = llvm::StringMap<MappedFile>;

} // namespace anec

#endif // ANEC_SUPPORT_NAMEDFILES_H
