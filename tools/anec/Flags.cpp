//===- Flags.cpp - what the commands of anec share ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "../ExitCode.h"
#include "ProbedTarget.h"

using namespace anec;
namespace cl = llvm::cl;

cl::OptionCategory &anec::anecCategory() {
  static cl::OptionCategory category("anec options");
  return category;
}

TargetFlags::TargetFlags(cl::SubCommand &command)
    : name("target", cl::value_desc("NAME|FILE.json"), cl::init("generic"),
           cl::desc("The chip to compile for; --list-targets prints them. Or "
                    "what ane-run probe saw of a machine"),
           cl::sub(command), cl::cat(anecCategory())),
      assumed("assume", cl::value_desc("RULE=allow|deny"), cl::CommaSeparated,
              cl::desc("Switch a rule off, or make breaking it an error"),
              cl::sub(command), cl::cat(anecCategory())),
      macOS("os", cl::value_desc("15.6"),
            cl::desc("The macOS to compile for (default: any): rules that do "
                     "not hold there are off"),
            cl::sub(command), cl::cat(anecCategory())) {}

/// Takes the target and the assumptions from what a probe wrote.
bool TargetFlags::takeProbed() {
  Diagnostics diags;
  std::optional<ProbedTarget> probed = readProbedTarget(name, macOS, diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (!probed)
    return false;
  name = probed->target;
  for (const std::string &assumption : probed->assumptions) {
    // What is given on the command line counts more.
    llvm::StringRef rule = llvm::StringRef(assumption).split('=').first;
    if (llvm::none_of(assumed, [&](llvm::StringRef given) {
          return given.split('=').first == rule;
        }))
      assumed.push_back(assumption);
  }
  return true;
}

const Target *TargetFlags::find(int &code) {
  if (llvm::StringRef(name).ends_with(".json") && !takeProbed()) {
    code = InputError;
    return nullptr;
  }
  const Target *target = findTarget(name);
  if (!target)
    code = usageError("anec", "there is no target `" + name +
                                  "`; see anec --list-targets");
  return target;
}

bool TargetFlags::readAssumptions(Assumptions &assumptions,
                                  Diagnostics &diags) const {
  if (!macOS.empty() && !(assumptions.macOS = OSVersion::parse(macOS))) {
    diags.report({}, diag::OSForm, macOS);
    return false;
  }
  return llvm::all_of(assumed, [&](const std::string &text) {
    return parseAssumption(text, assumptions, diags);
  });
}
