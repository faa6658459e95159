//===- Surface.mm - the memory of an input or output ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Surface.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/StringExtras.h"
#import <Foundation/Foundation.h>
#include <cstring>

using namespace anec;
using namespace anec::ane;

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

bool Surface::write(const Region &region, const float *elements,
                    Diagnostics &diags) {
  return locked(false, diags, [&](uint8_t *base) {
    forEachRow(
        port.type, layout, region,
        [&](uint64_t offset, size_t from, size_t count) {
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
    forEachRow(
        port.type, layout, region,
        [&](uint64_t offset, size_t to, size_t count) {
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
      std::memcpy(base + layout.offsetOf(row),
                  bytes.data() + row * layout.rowBytes(), layout.rowBytes());
  });
}

bool Surface::read(llvm::MutableArrayRef<uint8_t> bytes, Diagnostics &diags) {
  return locked(true, diags, [&](const uint8_t *base) {
    for (uint64_t row = 0; row < layout.rows && layout.rowBytes(); ++row)
      std::memcpy(bytes.data() + row * layout.rowBytes(),
                  base + layout.offsetOf(row), layout.rowBytes());
  });
}
