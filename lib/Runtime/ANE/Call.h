//===- Call.h - one call of the framework -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_CALL_H
#define ANEC_LIB_RUNTIME_ANE_CALL_H

#include "AneError.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#import <Foundation/Foundation.h>
#include <optional>

namespace anec::ane {

/// Makes a call that may fail in any of the framework's ways: false, false with
/// an error, or an Objective-C exception. Nothing when it went well.
std::optional<AneError>
callFramework(Stage stage, llvm::function_ref<BOOL(NSError **)> call);

/// The same for calls that give an object, nil when they fail: what went wrong,
/// empty otherwise.
std::string guardFramework(llvm::function_ref<void()> call);

std::string toString(NSString *text);
NSString *toNSString(llvm::StringRef text);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_CALL_H
