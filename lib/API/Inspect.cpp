//===- Inspect.cpp - checks programs and predicts costs -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Inspect.h"
#include "anec/API/Diags.h"
#include "anec/API/PackageForm.h"
#include "anec/MIL/ModelDescription.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Options for programs that are only inspected: weight files can be missing.
static CompileOptions withoutWeights(CompileOptions options) {
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  return options;
}

/// Whether the finding is about the label of a classifier, which Core ML finds
/// itself: the program only says which probabilities it is of.
static bool isOfClassifier(const Finding &finding, const Module &module,
                           const ModelDescription &description) {
  for (const auto &function : module.functions) {
    const FunctionDescription *described = description.find(function->name);
    if (!described)
      continue;
    for (unsigned i = 0; i < function->numResults(); ++i) {
      const FeatureDescription *output =
          described->output(function->resultNames()[i]);
      if (output && output->classes &&
          function->result(i)->range().Start == finding.range.Start)
        return true;
    }
  }
  return false;
}

static CheckedPrograms checkMil(const Source &source,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags) {
  std::optional<MILOutline> outline;
  if (!source.text.empty())
    outline = outlineMIL(source.text);
  CompileOptions reading = withoutWeights(options);
  reading.parts = MILReadOptions::Parts::Separate;
  ModelDescription description;
  if (!reading.description)
    reading.description = &description;
  std::unique_ptr<Module> module = readSource(source, reading, diags);
  if (module && !takePackageForm(*module, source, options, diags))
    return {};
  CheckedPrograms checked;
  for (const Target *target : targets)
    mergeFindings(checked.findings,
                  checkProgram(outline ? &*outline : nullptr, module.get(),
                               *target, options.passes.assumptions));
  if (module && options.passes.assumptions.path == EnginePath::CoreML)
    llvm::erase_if(checked.findings, [&](const Finding &finding) {
      return isOfClassifier(finding, *module, *reading.description);
    });
  if (!outline)
    return checked;
  // What a text lacks is reported at its start, which names the file.
  llvm::SMLoc start = llvm::SMLoc::getFromPointer(source.text.data());
  for (Finding &finding : checked.findings)
    if (!finding.range.isValid())
      finding.range = {start, start};
  checked.placements = readPlacements(*outline);
  for (Finding &finding : checked.findings)
    if (const RecordedPlacement *placement =
            findPlacement(checked.placements, finding.range))
      finding.recorded = placement->describe();
  return checked;
}

static std::vector<Finding> checkCompiled(const Source &source,
                                          const CompileOptions &options,
                                          Diagnostics &diags) {
  Compiled compiled = compileSource(source, options, "", diags);
  if (compiled.package) {
    diags.showFolderAs(compiled.package->folder, source.path);
    return check(*compiled.package, options, diags);
  }
  return compiled.program ? check(*compiled.program, options)
                          : std::vector<Finding>();
}

static CheckedPrograms checkOne(llvm::StringRef path,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return {};
  if (source->format->stage == SourceStage::MIL)
    return checkMil(*source, targets, options, diags);
  CheckedPrograms checked;
  CompileOptions compiling = options;
  for (const Target *target : targets) {
    size_t before = diags.all().size();
    compiling.passes.target = target;
    mergeFindings(checked.findings, checkCompiled(*source, compiling, diags));
    if (targets.size() != 1)
      diags.noteSince(before, {}, diag::CompiledForTarget(target->name));
  }
  return checked;
}

/// The MIL programs of a package, which is a folder; otherwise `path` itself.
static std::vector<std::string> programsOf(llvm::StringRef path) {
  const SourceFormat &format = sourceFormat(path);
  if (!llvm::sys::fs::is_directory(path) ||
      (format.isFolder && format.stage != SourceStage::Package))
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
  // A package whose model runs on the host has no programs. Opening a folder
  // that is not a package reports the error.
  llvm::SmallString<128> manifest(path);
  llvm::sys::path::append(manifest, "manifest.json");
  return programs.empty() && !llvm::sys::fs::exists(manifest)
             ? std::vector<std::string>{path.str()}
             : programs;
}

CheckedPrograms anec::checkFile(llvm::StringRef path,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags) {
  CheckedPrograms all;
  for (const std::string &program : programsOf(path)) {
    CheckedPrograms checked = checkOne(program, targets, options, diags);
    llvm::append_range(all.findings, checked.findings);
    llvm::append_range(all.placements, checked.placements);
  }
  return all;
}

CheckedPrograms anec::checkFile(llvm::StringRef path,
                                const CompileOptions &options,
                                Diagnostics &diags) {
  return checkFile(path, {options.passes.target}, options, diags);
}

std::vector<Finding> anec::check(const CompiledProgram &program,
                                 const CompileOptions &options) {
  return checkProgram(nullptr, program.program.get(), *options.passes.target,
                      options.passes.assumptions);
}

std::vector<Finding> anec::check(const ModelPackage &package,
                                 const CompileOptions &options,
                                 Diagnostics &diags) {
  return checkFile(package.folder, options, diags).findings;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

std::optional<ModelCost> anec::predictFile(llvm::StringRef path,
                                           const CompileOptions &options,
                                           Diagnostics &diags) {
  const Target &target = *options.passes.target;
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return std::nullopt;
  if (source->format->stage == SourceStage::Package) {
    std::optional<ModelPackage> package =
        readPackage(path, diags, PackageCheck::Presence);
    return package ? predictModel(*package, target, diags) : std::nullopt;
  }
  Compiled compiled =
      compileSource(*source, withoutWeights(options), "", diags);
  if (compiled.package)
    return predictModel(*compiled.package, target, diags);
  if (!compiled.program)
    return std::nullopt;
  ModelCost cost;
  cost.runs.push_back(predict(*compiled.program, target));
  cost.programs.push_back(std::move(compiled.program->program));
  return cost;
}

RunCost anec::predict(const CompiledProgram &program, const Target &target) {
  return predictOnce(*program.program, target);
}
