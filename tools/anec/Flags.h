//===- Flags.h - what the commands of anec share ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_FLAGS_H
#define ANEC_TOOLS_ANEC_FLAGS_H

#include "anec/Target/Check.h"
#include "anec/Target/Target.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// The flags that `--help` shows. A function, because files whose flags are in
/// it may be initialised in any order.
llvm::cl::OptionCategory &anecCategory();

/// The chip that a command is for, and what is known of it.
class TargetFlags {
public:
  explicit TargetFlags(llvm::cl::SubCommand &command);

  /// The chip; what a probe saw of a machine is among the assumptions from then
  /// on. Null, with the reason printed and the exit code in `code`, when there
  /// is none.
  const Target *find(int &code);
  /// False, with the reason reported, when an assumption is none.
  bool readAssumptions(Assumptions &assumptions, Diagnostics &diags) const;
  /// Whether it was asked for.
  bool chosen() const { return name.getNumOccurrences() != 0; }

private:
  bool takeProbed();

  llvm::cl::opt<std::string> name;
  llvm::cl::list<std::string> assumed;
  llvm::cl::opt<std::string> macOS;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_FLAGS_H
