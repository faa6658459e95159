//===- FrameworkError.h - what the engine's errors mean ---------------*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_FRAMEWORKERROR_H
#define ANEC_LIB_RUNTIME_APPLE_FRAMEWORKERROR_H

#include "anec/Target/KnownError.h"

namespace anec::apple {

/// The calls that can fail, as messages name them.
enum class Stage : uint8_t { Compile, Load, Evaluate, Unload };

/// A decoded error of the framework; `raw` is never empty.
struct FrameworkError {
  /// Null when it is not known, or says nothing.
  const KnownError *known = nullptr;
  std::string raw;
  /// The place in the text, counted from 1; 0 when the framework does not name
  /// it.
  unsigned line = 0, column = 0;

  bool is(const KnownError &error) const { return known == &error; }
  bool passes() const { return known && known->isTransient; }
};

/// Decodes `raw`, the text of an error and its underlying errors.
FrameworkError decode(Stage stage, llvm::StringRef raw);

/// Reports what happened and what to do. `text` is the program, in which the
/// place of the error is shown.
Diagnostics::Report report(Stage stage, const FrameworkError &error,
                           llvm::StringRef text, Diagnostics &diags);

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_FRAMEWORKERROR_H
