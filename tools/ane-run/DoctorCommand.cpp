//===- DoctorCommand.cpp - ane-run doctor ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "CommandTable.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Doctor : public Command {
public:
  ExitCode run(const Invocation &call) override {
    machine.require(
        "doctor", [](const BackendRow &row) { return row.inspect != nullptr; });
    if (std::string wrong = machine.check(); !wrong.empty())
      return call.usageError(wrong);
    BackendChoice choice = machine.choice();
    return runReporting([&](Diagnostics &diags) {
      return choice.row->inspect(choice.settings, json, llvm::outs(), diags);
    });
  }

private:
  MachineFlags machine;
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
};
} // namespace

constinit const CommandDef commands::Doctor = {
    .name = "doctor",
    .group = commands::machines,
    .summary = "Print which parts of the Neural Engine are available",
    .examples = R"(  ane-run doctor
  ane-run doctor --path=direct --json
)",
    .make = makeCommand<::Doctor>,
};
