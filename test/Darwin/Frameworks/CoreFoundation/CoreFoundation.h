//===- CoreFoundation.h - what anec uses of Core Foundation ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations after developer.apple.com/documentation/corefoundation/NAME,
/// where NAME is in the comment of each. Those of the bridge to Objective-C are
/// in clang.llvm.org/docs/AutomaticReferenceCounting.html.
///
//===----------------------------------------------------------------------===//

#pragma once
#include <os/availability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CF_BRIDGED_TYPE(T) __attribute__((objc_bridge(T)))
#define CF_RETURNS_RETAINED __attribute__((cf_returns_retained))

#ifdef __cplusplus
extern "C" {
#endif

typedef const void *CFTypeRef; // cftyperef
typedef const struct CF_BRIDGED_TYPE(NSString)
    __CFString *CFStringRef; // cfstring
typedef const struct CF_BRIDGED_TYPE(NSDictionary)
    __CFDictionary *CFDictionaryRef; // cfdictionary

// cfrelease(_:)
void CFRelease(CFTypeRef cf) API_AVAILABLE(macos(10.0));

#ifdef __cplusplus
}
#endif
