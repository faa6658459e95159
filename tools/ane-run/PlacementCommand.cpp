//===- PlacementCommand.cpp - ane-run placement PROGRAM -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../FlagErrors.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "ProgramFlags.h"
#include "lib/API/PackageForm.h"
#include "lib/Report/PlacementReport.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace cl = llvm::cl;

/// Whether this program has a backend that answers.
static bool canBeAsked() {
  return llvm::any_of(toolBackends().rows(), [](const BackendRow &row) {
    return row.place != nullptr;
  });
}

namespace {
class Placement : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool isAsked() const;
  std::string checkMachine();
  [[nodiscard]] bool ask(const Function &function, Diagnostics &diags);
  template <typename Ops, typename Source>
  void print(llvm::StringRef function, const Ops &ops, const Source &source);

  ProgramFlags program;
  MachineFlags machine;
  cl::opt<bool> isPredicted{"predict",
                            cl::desc("Predict, even if Core ML can be asked")};
  cl::opt<std::string> chip{
      "target", cl::value_desc("NAME"), cl::init("generic"),
      cl::desc("Predict for this chip (see anec --list-targets); the default "
               "has the rules of all chips")};
  cl::opt<std::string> macOS{
      "os", cl::value_desc("15.6"),
      cl::desc("Predict for this version of macOS; rules that do not apply to "
               "it are left out")};
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
  if (std::string wrong = checkMachine(); !wrong.empty())
    return call.usageError(wrong);
  const Target *target = findTarget(chip);
  if (!target)
    return call.usageError(noTarget(chip));
  std::optional<OSVersion> version;
  if (!macOS.empty() && !(version = OSVersion::parse(macOS)))
    return call.usageError("--os takes a version such as 15.6, not `" + macOS +
                           "`");
  return runReporting([&](Diagnostics &diags) {
    std::optional<LoadedProgram> loaded =
        program.load({}, /*onlyToLook=*/!isAsked(), diags);
    if (!loaded)
      return false;
    const Function &function = *loaded->function;
    if (isAsked())
      return ask(function, diags);
    // Of an ONNX or PyTorch model, Core ML gets the package.
    CompileOptions options;
    options.passes.assumptions.path = EnginePath::CoreML;
    Source source{&sourceFormat(program.program), program.program, ""};
    if (!takePackageForm(*loaded->module, source, options, diags))
      return false;
    print(function.name, predictPlacement(function, *target, version), *target);
    return true;
  });
}

/// Whether there is a system to ask, and it is not told not to.
bool Placement::isAsked() const {
  return !isPredicted && canBeAsked() && chip.getNumOccurrences() == 0 &&
         macOS.getNumOccurrences() == 0;
}

std::string Placement::checkMachine() {
  if (isAsked())
    machine.require("placement",
                    [](const BackendRow &row) { return row.place != nullptr; });
  return machine.check();
}

bool Placement::ask(const Function &function, Diagnostics &diags) {
  BackendChoice choice = machine.choice();
  std::optional<std::vector<AskedPlace>> places =
      choice.row->place({function, program.program}, choice.settings, diags);
  if (!places)
    return false;
  print(function.name, *places, describeMachine(*choice.row, choice.settings));
  return true;
}

template <typename Ops, typename Source>
void Placement::print(llvm::StringRef function, const Ops &ops,
                      const Source &source) {
  llvm::ArrayRef list(ops);
  if (!json)
    return printPlacement(function, list, source, llvm::outs());
  llvm::json::OStream stream(llvm::outs(), 2);
  printPlacement(function, list, source, stream);
  llvm::outs() << '\n';
}

constinit const CommandDef commands::Placement = {
    .name = "placement",
    .group = commands::programs,
    .summary = "Show where Core ML runs each op",
    .synopsis = "PROGRAM.mlpackage|.mlmodel|.mil|.mlmodelc|.onnx|.pt2",
    .details =
        "On macOS, Core ML is asked for its plan on this machine. Elsewhere, "
        "and with\n--target, --os or --predict, places are predicted by the "
        "rules of the chip about\nwhat the engine does not take; Core ML may "
        "keep more ops off the engine than the\nrules do.\n",
    .examples = R"(  ane-run placement model.mlpackage --target=m4
  ane-run placement model.mlpackage --target=m1 --function=decode --json
)",
    .make = makeCommand<::Placement>,
};
