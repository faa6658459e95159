//===- PartFlag.h - --part=N ------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_PARTFLAG_H
#define ANEC_TOOLS_PARTFLAG_H

#include "NumberFlag.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

namespace anec {

struct PartFlag : WholeFlag<uint64_t> {
  explicit PartFlag(llvm::StringRef description =
                        "Of a pipeline of Core ML models, only the program of "
                        "this part, from 0 (default: all, part after part)")
      : WholeValues("part", llvm::cl::value_desc("N"),
                    llvm::cl::desc(description)) {}

  std::optional<uint64_t> value() const {
    return getNumOccurrences() ? std::optional(uint64_t(*this)) : std::nullopt;
  }
};

} // namespace anec

#endif // ANEC_TOOLS_PARTFLAG_H
