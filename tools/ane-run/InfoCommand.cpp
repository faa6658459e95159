//===- InfoCommand.cpp - ane-run info PROGRAM -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "ProgramFlags.h"
#include "lib/Report/PackageReport.h"
#include "lib/Report/ProgramReport.h"
#include "lib/Support/Diags.h"
#include "llvm/Support/JSON.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Info : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool printPackage(Diagnostics &diags) const;
  bool printFunction(Diagnostics &diags);

  ProgramFlags program;
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
};
} // namespace

bool Info::printPackage(Diagnostics &diags) const {
  std::optional<ModelPackage> package =
      readPackage(program.program, diags, PackageCheck::Presence);
  if (!package)
    return false;
  if (!json) {
    printReport(*package, llvm::outs());
    return true;
  }
  std::string error;
  if (printManifest(*package, llvm::outs(), error))
    return true;
  diags.reportFile(program.program, diag::CannotWrite, error);
  return false;
}

bool Info::printFunction(Diagnostics &diags) {
  program.looksAtNoElements = true;
  std::optional<LoadedProgram> loaded =
      program.load({}, /*onlyToLook=*/true, diags);
  if (!loaded)
    return false;
  if (!json) {
    printReport(*loaded->function, loaded->module->version, llvm::outs());
    printDescription(loaded->description, llvm::outs());
    return true;
  }
  llvm::json::OStream stream(llvm::outs(), 2);
  printReport(*loaded->function, loaded->module->version, stream,
              &loaded->description);
  llvm::outs() << '\n';
  return true;
}

ExitCode Info::run(const Invocation &call) {
  if (program.program.empty())
    return call.usageError("no program; see ane-run --help");
  if (std::string wrong = program.check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) {
    return program.isPackage() ? printPackage(diags) : printFunction(diags);
  });
}

constinit const CommandDef commands::Info = {
    .name = "info",
    .group = commands::programs,
    .summary = "Print a program's signature and cost",
    .synopsis = "PROGRAM.mil|.onnx|.pt2|.mlpackage|.mlmodel|.mlmodelc|.tdsl|."
                "ir|.anepkg",
    .examples = R"(  ane-run info out.mil
  ane-run info out.mil --json
  ane-run info model.mlpackage
  ane-run info model.anepkg
)",
    .make = makeCommand<::Info>,
};
