//===- CheckCommand.cpp - anec check FILE|PACKAGE... ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "TargetFlags.h"
#include "anec/Report/FindingReport.h"
#include "anec/anec.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class CheckFormat { Text, Json, Sarif };

class Check : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  void print(const CheckResult &result, Diagnostics &diags) const;

  cl::list<std::string> paths{cl::Positional};
  cl::opt<CheckFormat> format{
      "format", cl::desc("How findings are printed:"),
      cl::init(CheckFormat::Text),
      cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
                 clEnumValN(CheckFormat::Json, "json", "for programs"),
                 clEnumValN(CheckFormat::Sarif, "sarif", "for code review"))};
  TargetFlags target;
};

} // namespace

/// The findings of one file. What keeps it from being read is in `diags`.
static std::vector<Finding> checkProgramFile(llvm::StringRef path,
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

/// The findings of a program, or of the programs of a package. MIL is checked
/// as it is, a program as it would be compiled.
static std::vector<Finding> checkFile(llvm::StringRef path,
                                      const CompileOptions &options,
                                      Diagnostics &diags) {
  std::vector<Finding> findings;
  for (const std::string &program : programsOf(path))
    llvm::append_range(findings, checkProgramFile(program, options, diags));
  return findings;
}

void Check::print(const CheckResult &result, Diagnostics &diags) const {
  switch (format) {
  case CheckFormat::Text:
    return printFindings(result, diags, llvm::outs());
  case CheckFormat::Json:
    return printFindingsJson(result, diags, llvm::outs());
  case CheckFormat::Sarif:
    return printFindingsSarif(result, diags, llvm::outs());
  }
}

ExitCode Check::run(const Invocation &call) {
  if (paths.empty())
    return call.usageError("check takes programs; see anec check --help");
  CompileOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  if (ExitCode code = target.read(call, options.passes); code != Done)
    return code;
  // Diagnostics of the programs are printed among the findings.
  Diagnostics diags;
  CheckResult result{options.passes.target, options.passes.assumptions, {}};
  for (const std::string &path : paths)
    llvm::append_range(result.findings, checkFile(path, options, diags));
  print(result, diags);
  return runReporting(
      [&](Diagnostics &) { return !diags.hasErrors() && !result.hasErrors(); });
}

constinit const CommandDef commands::Check = {
    .name = "check",
    .group = commands::rules,
    .summary = "Print which rules of a chip programs break",
    .synopsis = "FILE|PACKAGE...",
    .details = "Exits with 1 when a program breaks a rule that is an error, or "
               "cannot be read.\n",
    .examples = R"(  anec check out.mil --target=m1
  anec check out.mil --target=m1 --os=15.6
  anec check llama.anepkg --target=m4 --format=sarif
)",
    .make = makeCommand<::Check>,
};
