//===- PlotCommand.cpp - ane-run plot LOG ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "anec/Train/LossPlot.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Plot : public Command {
public:
  ExitCode run(const Invocation &call) override {
    if (log.empty())
      return call.usageError("no log; see ane-run plot --help");
    if (drawing.empty())
      return call.usageError("no output file; use -o FILE.svg");
    return runReporting([&](Diagnostics &diags) {
      std::optional<LossHistory> history = readTrainLog(log, diags);
      return history && writeLossPlot(*history, drawing, diags);
    });
  }

private:
  cl::opt<std::string> log{cl::Positional};
  cl::opt<std::string> drawing{"o", cl::value_desc("FILE.svg"),
                               cl::desc("The file to write the plot to")};
};
} // namespace

constinit const CommandDef commands::Plot = {
    .name = "plot",
    .group = commands::models,
    .summary = "Plot the losses of a train.jsonl",
    .synopsis = "train.jsonl",
    .examples = "  ane-run plot run/train.jsonl -o loss.svg\n",
    .make = makeCommand<::Plot>,
};
