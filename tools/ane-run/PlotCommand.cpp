//===- PlotCommand.cpp - ane-run plot LOG ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "lib/Support/Endings.h"
#include "lib/Train/LossPlot.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Plot : public Command {
public:
  ExitCode run(const Invocation &call) override {
    if (logs.empty())
      return call.usageError("no log; see ane-run plot --help");
    if (drawing.empty() && logs.size() > 1)
      return call.usageError(
          "several runs are drawn to a file; use -o FILE.svg");
    if (std::string wrong = wrongEnding(drawing, {".svg"});
        !drawing.empty() && !wrong.empty())
      return call.usageError("-o: " + wrong);
    return runReporting([&](Diagnostics &diags) {
      std::vector<NamedHistory> runs;
      for (const std::string &log : logs) {
        std::optional<LossHistory> history = readTrainLog(log, diags);
        if (!history)
          return false;
        runs.push_back({nameOf(log), std::move(*history)});
      }
      if (drawing.empty()) {
        printLosses(runs.front().history, llvm::outs());
        return true;
      }
      return writeLossPlot(runs, drawing, diags);
    });
  }

private:
  /// A log called train.jsonl has the name of its folder.
  static std::string nameOf(llvm::StringRef log) {
    llvm::StringRef folder = llvm::sys::path::parent_path(log);
    bool isUsual = llvm::sys::path::filename(log) == "train.jsonl";
    std::string name = (isUsual && !folder.empty() ? folder : log).str();
    // As much as there is room for beside the drawing.
    constexpr size_t most = 34;
    return name.size() <= most ? name : "..." + name.substr(name.size() - most);
  }

  cl::list<std::string> logs{cl::Positional};
  cl::opt<std::string> drawing{
      "o", cl::value_desc("FILE.svg"),
      cl::desc("The file to write the plot to (default: a "
               "run alone is drawn as text)")};
};
} // namespace

constinit const CommandDef commands::Plot = {
    .name = "plot",
    .group = commands::models,
    .summary = "Plot the losses of a train.jsonl, or compare those of several",
    .synopsis = "train.jsonl...",
    .examples = R"(  ane-run plot run/train.jsonl
  ane-run plot run/train.jsonl -o loss.svg
  ane-run plot a/train.jsonl b/train.jsonl -o compared.svg
)",
    .make = makeCommand<::Plot>,
};
