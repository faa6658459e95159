//===- PortPlaces.cpp - where tensors are in ports ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PortPlaces.h"

using namespace anec;

/// The place of `tensor` in a port of its own: all of it, unless rows were
/// padded.
static std::optional<Region> placeInPort(const TensorType &tensor,
                                         const TensorType &port) {
  Region whole = matrixOf(port.shape);
  int64_t count = tensor.numElements();
  if (port.rank() < 2)
    return Region{0, 0, count, 1};
  if (whole.channels == 0 || count % whole.channels != 0)
    return std::nullopt;
  return Region{0, 0, whole.channels, count / whole.channels};
}

static bool isWithin(const Region &region, const TensorType &port) {
  Region whole = matrixOf(port.shape);
  return region.channel + region.channels <= whole.channels &&
         region.column + region.columns <= whole.columns;
}

std::optional<std::vector<PortPlace>>
anec::placeTensors(llvm::ArrayRef<TensorType> tensors,
                   llvm::ArrayRef<TensorType> ports, IOMode io, PortKind kind) {
  bool isPacked = io == IOMode::Packed;
  if (ports.size() != (isPacked && !tensors.empty() ? 1 : tensors.size()))
    return std::nullopt;
  PackedLayout layout =
      packTensors(tensors, kind == PortKind::Input ? inputAlignment : 1);
  std::vector<PortPlace> places;
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    unsigned port = isPacked ? 0 : unsigned(index);
    std::optional<Region> region =
        isPacked ? layout.parts[index] : placeInPort(tensor, ports[port]);
    if (!region || !isWithin(*region, ports[port]))
      return std::nullopt;
    places.push_back({port, *region});
  }
  return places;
}
