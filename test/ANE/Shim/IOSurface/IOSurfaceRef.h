//===- IOSurfaceRef.h - what the ane backend calls of IOSurface -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Stands in for the header of macOS where there is none: surfaces are plain
/// memory, which is counted.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_IOSURFACEREF_H
#define ANEC_TEST_ANE_IOSURFACEREF_H

#include <cstddef>
#include <cstdint>

extern "C" {

typedef const void *CFTypeRef;
typedef const struct AnecShimDictionary *CFDictionaryRef;
typedef const struct AnecShimString *CFStringRef;
typedef struct AnecShimSurface *IOSurfaceRef;
typedef int kern_return_t;
typedef uint32_t IOSurfaceLockOptions;
enum { kIOSurfaceLockReadOnly = 1 };

extern const CFStringRef kIOSurfaceWidth;
extern const CFStringRef kIOSurfaceHeight;
extern const CFStringRef kIOSurfaceBytesPerElement;
extern const CFStringRef kIOSurfaceBytesPerRow;
extern const CFStringRef kIOSurfaceAllocSize;
extern const CFStringRef kIOSurfacePixelFormat;

IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties);
kern_return_t IOSurfaceLock(IOSurfaceRef surface, IOSurfaceLockOptions options,
                            uint32_t *seed);
kern_return_t IOSurfaceUnlock(IOSurfaceRef surface,
                              IOSurfaceLockOptions options, uint32_t *seed);
void *IOSurfaceGetBaseAddress(IOSurfaceRef surface);
size_t IOSurfaceGetAllocSize(IOSurfaceRef surface);
CFTypeRef CFRetain(CFTypeRef object);
void CFRelease(CFTypeRef object);
}

#endif // ANEC_TEST_ANE_IOSURFACEREF_H
