//===- Call.mm - one call of the framework --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file with exceptions enabled; those of the framework must not leave
/// it.
///
//===----------------------------------------------------------------------===//

#include "Call.h"

using namespace anec;
using namespace anec::apple;

std::string apple::toString(NSString *text) {
  const char *bytes = [text UTF8String];
  return bytes ? bytes : "";
}

NSString *apple::toNSString(llvm::StringRef text) {
  return [[[NSString alloc] initWithBytes:text.data()
                                   length:text.size()
                                 encoding:NSUTF8StringEncoding] autorelease];
}

NSError *apple::errorOf(llvm::StringRef domain, int64_t code,
                        llvm::StringRef text) {
  return
      [NSError errorWithDomain:toNSString(domain)
                          code:NSInteger(code)
                      userInfo:@{NSLocalizedDescriptionKey : toNSString(text)}];
}

BOOL apple::failWith(const std::string &text, NSError **error) {
  if (!*error)
    *error = errorOf("anec", 0, text);
  return NO;
}

/// The text of an error and its underlying errors.
static std::string textOf(NSError *error) {
  std::string text;
  // The depth is limited, in case an error is its own underlying error.
  for (int depth = 0; error && depth < 8; ++depth) {
    text += text.empty() ? "" : "; because of ";
    text += toString([error domain]) + " " + std::to_string([error code]) +
            ": " + toString([error localizedDescription]);
    id below = [[error userInfo] objectForKey:NSUnderlyingErrorKey];
    error = [below isKindOfClass:[NSError class]] ? (NSError *)below : nil;
  }
  return text;
}

static std::string textOf(NSException *exception) {
  return toString([exception name]) +
         " was raised: " + toString([exception reason]);
}

/// Any object can be thrown.
static constexpr char thrownText[] =
    "an object that is not an exception was thrown";

std::optional<FrameworkError>
apple::callFramework(Stage stage, llvm::function_ref<BOOL(NSError **)> call) {
  @try {
    NSError *error = nil;
    if (call(&error))
      return std::nullopt;
    return decode(stage, textOf(error));
  } @catch (NSException *exception) {
    return decode(stage, textOf(exception));
  } @catch (id thrown) {
    return decode(stage, thrownText);
  }
}

std::string apple::guardFramework(llvm::function_ref<void()> call) {
  @try {
    call();
    return "";
  } @catch (NSException *exception) {
    return textOf(exception);
  } @catch (id thrown) {
    return thrownText;
  }
}
