//===- CompileStagedCommand.cpp - compiles in a child of --isolate --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "CommandTable.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class CompileStaged : public Command {
public:
  ExitCode run(const Invocation &call) override {
    if (folder.empty())
      return call.usageError("compile-staged takes a folder");
    machine.require("compile-staged",
                    [](const BackendRow &row) { return row.help != nullptr; });
    if (std::string wrong = machine.check(); !wrong.empty())
      return call.usageError(wrong);
    BackendChoice choice = machine.choice();
    return runReporting([&](Diagnostics &diags) {
      return choice.row->help(folder, choice.settings, diags);
    });
  }

private:
  cl::opt<std::string> folder{cl::Positional};
  MachineFlags machine;
};
} // namespace

constinit const CommandDef commands::CompileStaged = {
    .name = "compile-staged",
    .summary = "Compile a staged program, in a child process of --isolate",
    .synopsis = "FOLDER",
    .isHidden = true,
    .make = makeCommand<::CompileStaged>,
};
