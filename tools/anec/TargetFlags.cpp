//===- TargetFlags.cpp - --target, --assume, --os and --for ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TargetFlags.h"
#include "../FlagErrors.h"
#include "anec/Formats/Source.h"
#include "lib/Probe/Measured.h"
#include "lib/Probe/ProbedTarget.h"
#include "lib/Target/OwnSystem.h"
#include <cstdlib>

using namespace anec;
namespace cl = llvm::cl;

FrameworkFlag::FrameworkFlag()
    : opt("for", cl::value_desc("in-memory|coreml|e5"),
          cl::desc("The framework that compiles the programs:"),
          cl::init(EnginePath::InMemory),
          cl::values(
              choiceOf(EnginePath::InMemory,
                       "_ANEInMemoryModel, as ane-run does (default)"),
              choiceOf(EnginePath::CoreML,
                       "Core ML, which runs elsewhere what the engine "
                       "does not take (default for Core ML's packages and "
                       "models)"),
              choiceOf(EnginePath::E5, "the E5 program library"))) {}

EnginePath FrameworkFlag::of(llvm::ArrayRef<std::string> programs) const {
  bool areOfCoreML =
      !programs.empty() && llvm::all_of(programs, [](llvm::StringRef path) {
        return sourceFormat(path).isOfCoreML;
      });
  return getNumOccurrences() == 0 && areOfCoreML ? EnginePath::CoreML
                                                 : getValue();
}

/// The version of macOS that `flag` asks for; empty for any.
static std::string macOSOf(const std::string &flag) {
  const char *given = std::getenv("ANEC_OS");
  std::string version = !flag.empty() ? flag : given ? given : ownMacOS();
  return version == "any" ? "" : version;
}

std::string anec::measuredFolder() {
  const char *folder = std::getenv("ANEC_MEASURED");
  return folder ? folder : "";
}

/// What was measured of a target takes the place of what is predicted.
static bool takeMeasured(ProbedTarget &target, llvm::StringRef macOS,
                         Diagnostics &diags) {
  const Target *known = findTarget(target.target);
  std::optional<std::vector<MeasuredMachine>> machines =
      readMeasured(measuredFolder(), diags);
  if (!known || !machines)
    return machines.has_value();
  Measurements found = measurementsOf(*machines, known->name, macOS);
  target.floor = found.floor;
  target.assumptions = std::move(found.assumptions);
  return true;
}

ExitCode TargetFlags::read(const Invocation &call,
                           PassManagerOptions &options) const {
  return readChip(chip.getValue(), call, options);
}

ExitCode TargetFlags::read(const Invocation &call, PassManagerOptions &options,
                           std::vector<const Target *> &targets) const {
  llvm::SmallVector<llvm::StringRef> chips;
  llvm::StringRef(chip).split(chips, ',');
  if (chips.size() > 1 && chip.getValue().find(".json") != std::string::npos)
    return call.usageError("the results of ane-run probe are a target of their "
                           "own; give other targets in other runs");
  PassManagerOptions first = options;
  for (llvm::StringRef name : chips) {
    PassManagerOptions own = first;
    if (ExitCode code = readChip(name, call, own); code != Done)
      return code;
    if (targets.empty())
      options = own;
    if (!llvm::is_contained(targets, own.target))
      targets.push_back(own.target);
  }
  return Done;
}

ExitCode TargetFlags::readChip(llvm::StringRef given, const Invocation &call,
                               PassManagerOptions &options) const {
  ProbedTarget target{given.str(), {}};
  std::string wanted = macOSOf(macOS);
  ExitCode code = runReporting([&](Diagnostics &diags) {
    if (!given.ends_with(".json"))
      return takeMeasured(target, wanted, diags);
    std::optional<ProbedTarget> probed = readProbedTarget(given, wanted, diags);
    if (probed)
      target = std::move(*probed);
    return probed.has_value();
  });
  if (code != Done)
    return code;
  options.target = findTarget(target.target);
  options.targetChosen = chip.getNumOccurrences() != 0;
  if (!options.target)
    return call.usageError(noTarget(target.target));
  if (target.floor)
    options.target =
        &measured.emplace_back(withFloor(*options.target, *target.floor));
  return runReporting([&](Diagnostics &diags) {
    if (!wanted.empty() &&
        !(options.assumptions.macOS = OSVersion::parse(wanted))) {
      diags.report({}, diag::OSForm, wanted);
      return false;
    }
    return llvm::all_of(
        assumptionsOf(target, llvm::ArrayRef<std::string>(assumed)),
        [&](const std::string &text) {
          return parseAssumption(text, options.assumptions, diags);
        });
  });
}
