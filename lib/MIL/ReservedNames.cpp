//===- ReservedNames.cpp - words that are no names in MIL -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Two sources: the names that coremltools renames (`reserved_names` of
/// NameSanitizer in converters/mil/mil/passes/defs/preprocess.py, version 9),
/// and the words with which the types and values of MIL's text begin. Element
/// types, which are in both, are in DTypes.def.
///
//===----------------------------------------------------------------------===//

#include "ReservedNames.h"
#include "anec/IR/DType.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

static constexpr llvm::StringLiteral ofCoreMLTools[] = {
    "any",  "bool",    "dict",   "false",  "fp64", "func",  "int64",
    "list", "program", "string", "tensor", "true", "tuple", "uint64",
};

static constexpr llvm::StringLiteral ofText[] = {
    "BLOBFILE", "inf", "nan", "state", "tensor_buffer",
};

static llvm::StringSet<> allNames() {
  llvm::StringSet<> names;
  for (const DTypeFacts &row : dtypeTable)
    names.insert(row.spelling);
  for (llvm::StringRef name : ofCoreMLTools)
    names.insert(name);
  for (llvm::StringRef name : ofText)
    names.insert(name);
  return names;
}

bool mil::isReservedName(llvm::StringRef name) {
  // Each value of a program is looked up.
  static const llvm::StringSet<> names = allNames();
  return names.contains(name);
}
