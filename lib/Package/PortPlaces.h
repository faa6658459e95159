//===- PortPlaces.h - where tensors are in ports ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The places of a kernel's tensors in the ports of its program. A package is
/// written with these, and one with others is refused.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_PORTPLACES_H
#define ANEC_LIB_PACKAGE_PORTPLACES_H

#include "anec/Package/ModelPackage.h"

namespace anec {

enum class PortKind : uint8_t { Input, Output };

struct PortPlace {
  unsigned port = 0;
  Region region;
};

/// The place of each of `tensors`, the inputs or the outputs of a kernel, in
/// the ports of its program of that kind. Nothing when they do not fit.
std::optional<std::vector<PortPlace>>
placeTensors(llvm::ArrayRef<TensorType> tensors,
             llvm::ArrayRef<TensorType> ports, IOMode io, PortKind kind);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_PORTPLACES_H
