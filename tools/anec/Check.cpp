//===- Check.cpp - anec check FILE|PACKAGE... -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "../ExitCode.h"
#include "Flags.h"
#include "anec/Report/FindingReport.h"
#include "anec/anec.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class CheckFormat { Text, Json, Sarif };

cl::SubCommand command("check", "Print which rules of a chip programs break");
cl::list<std::string> paths(cl::Positional, cl::desc("FILE|PACKAGE..."),
                            cl::sub(command), cl::cat(anecCategory()));
cl::opt<CheckFormat> format(
    "format", cl::desc("How findings are printed:"),
    cl::init(CheckFormat::Text),
    cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
               clEnumValN(CheckFormat::Json, "json", "for programs"),
               clEnumValN(CheckFormat::Sarif, "sarif", "for code review")),
    cl::sub(command), cl::cat(anecCategory()));
TargetFlags targetFlags(command);

} // namespace

void anec::hideFlagsInCheck() {
  cl::HideUnrelatedOptions(anecCategory(), command);
}

/// The findings of one file. What keeps it from being read is in `diags`.
static std::vector<Finding> checkFile(llvm::StringRef path,
                                      const CompileOptions &options,
                                      Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return {};
  bool isMIL = source->format->stage == SourceStage::MIL;
  std::optional<MILOutline> outline;
  if (isMIL)
    outline = outlineMIL(source->text);
  std::unique_ptr<Module> module = readSource(*source, options, diags);
  if (module && !isMIL) {
    CompileOptions compiling = options;
    compiling.passes.passes = defaultPipeline().vec();
    std::optional<Package> package =
        compile(std::move(module), *source->format, compiling, diags);
    if (!package)
      return {};
    module = std::move(package->program);
  }
  return checkProgram(outline ? &*outline : nullptr, module.get(),
                      *options.passes.target, options.passes.assumptions);
}

/// The programs of a package, which is a folder; of anything else, itself.
static std::vector<std::string> programsOf(llvm::StringRef path) {
  if (!llvm::sys::fs::is_directory(path))
    return {path.str()};
  llvm::SmallString<128> kernels(path);
  llvm::sys::path::append(kernels, "kernels");
  std::vector<std::string> programs;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator file(kernels, code), end;
       file != end && !code; file.increment(code))
    if (llvm::sys::path::extension(file->path()) == ".mil")
      programs.push_back(file->path());
  llvm::sort(programs);
  // Of a folder that is no package, opening it says so.
  return programs.empty() ? std::vector<std::string>{path.str()} : programs;
}

/// Checks programs, and those of packages, prints what is found, and returns
/// whether there was no error. MIL is checked as it is, a program as it would
/// be compiled.
static bool checkFiles(const CompileOptions &options, llvm::raw_ostream &out,
                       Diagnostics &diags) {
  CheckResult result{options.passes.target, options.passes.assumptions, {}};
  for (const std::string &path : paths)
    for (const std::string &program : programsOf(path))
      llvm::append_range(result.findings, checkFile(program, options, diags));
  switch (format) {
  case CheckFormat::Text:
    printFindings(result, diags, out);
    break;
  case CheckFormat::Json:
    printFindingsJson(result, diags, out);
    break;
  case CheckFormat::Sarif:
    printFindingsSarif(result, diags, out);
    break;
  }
  return !diags.hasErrors() && !result.hasErrors();
}

/// 0 no rule is broken, 1 some are, or a program cannot be read.
std::optional<int> anec::runCheckCommand() {
  if (!command)
    return std::nullopt;
  int code = Done;
  const Target *target = targetFlags.find(code);
  if (!target)
    return code;
  if (paths.empty())
    return usageError("anec", "check takes programs; see anec check --help");
  Diagnostics diags;
  CompileOptions options;
  if (!targetFlags.readAssumptions(options.passes.assumptions, diags)) {
    diags.print(llvm::errs(), llvm::errs().has_colors());
    return UsageError;
  }
  options.passes.target = target;
  options.passes.targetChosen = targetFlags.chosen();
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  bool ok = checkFiles(options, llvm::outs(), diags);
  Diagnostics output;
  finishOutput(output);
  output.print(llvm::errs(), llvm::errs().has_colors());
  return output.hasErrors() ? MachineError : ok ? Done : InputError;
}
