//===- Npy.h - numpy's array files -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads and writes .npy files: one array each, of booleans, integers, or
/// 16, 32 or 64-bit floats, little-endian.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_NPY_H
#define ANEC_LIB_ARRAYS_NPY_H

#include "anec/IR/Constant.h"
#include "anec/Support/MappedFile.h"

namespace anec {

/// The array in the .npy file at `path`, as a view of the mapped file (an array
/// in Fortran order is copied into row-major order); returns null when it
/// cannot be read, with the reason reported.
[[nodiscard]] ConstantRef readNpy(llvm::StringRef path, Diagnostics &diags);
/// The same for an already mapped file; `path` is for messages.
[[nodiscard]] ConstantRef readNpy(const MappedFile &file, llvm::StringRef path,
                                  Diagnostics &diags);

/// Writes `array` as .npy version 1; strings must be UTF-8. Returns false and
/// writes nothing for bf16, 8-bit floats and sub-byte integers, which .npy
/// files cannot store.
bool writeNpy(llvm::raw_ostream &out, const Constant &array);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_NPY_H
