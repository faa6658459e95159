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

/// A decoded error of the framework; `raw` is never empty.
struct AneError {
  enum Meaning : uint8_t {
    InvalidProgram,  ///< the text, or a weight file that it names
    Refused,         ///< legal text, refused without a reason
    SurfaceSize,     ///< status 0x1d
    TooManyPrograms, ///< status 0x50004
    MemoryWindow,    ///< status 0x20004
    Busy,            ///< status 0x5; transient
    Cancelled,       ///< the engine went to sleep; transient
    Interrupted,     ///< the system's daemon restarted; transient
    NotAllowed,      ///< needs an entitlement
    NotTakenForMil,  ///< the compiler looked for a Core ML network
    Unknown,
  } meaning = Unknown;
  std::string raw;
  /// The place in the text, counted from 1; 0 when the framework does not name
  /// it.
  unsigned line = 0, column = 0;

  bool passes() const {
    return meaning == Busy || meaning == Cancelled || meaning == Interrupted;
  }
};

/// Decodes `raw`, the text of an error and its underlying errors.
AneError decode(Stage stage, llvm::StringRef raw);

/// Reports what happened and what to do. `text` is the program, in which the
/// place of the error is shown.
void report(Stage stage, const AneError &error, llvm::StringRef text,
            Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_ANEERROR_H
