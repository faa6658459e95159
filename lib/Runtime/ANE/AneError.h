//===- AneError.h - what the engine's errors mean ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_ANEERROR_H
#define ANEC_LIB_RUNTIME_ANE_ANEERROR_H

#include "anec/Support/Diagnostics.h"

namespace anec::ane {

/// The calls that can fail, as messages name them.
enum class Stage : uint8_t { Compile, Load, Evaluate, Unload };

/// An error of the framework's, in words; `raw` is never empty.
struct AneError {
  enum Meaning : uint8_t {
    InvalidProgram,  ///< the text, or a weight file that it names
    Refused,         ///< legal text that the compiler gives no reason against
    SurfaceSize,     ///< status 0x1d
    TooManyPrograms, ///< status 0x50004
    MemoryWindow,    ///< status 0x20004
    Busy,            ///< status 0x5: passes
    Cancelled,       ///< the engine went to sleep: passes
    Interrupted,     ///< the system's daemon began anew: passes
    NotAllowed,      ///< needs an entitlement
    NotTakenForMil,  ///< the compiler looked for a Core ML network
    Unknown,
  } meaning = Unknown;
  std::string raw;
  /// Where in the text, from 1; 0 when the framework does not say.
  unsigned line = 0, column = 0;

  bool passes() const {
    return meaning == Busy || meaning == Cancelled || meaning == Interrupted;
  }
};

/// What `raw`, the text of an error and of those below it, means.
AneError decode(Stage stage, llvm::StringRef raw);

/// Says what happened and what to do. `text` is the program; the place that the
/// error names is shown in it.
void report(Stage stage, const AneError &error, llvm::StringRef text,
            Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_ANEERROR_H
