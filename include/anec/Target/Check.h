//===- Check.h - the rules that a program breaks ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_CHECK_H
#define ANEC_TARGET_CHECK_H

#include "anec/Target/Rule.h"
#include <vector>

namespace anec {

/// What the user knows better: rules that do not count, and rules to break
/// which is an error whatever their impact.
struct Assumptions {
  std::vector<const Rule *> allowed, denied;
  /// What the program is to run on; nothing for any macOS.
  std::optional<OSVersion> macOS;

  /// `rule` does not count: it is allowed to break it, or the rule does not
  /// hold on that macOS.
  bool allows(const Rule &rule) const;
  /// Whether breaking `rule` counts as an error.
  bool isError(const Rule &rule) const;
};

/// Reads `RULE=allow` or `RULE=deny`; reports what is neither.
[[nodiscard]] bool parseAssumption(llvm::StringRef text,
                                   Assumptions &assumptions,
                                   Diagnostics &diags);

/// A place where a program breaks a rule.
struct Finding {
  const Rule *rule;
  SourceRange range;
  std::string what;
};

/// Checks the text, and the module read from it when there is one (the rules
/// about text judge also programs that cannot be read). In the order of the
/// text.
std::vector<Finding> checkProgram(const MILOutline *text, const Module *module,
                                  const Target &target,
                                  const Assumptions &assumptions = {});

/// The rules about ops and functions alone.
void checkFunction(const Function &function, const Target &target,
                   const Assumptions &assumptions,
                   std::vector<Finding> &findings);

/// Reports a finding as a diagnostic of the rule's id, with the rule, its
/// source and what to do as notes.
void reportFinding(const Finding &finding, const Assumptions &assumptions,
                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_TARGET_CHECK_H
