//===- Surface.h - the memory of an input or output -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_SURFACE_H
#define ANEC_LIB_RUNTIME_ANE_SURFACE_H

#include "anec/Runtime/Backend.h"
#import <IOSurface/IOSurfaceRef.h>

namespace anec::ane {

/// Rows (along the last axis) that begin `stride` bytes apart.
struct RowLayout {
  uint64_t rows = 1, columns = 1;
  uint64_t elementBytes = 2;
  uint64_t stride = 64;
  uint64_t bytes = 0; ///< of the surface

  uint64_t rowBytes() const { return columns * elementBytes; }
  bool isDense() const { return stride == rowBytes(); }
};

/// The engine's layout of an input or output of `type`: rows at multiples of 64
/// bytes, or at multiples of `stride` if the engine reports it.
RowLayout rowLayout(const TensorType &type, uint64_t stride = 0);

/// An IOSurface: one row of bytes, locked while it is read or written.
class Surface {
public:
  /// Returns nothing, with the reason reported, when there is no memory for it.
  [[nodiscard]] static std::optional<Surface>
  create(const Port &port, const RowLayout &layout, Diagnostics &diags);
  Surface(Surface &&other) noexcept;
  Surface &operator=(Surface &&) = delete;
  ~Surface();

  IOSurfaceRef get() const { return surface; }
  uint64_t bytes() const { return layout.bytes; }

  /// Like Executable::writeInput and readOutput.
  [[nodiscard]] bool write(const Region &region, const float *elements,
                           Diagnostics &diags);
  [[nodiscard]] bool read(const Region &region, float *elements,
                          Diagnostics &diags);
  /// The whole array, in the port's own type.
  [[nodiscard]] bool write(llvm::ArrayRef<uint8_t> bytes, Diagnostics &diags);
  [[nodiscard]] bool read(llvm::MutableArrayRef<uint8_t> bytes,
                          Diagnostics &diags);

private:
  Surface(const Port &port, const RowLayout &layout, IOSurfaceRef surface)
      : port(port), layout(layout), surface(surface) {}
  template <typename Visit>
  [[nodiscard]] bool locked(bool readOnly, Diagnostics &diags, Visit visit);
  template <typename Visit>
  void forEachRow(const Region &region, Visit visit);

  Port port;
  RowLayout layout;
  IOSurfaceRef surface;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_SURFACE_H
