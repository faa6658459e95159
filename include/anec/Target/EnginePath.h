//===- EnginePath.h - ways from MIL to the engine ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_ENGINEPATH_H
#define ANEC_TARGET_ENGINEPATH_H

#include "anec/Support/Words.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <initializer_list>
#include <string>

namespace anec {

/// The frameworks that compile a program for the engine.
/// - `InMemory`: MIL text through `_ANEInMemoryModel`, as `ane-run` does
/// - `CoreML`: a Core ML package; ops can run elsewhere
/// - `E5`: MIL text through the E5 program library
ANEC_ENUM(EnginePath, (InMemory, "in-memory"), (CoreML, "coreml"), (E5, "e5"))

class PathSet {
public:
  constexpr PathSet(std::initializer_list<EnginePath> paths) {
    for (EnginePath path : paths)
      bits |= bit(path);
  }
  static constexpr PathSet all() {
    return {EnginePath::InMemory, EnginePath::CoreML, EnginePath::E5};
  }
  constexpr bool contains(EnginePath path) const { return bits & bit(path); }
  constexpr bool operator==(const PathSet &) const = default;
  /// `in-memory, e5`, or `all`.
  std::string str() const;

private:
  static constexpr uint8_t bit(EnginePath path) {
    return uint8_t(1u << unsigned(path));
  }

  uint8_t bits = 0;
};

} // namespace anec

#endif // ANEC_TARGET_ENGINEPATH_H
