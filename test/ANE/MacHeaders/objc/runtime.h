//===- runtime.h - what the ane backend may use of it ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations of Apple's Objective-C runtime, as its public documentation has
/// them: only what the backend calls.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_RUNTIME_H
#define ANEC_TEST_ANE_RUNTIME_H

#include <Foundation/Foundation.h>

typedef struct objc_method *Method;

extern "C" {
Method class_getInstanceMethod(Class cls, SEL name);
Method class_getClassMethod(Class cls, SEL name);
const char *method_getTypeEncoding(Method m);
}

#endif // ANEC_TEST_ANE_RUNTIME_H
