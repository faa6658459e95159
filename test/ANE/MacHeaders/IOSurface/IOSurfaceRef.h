//===- IOSurfaceRef.h - what the ane backend may use of it -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations of Apple's IOSurface and Core Foundation, as their public
/// documentation has them: only what the backend calls.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_MAC_IOSURFACEREF_H
#define ANEC_TEST_ANE_MAC_IOSURFACEREF_H

#include <cstdint>

extern "C" {
typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFDictionary *CFDictionaryRef;
void CFRelease(CFTypeRef cf);

typedef int kern_return_t;
typedef struct __IOSurface *IOSurfaceRef;
typedef uint32_t IOSurfaceLockOptions;
enum : IOSurfaceLockOptions { kIOSurfaceLockReadOnly = 0x00000001 };

extern const CFStringRef kIOSurfaceWidth;
extern const CFStringRef kIOSurfaceHeight;
extern const CFStringRef kIOSurfaceBytesPerElement;
extern const CFStringRef kIOSurfaceBytesPerRow;
extern const CFStringRef kIOSurfaceAllocSize;
extern const CFStringRef kIOSurfacePixelFormat;

IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties);
kern_return_t IOSurfaceLock(IOSurfaceRef buffer, IOSurfaceLockOptions options,
                            uint32_t *seed);
kern_return_t IOSurfaceUnlock(IOSurfaceRef buffer, IOSurfaceLockOptions options,
                              uint32_t *seed);
void *IOSurfaceGetBaseAddress(IOSurfaceRef buffer);
}

#endif // ANEC_TEST_ANE_MAC_IOSURFACEREF_H
