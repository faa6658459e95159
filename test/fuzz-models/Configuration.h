//===- Configuration.h - how a model is compiled and run --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_CONFIGURATION_H
#define ANEC_TEST_FUZZ_MODELS_CONFIGURATION_H

#include "anec/API/Compile.h"
#include "anec/Runtime/Backend.h"

namespace anec::fuzz {

struct Configuration {
  bool isBaked = false, isSeparate = false, fusesMost = false,
       isForwardOnly = false;
  /// Null when none is asked for.
  const Target *target = nullptr;
  /// Whether every fp16 of the program is fp32 instead: its constants are not
  /// rounded to fp16 then. No chip has that.
  bool isWide = false;
  Numerics numerics = Numerics::FP32;
  double lossScale = 1;

  /// The same for a seed.
  static Configuration random(uint64_t seed);
  /// One with each choice.
  static std::vector<Configuration> all();
  /// Those that differ in one choice less from the default.
  std::vector<Configuration> simpler() const;

  /// The program that is compiled.
  std::string textOf(llvm::StringRef text) const;
  /// `weights` are those that are baked.
  CompileOptions compileOptions(llvm::StringRef weights) const;
  std::vector<std::string> names() const;
  /// The flags of `anec` and `ane-run` that do the same.
  std::string compileFlags() const;
  std::string runFlags() const;
};

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_CONFIGURATION_H
