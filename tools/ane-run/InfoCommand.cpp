//===- InfoCommand.cpp - ane-run info PROGRAM -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "ProgramFlags.h"
#include "anec/Package/ModelPackage.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Info : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ProgramFlags program;
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
};
} // namespace

ExitCode Info::run(const Invocation &call) {
  if (program.program.empty())
    return call.usageError("no program; see ane-run --help");
  if (std::string wrong = program.check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) {
    if (isPackagePath(program.program))
      return printPackageInfo(program.program, json, llvm::outs(), diags);
    std::optional<LoadedProgram> loaded =
        loadProgram(program.program, program.function, program.wantedShapes(),
                    /*onlyToLook=*/true, diags);
    if (loaded)
      printInfo(*loaded, json, llvm::outs());
    return loaded.has_value();
  });
}

constinit const CommandDef commands::Info = {
    .name = "info",
    .group = commands::programs,
    .summary = "Print a program's signature and cost",
    .synopsis = "PROGRAM.mil|.mlmodelc|.anepkg",
    .examples = R"(  ane-run info out.mil
  ane-run info out.mil --json
  ane-run info model.anepkg
)",
    .make = makeCommand<::Info>,
};
