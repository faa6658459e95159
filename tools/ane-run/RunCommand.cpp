//===- RunCommand.cpp - ane-run PROGRAM -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "ProgramFlags.h"
#include "ReferenceFlags.h"
#include "anec/Formats/Source.h"
#include "anec/Package/ModelPackage.h"
#include "lib/Runtime/EntryRun.h"
#include "lib/Runtime/ProgramRun.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Run : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool runFunction(Diagnostics &diags);
  bool runEntry(Diagnostics &diags);
  std::optional<uint64_t> maskSeed() const {
    return seed.getNumOccurrences() ? std::optional(seed.getValue())
                                    : std::nullopt;
  }

  ProgramFlags program;
  InputFlags given;
  WeightFlags weights;
  BackendFlags backend;
  cl::opt<std::string> outputDir{
      "output-dir", cl::value_desc("FOLDER"),
      cl::desc("Write each output, and the final contents of each state, to "
               "FOLDER/NAME.npy")};
  std::string checkCompare() const;

  cl::opt<bool> compare{
      "compare",
      cl::desc(
          "Also evaluate in double precision, print the error of each "
          "output, and fail when one is too large; see docs/use/numerics.md")};
  NumberFlag atol{
      "atol", cl::value_desc("A"),
      cl::desc("With --compare, an element may be off by A + R * |reference| "
               "(default: 0 with --rtol)")};
  NumberFlag rtol{"rtol", cl::value_desc("R"),
                  cl::desc("The same (default: 0 with --atol)")};
  cl::opt<bool> equalNaN{
      "equal-nan",
      cl::desc("With --compare, NaN is right where the reference has NaN")};
  ReferenceFlags reference;
  cl::opt<bool> json{"json", cl::desc("With --compare, print JSON")};
  cl::opt<bool> reportHazards{
      "report-hazards",
      cl::desc("With an emulated engine, list the ops whose partial sums, "
               "products or results exceed its range")};
  WholeFlag<uint64_t> seed{
      "seed", cl::value_desc("N"),
      cl::desc("Draw the random masks of a training step that --input does not "
               "give, as the first run of a training does (default: their "
               "means, as without training)")};
  cl::opt<std::string> gradients{
      "gradients", cl::value_desc("FOLDER|FILE.safetensors"),
      cl::desc("Also run the backward of a package, and write the gradient of "
               "each weight")};
};
} // namespace

bool Run::runFunction(Diagnostics &diags) {
  program.fixesReference = reference.isGiven();
  std::optional<LoadedProgram> loaded =
      program.load(given.inputs, /*onlyToLook=*/false, diags);
  std::unique_ptr<Backend> opened =
      loaded ? backend.choice().open(diags) : nullptr;
  if (!opened)
    return false;
  std::optional<LoadedReference> source;
  if (reference.isGiven()) {
    source = reference.load(*loaded, program, given.inputs,
                            weights.options(backend.executor()), diags);
    if (!source)
      return false;
  }
  RunOptions options;
  options.load = backend.load();
  options.inputs = given.inputs;
  options.states = given.states;
  options.outputDir = outputDir;
  options.description = loaded->functionDescription();
  if (compare) {
    options.compare.emplace();
    if (atol.getNumOccurrences())
      options.compare->absolute = atol;
    if (rtol.getNumOccurrences())
      options.compare->relative = rtol;
    options.compare->equalNaN = equalNaN;
    if (source)
      options.reference = source->source;
  }
  options.json = json;
  options.reportHazards = reportHazards;
  options.load.milVersion = loaded->module->version;
  return runOnce(*loaded->function, *opened, options, llvm::outs(), diags);
}

/// The error in --compare and its companions; empty when they are valid.
std::string Run::checkCompare() const {
  const std::pair<llvm::StringRef, const NumberFlag *> limits[] = {
      {"atol", &atol}, {"rtol", &rtol}};
  for (const auto &[name, limit] : limits)
    if (limit->getNumOccurrences() &&
        !(*limit >= 0 && *limit < std::numeric_limits<double>::infinity()))
      return ("--" + name + " takes a number, 0 or more").str();
  const cl::Option *companions[] = {&atol, &rtol, &equalNaN, &json,
                                    &reference.file};
  for (const cl::Option *flag : companions)
    if (flag->getNumOccurrences() && !compare)
      return "--" + flag->ArgStr.str() + " is for --compare";
  if (compare && program.isPackage())
    return "--compare is for programs; of a package it takes one kernel, as " +
           program.program + "/kernels/NAME.mil";
  if (std::string wrong = reference.check(); !wrong.empty())
    return wrong;
  if (json && reportHazards)
    return "--json has no hazards; leave out --report-hazards";
  return "";
}

bool Run::runEntry(Diagnostics &diags) {
  std::optional<ModelPackage> package = readPackage(program.program, diags);
  std::unique_ptr<Backend> opened =
      package ? backend.choice().open(diags) : nullptr;
  return opened &&
         runEntryOnce(std::move(*package), *opened,
                      {backend.load(), weights.options(backend.executor()),
                       program.function, given.inputs, maskSeed()},
                      outputDir, gradients, llvm::outs(), diags);
}

ExitCode Run::run(const Invocation &call) {
  if (program.program.empty())
    return call.usageError("no program; see ane-run --help");
  for (const std::string &wrong :
       {given.check(), program.check(), backend.check(), checkCompare()})
    if (!wrong.empty())
      return call.usageError(wrong);
  if (reportHazards && !isEmulated(backend.numerics))
    return call.usageError(
        "--report-hazards takes --numerics=m1, m2, m3 or m4");
  if (maskSeed() && !program.isPackage())
    return call.usageError("--seed is for packages");
  // They are those of a reference, if there is one.
  if (weights.weights.getNumOccurrences() && !program.isPackage() &&
      !reference.isGiven() &&
      sourceFormat(program.program).stage == SourceStage::MIL)
    return call.usageError(
        "--weights is for packages of models: `anec PROGRAM --weights=FILE -o "
        "NEW.mil` gives a program that others wrote other weights");
  return runReporting([&](Diagnostics &diags) {
    return program.isPackage() ? runEntry(diags) : runFunction(diags);
  });
}

constinit const CommandDef commands::Run = {
    .summary = "Run a program or an entry of a package once",
    .synopsis = "PROGRAM.mil|.onnx|.pt2|.mlpackage|.mlmodel|.mlmodelc|.tdsl|."
                "ir|.anepkg",
    .exits = "0 success, 1 invalid input or wrong output, 2 wrong usage, 3 "
             "system failure",
    .usual = "input output-dir weights init shape compare "
             "reference rtol atol numerics backend",
    .examples = R"(  ane-run out.mil --input x=x.npy --output-dir results
  ane-run out.mil --input x=random:1 --compare
  ane-run out.mil --input x=x.npy --compare --atol=1e-3 --rtol=1e-2 --json   a gate
  ane-run model.mlpackage --input x=x.npy --compare --reference=model.onnx   of both
  ane-run out.mil --input x=x.npy --numerics=m4 --report-hazards
  ane-run out.mil --input tokens=bytes:README.md --numerics=fp32
  ane-run out.mil --input x=x.npy --backend=ane --output-dir results
  ane-run decode.mil --input x=x.npy --state cache=out/cache.npy --output-dir out
  ane-run model.mlpackage --function=prefill --input x=x.npy --output-dir results
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1 --gradients g.safetensors
)",
    .make = makeCommand<::Run>,
};
