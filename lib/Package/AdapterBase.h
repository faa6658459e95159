//===- AdapterBase.h - which weights an adapter belongs to ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What is trained beside frozen weights is of use with these weights alone:
/// its file has a digest of them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_ADAPTERBASE_H
#define ANEC_LIB_PACKAGE_ADAPTERBASE_H

#include "anec/Package/ModelPackage.h"

namespace anec {

/// The name of the digest in the metadata of a .safetensors file.
constexpr llvm::StringLiteral adapterBaseKey = "base_blake3";

/// Whether training leaves a weight of `package` as it is.
bool hasFrozenWeights(const ModelPackage &package);

/// Whether `weight` is part of an adapter that addAdapters adds to another
/// weight of `package`.
bool isAdapter(const ModelPackage &package, const PackagedWeight &weight);

/// A digest of the frozen weights of `package` by name, in their declared
/// element types, whatever the format of their file. Nothing, with the reason
/// reported, when one is missing.
[[nodiscard]] std::optional<std::string>
digestOfBase(const ModelPackage &package, const WeightBinding &values,
             Diagnostics &diags);

/// Whether the adapters in `values`, which say what they were trained beside,
/// belong to the frozen weights with the digest `base`; reported when not.
[[nodiscard]] bool isBase(llvm::StringRef base, const WeightBinding &values,
                          Diagnostics &diags);

/// Whether the adapters in `values`, if there are any, belong to the frozen
/// weights in it; reported when not.
[[nodiscard]] bool checkBase(const ModelPackage &package,
                             const WeightBinding &values, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_ADAPTERBASE_H
