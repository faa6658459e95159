//===- ChipsPage.cpp - predicted and measured, by chip --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrialModule.h"
#include "anec/MIL/Reader.h"
#include "anec/Target/Predict.h"
#include "lib/Ops/Ops.h"
#include "lib/Probe/Measured.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;

static constexpr llvm::StringLiteral head = R"(# Chips

What `ane-run doctor --run` found on the chips of users, beside what the cost model
predicts ([targets](targets.md)). A row of a kernel is *predicted* until somebody sends
a report of that chip, and *measured* from then on; a predicted row says nothing about
whether the kernel is right. `anec --target=CHIP` takes what is measured before what is
predicted: the time that a run takes at least, and the [hazards](../use/ane.md#what-works-here)
that were seen.

To turn rows of your Mac into measured ones takes two minutes:

```sh
build/bin/ane-run doctor --run -o here.json
```

and an issue of the form *Two minutes on your Mac* with that file.
[data/judge.py](../../data/judge.py) judges it, and writes `data/measured/`.

)";

static std::unique_ptr<Module> readText(llvm::StringRef text,
                                        Diagnostics &diags) {
  MILReadOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  llvm::StringRef kept = diags.addBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, "trial.mil", false));
  return readMIL(kept, "", opTable(), diags, options);
}

/// The predicted milliseconds of a run; nothing for trials that do not run one
/// program.
static std::optional<double> predictTrial(const Trial &trial,
                                          const Target &target) {
  if (trial.kind == TrialKind::Training)
    return std::nullopt;
  const TrialProgram &program = programOf(trial);
  Diagnostics diags;
  std::unique_ptr<Module> module = program.isSource()
                                       ? compileTrial(program, target, diags)
                                       : readText(program.text, diags);
  if (!module || module->functions.empty())
    return std::nullopt;
  return predict(*module->functions.front(), target).total / 1000;
}

static void printRow(llvm::StringRef macOS, llvm::StringRef path,
                     const Trial &trial, llvm::StringRef verdict,
                     std::optional<double> milliseconds, llvm::StringRef from,
                     llvm::raw_ostream &out) {
  out << "| " << macOS << " | " << path << " | " << trial.hazard << " | "
      << trial.name << " | " << verdict << " | ";
  if (milliseconds)
    out << llvm::formatv("{0:F3}", *milliseconds);
  else
    out << "-";
  out << " | " << from << " |\n";
}

/// The rows of a kernel: those that were measured, or the one that is
/// predicted.
static void printTrial(const Trial &trial, const Target &target,
                       llvm::ArrayRef<MeasuredMachine> machines,
                       llvm::raw_ostream &out) {
  bool isMeasured = false;
  for (const MeasuredMachine &machine : machines) {
    if (machine.target != target.name)
      continue;
    for (const MeasuredKernel &kernel : machine.kernels) {
      if (kernel.kernel != trial.name)
        continue;
      isMeasured = true;
      printRow(machine.macOS, kernel.path, trial, kernel.verdict,
               kernel.milliseconds > 0 ? std::optional(kernel.milliseconds)
                                       : std::nullopt,
               "measured, " + machine.chip, out);
    }
  }
  if (!isMeasured)
    printRow("-", "-", trial, "-", predictTrial(trial, target), "predicted",
             out);
}

bool anec::printChipsPage(llvm::StringRef folder, llvm::raw_ostream &out,
                          Diagnostics &diags) {
  std::optional<std::vector<MeasuredMachine>> machines =
      readMeasured(folder, diags);
  if (!machines)
    return false;
  out << "<!-- Made by `anec debug --dump-docs=chips`; do not edit. -->\n\n"
      << head;
  out << (machines->empty()
              ? "**Nothing is measured so far**: every row is predicted.\n"
              : llvm::formatv("Reports of {0} machines were taken over.\n",
                              machines->size())
                    .str());
  for (const Target &target : allTargets()) {
    if (&target == &genericTarget())
      continue;
    out << llvm::formatv("\n## {0}\n\n{1}. Predictions are within a factor of "
                         "{2:F1} of published times.\n\n",
                         target.name, target.summary, target.cost.errorFactor);
    out << "| macOS | path | hazard | kernel | verdict | ms for a run | from "
           "|\n|---|---|---|---|---|---|---|\n";
    for (const Trial &trial : allTrials())
      printTrial(trial, target, *machines, out);
  }
  return true;
}
