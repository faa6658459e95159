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
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static constexpr llvm::StringLiteral ofCoreMLTools[] = {
    "any",  "bool",    "dict",   "false",  "fp64", "func",  "int64",
    "list", "program", "string", "tensor", "true", "tuple", "uint64",
};

static constexpr llvm::StringLiteral ofText[] = {
    "BLOBFILE", "inf", "nan", "state", "tensor_buffer",
};

bool mil::isReservedName(llvm::StringRef name) {
  return parseDType(name) || llvm::is_contained(ofCoreMLTools, name) ||
         llvm::is_contained(ofText, name);
}
