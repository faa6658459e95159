//===- PlacementCommand.cpp - ane-run placement PROGRAM -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "ProgramFlags.h"
#include "anec/Report/PlacementReport.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Placement : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ProgramFlags program;
  cl::opt<std::string> chip{
      "target", cl::value_desc("NAME"), cl::init("generic"),
      cl::desc("The chip (see anec --list-targets); the default has the rules "
               "of all chips")};
  cl::opt<std::string> macOS{
      "os", cl::value_desc("15.6"),
      cl::desc("The macOS version; rules that do not apply to it are left "
               "out")};
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
};
} // namespace

ExitCode Placement::run(const Invocation &call) {
  if (program.program.empty())
    return call.usageError("no program; see ane-run placement --help");
  if (std::string wrong = program.check(); !wrong.empty())
    return call.usageError(wrong);
  if (program.isPackage())
    return call.usageError("a package of anec does not run by Core ML; write "
                           "it as .mlpackage, or give one of its kernels");
  const Target *target = findTarget(chip);
  if (!target)
    return call.usageError("there is no target `" + chip +
                           "`; see anec --list-targets");
  std::optional<OSVersion> version;
  if (!macOS.empty() && !(version = OSVersion::parse(macOS)))
    return call.usageError("--os takes a version such as 15.6, not `" + macOS +
                           "`");
  return runReporting([&](Diagnostics &diags) {
    std::optional<LoadedProgram> loaded =
        program.load({}, /*onlyToLook=*/true, diags);
    if (!loaded)
      return false;
    const Function &function = *loaded->function;
    std::vector<PlacedOp> ops = predictPlacement(function, *target, version);
    if (!json) {
      printPlacement(function.name, ops, *target, llvm::outs());
      return true;
    }
    llvm::json::OStream stream(llvm::outs(), 2);
    printPlacement(function.name, ops, *target, stream);
    llvm::outs() << '\n';
    return true;
  });
}

constinit const CommandDef commands::Placement = {
    .name = "placement",
    .group = commands::programs,
    .summary = "Predict where Core ML runs each op",
    .synopsis = "PROGRAM.mlpackage|.mlmodel|.mil|.mlmodelc|.onnx",
    .details = "By the rules of the chip about what the engine does not take; "
               "Core ML is not\nasked. It may keep more ops off the engine "
               "than the rules do.\n",
    .examples = R"(  ane-run placement model.mlpackage --target=m4
  ane-run placement model.mlpackage --target=m1 --function=decode --json
)",
    .make = makeCommand<::Placement>,
};
