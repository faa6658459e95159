//===- Surface.mm - the memory of an input or output ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Surface.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/Half.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/StringExtras.h"
#import <Foundation/Foundation.h>
#include <cstring>

using namespace anec;
using namespace anec::ane;

RowLayout ane::rowLayout(const TensorType &type, uint64_t stride) {
  const SurfaceRule &rule = genericTarget().surface;
  RowLayout layout;
  layout.elementBytes = byteSize(type.dtype, 1);
  layout.columns = type.isScalar() ? 1 : uint64_t(type.shape.back());
  for (int64_t extent : llvm::ArrayRef(type.shape).drop_back(!type.isScalar()))
    layout.rows *= uint64_t(extent);
  layout.stride =
      stride ? stride : llvm::alignTo(layout.rowBytes(), rule.rowAlignment);
  layout.bytes =
      std::max<uint64_t>(layout.rows * layout.stride, surfaceBytes(rule, type));
  return layout;
}

std::optional<Surface>
Surface::create(const Port &port, const RowLayout &layout, Diagnostics &diags) {
  @autoreleasepool {
    NSNumber *bytes = [NSNumber numberWithUnsignedLongLong:layout.bytes];
    NSDictionary *properties = @{
      (NSString *)kIOSurfaceWidth : bytes,
      (NSString *)kIOSurfaceHeight : @1,
      (NSString *)kIOSurfaceBytesPerElement : @1,
      (NSString *)kIOSurfaceBytesPerRow : bytes,
      (NSString *)kIOSurfaceAllocSize : bytes,
      (NSString *)kIOSurfacePixelFormat : @0,
    };
    IOSurfaceRef made = IOSurfaceCreate((CFDictionaryRef)properties);
    if (!made) {
      diags.report({}, diag::AneSurface, "make", port.name,
                   std::to_string(layout.bytes) + " bytes are not to be had");
      return std::nullopt;
    }
    Surface surface(port, layout, made);
    // Rows are padded with zeros.
    if (!surface.locked(false, diags, [&](uint8_t *base) {
          std::memset(base, 0, layout.bytes);
        }))
      return std::nullopt;
    return surface;
  }
}

Surface::Surface(Surface &&other) noexcept
    : port(std::move(other.port)), layout(other.layout),
      surface(std::exchange(other.surface, nullptr)) {}

Surface::~Surface() {
  if (surface)
    CFRelease(surface);
}

/// Calls `visit` with the memory, which is locked for the processor during the
/// call.
template <typename Visit>
bool Surface::locked(bool readOnly, Diagnostics &diags, Visit visit) {
  IOSurfaceLockOptions options = readOnly ? kIOSurfaceLockReadOnly : 0;
  auto failed = [&](const char *what, int code) {
    diags.report({}, diag::AneSurface, what, port.name,
                 "code 0x" + llvm::utohexstr(uint32_t(code), true));
    return false;
  };
  if (int code = IOSurfaceLock(surface, options, nullptr))
    return failed("lock", code);
  visit(static_cast<uint8_t *>(IOSurfaceGetBaseAddress(surface)));
  if (int code = IOSurfaceUnlock(surface, options, nullptr))
    return failed("unlock", code);
  return true;
}

/// Calls `visit` for each row of `region` with its place in the surface, its
/// offset among the region's elements, and its length. Contiguous rows are
/// joined.
template <typename Visit>
void Surface::forEachRow(const Region &region, Visit visit) {
  Region rows = region;
  // A vector is a column of its matrix, and a row of its surface.
  if (port.type.shape.size() < 2)
    rows = {0, region.channel, 1, region.channels};
  bool whole = layout.isDense() && uint64_t(rows.columns) == layout.columns;
  int64_t step = whole ? std::max<int64_t>(rows.channels, 1) : 1;
  for (int64_t row = 0; row < rows.channels; row += step)
    visit(uint64_t(rows.channel + row) * layout.stride +
              uint64_t(rows.column) * layout.elementBytes,
          size_t(row * rows.columns), size_t(step * rows.columns));
}

bool Surface::write(const Region &region, const float *elements,
                    Diagnostics &diags) {
  return locked(false, diags, [&](uint8_t *base) {
    forEachRow(region, [&](uint64_t offset, size_t from, size_t count) {
      if (port.type.dtype == DType::FP16)
        floatsToHalves(elements + from,
                       reinterpret_cast<uint16_t *>(base + offset), count);
      else
        std::memcpy(base + offset, elements + from, count * sizeof(float));
    });
  });
}

bool Surface::read(const Region &region, float *elements, Diagnostics &diags) {
  return locked(true, diags, [&](const uint8_t *base) {
    forEachRow(region, [&](uint64_t offset, size_t to, size_t count) {
      if (port.type.dtype == DType::FP16)
        halvesToFloats(reinterpret_cast<const uint16_t *>(base + offset),
                       elements + to, count);
      else
        std::memcpy(elements + to, base + offset, count * sizeof(float));
    });
  });
}

bool Surface::write(llvm::ArrayRef<uint8_t> bytes, Diagnostics &diags) {
  return locked(false, diags, [&](uint8_t *base) {
    for (uint64_t row = 0; row < layout.rows && layout.rowBytes(); ++row)
      std::memcpy(base + row * layout.stride,
                  bytes.data() + row * layout.rowBytes(), layout.rowBytes());
  });
}

bool Surface::read(llvm::MutableArrayRef<uint8_t> bytes, Diagnostics &diags) {
  return locked(true, diags, [&](const uint8_t *base) {
    for (uint64_t row = 0; row < layout.rows && layout.rowBytes(); ++row)
      std::memcpy(bytes.data() + row * layout.rowBytes(),
                  base + row * layout.stride, layout.rowBytes());
  });
}
