//===- Inspect.cpp - checks programs and predicts costs -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Inspect.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/API/Diags.h"
#include "lib/API/PackageForm.h"
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

/// Of a file for each target that is checked; empty when nobody asked.
using Outlooks = llvm::MutableArrayRef<Outlook>;

/// Adds the functions of `module` for the chip. A package has the times of its
/// entries instead.
static void addPrograms(const Module &module, const CompileOptions &options,
                        Outlook &outlook) {
  for (const auto &function : module.functions) {
    if (function->kind == FunctionKind::Host)
      continue;
    outlook.add(*function, options.passes.assumptions);
    outlook.addTime(function->name, predict(*function, *outlook.target));
  }
}

static void markUnread(Outlooks outlooks) {
  for (Outlook &outlook : outlooks)
    outlook.isRead = false;
}

/// Gives the outlook the times of the entries of a package, if its programs can
/// be read; what is wrong with them is reported elsewhere.
static void setTimes(const ModelPackage &package, Outlook &outlook) {
  outlook.times.clear();
  Diagnostics unused;
  if (std::optional<ModelCost> cost =
          predictModel(package, *outlook.target, unused))
    for (const RunCost &run : cost->runs)
      outlook.addTime(run.name, run.sum());
}

static CheckedPrograms checkMil(const Source &source,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags, Outlooks outlooks) {
  std::optional<MILOutline> outline;
  if (!source.text.empty())
    outline = outlineMIL(source.text);
  CompileOptions reading = withoutWeights(options);
  reading.parts = MILReadOptions::Parts::Separate;
  ModelDescription description;
  if (!reading.description)
    reading.description = &description;
  std::unique_ptr<Module> module = readSource(source, reading, diags);
  if (!module)
    markUnread(outlooks);
  if (module && !takePackageForm(*module, source, options, diags)) {
    markUnread(outlooks);
    return {};
  }
  if (module)
    for (Outlook &outlook : outlooks)
      addPrograms(*module, options, outlook);
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

/// Checks the programs of a package in memory.
static CheckedPrograms checkInMemory(const ModelPackage &package,
                                     llvm::ArrayRef<const Target *> targets,
                                     const CompileOptions &options,
                                     Diagnostics &diags, Outlooks outlooks) {
  CheckedPrograms all;
  // In the order of the files, as those of a folder.
  for (const PackagedFile &file : package.files)
    for (const PackagedKernel &kernel : package.kernels) {
      if (kernel.mil != file.path)
        continue;
      std::string path = package.pathOf(file.path);
      llvm::StringRef text =
          diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
              package.contents.lookup(file.path)->getBuffer(), path));
      const PackagedInstance *instance = chooseInstance(
          kernel, options.instance, /*onlyToLook=*/true, path, diags);
      if (!instance)
        continue;
      CompileOptions reading = options;
      reading.instance.reset();
      reading.weightFiles = weightFilesOf(package, kernel, *instance);
      CheckedPrograms checked =
          checkMil(textSource(text, path), targets, reading, diags, outlooks);
      llvm::append_range(all.findings, checked.findings);
      llvm::append_range(all.placements, checked.placements);
    }
  return all;
}

/// `outlooks` has at most one.
static std::vector<Finding> checkCompiled(const Source &source,
                                          const CompileOptions &options,
                                          Diagnostics &diags,
                                          Outlooks outlooks) {
  Compiled compiled = compileSource(source, options, "", diags);
  if (compiled.package) {
    CheckedPrograms checked = checkInMemory(
        *compiled.package, {options.passes.target}, options, diags, outlooks);
    for (Outlook &outlook : outlooks)
      setTimes(*compiled.package, outlook);
    return std::move(checked.findings);
  }
  if (!compiled.program) {
    markUnread(outlooks);
    return {};
  }
  for (Outlook &outlook : outlooks)
    addPrograms(*compiled.program->program, options, outlook);
  return check(*compiled.program, options);
}

/// Adds the rules that compiling for the chip stopped at.
static void addRefusals(llvm::ArrayRef<Diagnostic> diagnostics,
                        Outlook &outlook) {
  for (const Diagnostic &diagnostic : diagnostics)
    if (const Rule *rule = findRule(diagnostic.kind->id);
        rule && diagnostic.severity() == Severity::Error &&
        !llvm::is_contained(outlook.refusals, rule))
      outlook.refusals.push_back(rule);
}

static CheckedPrograms checkOne(llvm::StringRef path,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags, Outlooks outlooks) {
  std::optional<Source> source = openSource(path, diags);
  if (!source) {
    markUnread(outlooks);
    return {};
  }
  if (source->format->stage == SourceStage::MIL)
    return checkMil(*source, targets, options, diags, outlooks);
  CheckedPrograms checked;
  CompileOptions compiling = options;
  for (size_t i = 0; i < targets.size(); ++i) {
    size_t before = diags.all().size();
    compiling.passes.target = targets[i];
    Outlooks own = outlooks.empty() ? outlooks : outlooks.slice(i, 1);
    mergeFindings(checked.findings,
                  checkCompiled(*source, compiling, diags, own));
    for (Outlook &outlook : own)
      addRefusals(llvm::ArrayRef(diags.all()).drop_front(before), outlook);
    if (targets.size() != 1)
      diags.noteSince(before, {}, diag::CompiledForTarget(targets[i]->name));
  }
  return checked;
}

static bool hasManifest(llvm::StringRef package) {
  llvm::SmallString<128> manifest(package);
  llvm::sys::path::append(manifest, "manifest.json");
  return llvm::sys::fs::exists(manifest);
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
  return programs.empty() && !hasManifest(path)
             ? std::vector<std::string>{path.str()}
             : programs;
}

static CheckedPrograms checkPrograms(llvm::StringRef path,
                                     llvm::ArrayRef<const Target *> targets,
                                     const CompileOptions &options,
                                     Diagnostics &diags, Outlooks outlooks) {
  CheckedPrograms all;
  for (const std::string &program : programsOf(path)) {
    CheckedPrograms checked =
        checkOne(program, targets, options, diags, outlooks);
    llvm::append_range(all.findings, checked.findings);
    llvm::append_range(all.placements, checked.placements);
  }
  return all;
}

/// Gives the outlooks of a package of a model the times of its entries.
/// Programs in a folder without a manifest have the times of each.
static void setTimesOfPackage(llvm::StringRef path, Outlooks outlooks,
                              Diagnostics &diags) {
  if (sourceFormat(path).stage != SourceStage::Package || !hasManifest(path))
    return;
  if (std::optional<ModelPackage> package =
          readPackage(path, diags, PackageCheck::Presence))
    for (Outlook &outlook : outlooks)
      setTimes(*package, outlook);
}

CheckedPrograms anec::checkFile(llvm::StringRef path,
                                llvm::ArrayRef<const Target *> targets,
                                const CompileOptions &options,
                                Diagnostics &diags,
                                std::vector<Outlook> *outlooks) {
  std::vector<Outlook> own;
  if (outlooks)
    for (const Target *target : targets)
      own.push_back({.file = path.str(), .target = target});
  CheckedPrograms checked = checkPrograms(path, targets, options, diags, own);
  if (!outlooks)
    return checked;
  setTimesOfPackage(path, own, diags);
  for (Outlook &outlook : own) {
    outlook.addFindings(checked.findings, options.passes.assumptions);
    outlooks->push_back(std::move(outlook));
  }
  return checked;
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
  if (!package.isInMemory())
    return checkFile(package.folder, options, diags).findings;
  return checkInMemory(package, {options.passes.target}, options, diags, {})
      .findings;
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
