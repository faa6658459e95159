//===- RunCommand.cpp - ane-run PROGRAM -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "ProgramFlags.h"
#include "anec/Package/ModelPackage.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Run : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool runFunction(Diagnostics &diags);
  bool runEntry(Diagnostics &diags);

  ProgramFlags program;
  InputFlags given;
  WeightFlags weights;
  BackendFlags backend;
  cl::opt<std::string> outputDir{
      "output-dir", cl::value_desc("FOLDER"),
      cl::desc("Write each output, and what each state holds then, to "
               "FOLDER/NAME.npy")};
  cl::opt<bool> compare{
      "compare",
      cl::desc("Also evaluate in double precision and print the error")};
  cl::opt<bool> reportHazards{
      "report-hazards",
      cl::desc("With an emulated engine, list the ops whose partial sums, "
               "products or results go beyond what it can hold")};
  cl::opt<std::string> gradients{
      "gradients", cl::value_desc("FOLDER|FILE.safetensors"),
      cl::desc("Run a package's backward too, and write the gradient of each "
               "weight")};
};
} // namespace

bool Run::runFunction(Diagnostics &diags) {
  std::vector<InputShape> shapes = program.wantedShapes();
  appendShapesOfFiles(given.inputs, shapes);
  std::optional<LoadedProgram> loaded =
      loadProgram(program.program, program.function, std::move(shapes),
                  /*onlyToLook=*/false, diags);
  return loaded && runOnce(*loaded,
                           {backend.choice(), backend.load(), given.inputs,
                            given.states, outputDir, compare, reportHazards},
                           llvm::outs(), diags);
}

bool Run::runEntry(Diagnostics &diags) {
  PackageRunOptions options;
  options.backend = backend.choice();
  options.load = backend.load();
  options.weights = weights.options();
  options.weights.executor = backend.executor();
  options.entry = program.function;
  options.inputs = given.inputs;
  options.outputDir = outputDir;
  options.gradients = gradients;
  return runPackage(program.program, options, llvm::outs(), diags);
}

ExitCode Run::run(const Invocation &call) {
  if (program.program.empty())
    return call.usageError("no program; see ane-run --help");
  for (const std::string &wrong :
       {given.check(), program.check(), backend.check()})
    if (!wrong.empty())
      return call.usageError(wrong);
  if (reportHazards && !isEmulated(backend.numerics))
    return call.usageError("--report-hazards takes --numerics=m1, m3 or m4");
  return runReporting([&](Diagnostics &diags) {
    return isPackagePath(program.program) ? runEntry(diags)
                                          : runFunction(diags);
  });
}

constinit const CommandDef commands::Run = {
    .summary = "Run a program or an entry of a package once",
    .synopsis = "PROGRAM.mil|.mlmodelc|.anepkg",
    .examples = R"(  ane-run out.mil --input x=x.npy --output-dir results
  ane-run out.mil --input x=random:1 --compare
  ane-run out.mil --input x=x.npy --numerics=m4 --report-hazards
  ane-run out.mil --input tokens=bytes:README.md --numerics=fp32
  ane-run out.mil --input x=x.npy --backend=ane --output-dir results
  ane-run decode.mil --input x=x.npy --state cache=out/cache.npy --output-dir out
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1 --gradients g.safetensors
)",
    .make = makeCommand<::Run>,
};
