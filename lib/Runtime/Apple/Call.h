//===- Call.h - one call of the framework -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_CALL_H
#define ANEC_LIB_RUNTIME_APPLE_CALL_H

#include "FrameworkError.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#import <Foundation/Foundation.h>
#include <optional>

namespace anec::apple {

/// Makes a call that can fail in all ways of the framework: by returning NO,
/// with or without an error, or by an Objective-C exception. Returns nothing on
/// success.
std::optional<FrameworkError>
callFramework(Stage stage, llvm::function_ref<BOOL(NSError **)> call);

/// The same for calls that return an object, nil on failure. Returns the text
/// of an exception; empty without one.
std::string guardFramework(llvm::function_ref<void()> call);

/// An error of a path that reports failures in another way.
NSError *errorOf(llvm::StringRef domain, int64_t code, llvm::StringRef text);
/// Sets `error` to `text` if it is not set. Always NO.
BOOL failWith(const std::string &text, NSError **error);

std::string toString(NSString *text);
NSString *toNSString(llvm::StringRef text);

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_CALL_H
