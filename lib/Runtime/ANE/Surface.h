//===- Surface.h - the memory of an input or output -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_SURFACE_H
#define ANEC_LIB_RUNTIME_ANE_SURFACE_H

#include "Layout.h"
#include "anec/Runtime/Backend.h"
#import <IOSurface/IOSurfaceRef.h>

namespace anec::ane {

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
  uint64_t rowStride() const { return layout.stride; }

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

  Port port;
  RowLayout layout;
  IOSurfaceRef surface;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_SURFACE_H
