//===- IOSurfaceRef.h - what anec uses of IOSurface -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations after developer.apple.com/documentation/iosurface/NAME, where
/// NAME is in the comment of each.
///
//===----------------------------------------------------------------------===//

#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <mach/kern_return.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma clang assume_nonnull begin

typedef struct CF_BRIDGED_TYPE(IOSurface)
    __IOSurface *IOSurfaceRef; // iosurfaceref

// iosurfacelockoptions
typedef uint32_t IOSurfaceLockOptions;
enum {
  kIOSurfaceLockReadOnly = 0x00000001,
  kIOSurfaceLockAvoidSync = 0x00000002,
};

// kiosurfacewidth, kiosurfaceheight, kiosurfacebytesperrow,
// kiosurfacebytesperelement, kiosurfaceallocsize, kiosurfacepixelformat
extern const CFStringRef kIOSurfaceWidth API_AVAILABLE(macos(10.6));
extern const CFStringRef kIOSurfaceHeight API_AVAILABLE(macos(10.6));
extern const CFStringRef kIOSurfaceBytesPerRow API_AVAILABLE(macos(10.6));
extern const CFStringRef kIOSurfaceBytesPerElement API_AVAILABLE(macos(10.6));
extern const CFStringRef kIOSurfaceAllocSize API_AVAILABLE(macos(10.6));
extern const CFStringRef kIOSurfacePixelFormat API_AVAILABLE(macos(10.6));

// iosurfacecreate(_:)
IOSurfaceRef _Nullable IOSurfaceCreate(CFDictionaryRef properties)
    CF_RETURNS_RETAINED API_AVAILABLE(macos(10.6));
// iosurfacelock(_:_:_:)
kern_return_t IOSurfaceLock(IOSurfaceRef buffer, IOSurfaceLockOptions options,
                            uint32_t *_Nullable seed)
    API_AVAILABLE(macos(10.6));
// iosurfaceunlock(_:_:_:)
kern_return_t IOSurfaceUnlock(IOSurfaceRef buffer, IOSurfaceLockOptions options,
                              uint32_t *_Nullable seed)
    API_AVAILABLE(macos(10.6));
// iosurfacegetbaseaddress(_:)
void *IOSurfaceGetBaseAddress(IOSurfaceRef buffer) API_AVAILABLE(macos(10.6));

#pragma clang assume_nonnull end
#ifdef __cplusplus
}
#endif
