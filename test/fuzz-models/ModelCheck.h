//===- ModelCheck.h - compile, run and compare one model --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_MODELCHECK_H
#define ANEC_TEST_FUZZ_MODELS_MODELCHECK_H

#include "Configuration.h"

namespace anec::fuzz {

struct Outcome {
  enum Status : char {
    Compared,
    IllConditioned, ///< small changes move its gradients as far as an error
    Limit,          ///< the chip has a limit that the model breaks
    Failed
  };
  Status status = Failed;
  /// What went wrong, the same for the same fault: `compile: pass-broke-ir`.
  std::string kind;
  std::string details;
  unsigned gradients = 0, skipped = 0; ///< that were compared, and were not

  /// As bytes that another process can read.
  std::string str() const;
  static std::optional<Outcome> parse(llvm::StringRef text);
};

/// Compiles `text`, runs it, and compares it with the reference. Weights and
/// inputs are drawn from `seed`.
Outcome checkModel(const std::string &text, const Configuration &configuration,
                   uint64_t seed);

/// `run` in a process of its own: a crash, or `seconds` without an end, is a
/// failure of its kind.
class ForkedCheck {
public:
  ForkedCheck(const std::string &text, const Configuration &configuration,
              uint64_t seed, unsigned seconds);
  /// The end of the process.
  Outcome wait();
  int descriptor() const { return pipeEnd; }

private:
  int process = -1, pipeEnd = -1;
  std::string folder; ///< for its files, a crash's too
};

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_MODELCHECK_H
