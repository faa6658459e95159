//===- Outlook.h - what a chip makes of programs ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_OUTLOOK_H
#define ANEC_TARGET_OUTLOOK_H

#include "anec/Target/Check.h"
#include "anec/Target/Predict.h"

namespace anec {

/// What a chip makes of the programs of a file, by its rules and anchors.
struct Outlook {
  std::string file;
  const Target *target;
  bool isRead = true; ///< else some program could not be read
  unsigned programs = 0;
  unsigned ops = 0; ///< those that compute
  /// Of `ops`, for Core ML: those that the engine does not take, and how many
  /// of them are light work that costs no move.
  unsigned leaving = 0, light = 0;
  /// The rules with errors, which the chip's compiler or Core ML refuses.
  std::vector<const Rule *> refusals;
  unsigned warnings =
      0; ///< findings that it could refuse, or compute less well
  struct Time {
    std::string name;
    double total, least, most; ///< microseconds, see Prediction
  };
  /// Of each program, or of each entry of a package.
  std::vector<Time> times;

  /// Adds the ops of `function`.
  void add(const Function &function, const Assumptions &assumptions);
  /// Adds the rules of `findings` that are errors on the target, and counts
  /// the warnings.
  void addFindings(llvm::ArrayRef<Finding> findings,
                   const Assumptions &assumptions);
  /// Adds the time of `run` under `name`; nothing if nothing runs.
  void addTime(llvm::StringRef name, const Prediction &cost);
};

} // namespace anec

#endif // ANEC_TARGET_OUTLOOK_H
