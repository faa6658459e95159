//===- Compile.cpp - compiles kernels and models --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Compile.h"
#include "Examples.h"
#include "QuantizeProgram.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Formats/Source.h"
#include "anec/MIL/Printer.h"
#include "anec/Target/Check.h"
#include "lib/API/Calibrate.h"
#include "lib/API/SourceModel.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The functions that can become a MIL program.
static std::vector<Function *> kernels(const Module &module) {
  std::vector<Function *> result;
  for (const auto &function : module.functions)
    if (function->kind != FunctionKind::Host && !function->isDeclaration())
      result.push_back(function.get());
  return result;
}

static std::string listNames(llvm::ArrayRef<Function *> functions) {
  std::vector<std::string> names;
  for (const Function *function : functions)
    names.push_back("`" + function->name + "`");
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// The source range of diagnostics about the program as a whole.
static SourceRange firstPlace(const Module &module) {
  return module.functions.empty() ? SourceRange()
                                  : module.functions.front()->range;
}

/// Returns the kernel to compile; null, with a diagnostic, when there is none
/// or the choice is ambiguous.
static Function *chooseKernel(const Module &module, llvm::StringRef wanted,
                              Diagnostics &diags) {
  std::vector<Function *> candidates = kernels(module);
  if (!wanted.empty()) {
    for (Function *function : candidates)
      if (function->name == wanted)
        return function;
    diags.report(firstPlace(module), diag::NoSuchKernel, wanted,
                 listNames(candidates));
    return nullptr;
  }
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Host && function->range.isValid()) {
      auto report =
          diags.report(function->range, diag::ModelNotCompiled, function->name);
      if (!candidates.empty())
        report.note(function->range, diag::ModelsLayers, listNames(candidates));
      return nullptr;
    }
  // Layers beside a kernel are parts of it.
  auto isKernel = [](const Function *function) {
    return function->kind == FunctionKind::Kernel;
  };
  if (llvm::count_if(candidates, isKernel) == 1)
    return *llvm::find_if(candidates, isKernel);
  if (candidates.size() == 1)
    return candidates.front();
  if (candidates.empty())
    diags.report(firstPlace(module), diag::NoKernel);
  else
    diags.report(candidates[1]->range, diag::SeveralKernels,
                 listNames(candidates));
  return nullptr;
}

bool anec::selectKernel(Module &module, llvm::StringRef name,
                        Diagnostics &diags) {
  Function *kernel = chooseKernel(module, name, diags);
  if (!kernel)
    return false;
  llvm::erase_if(module.functions,
                 [&](const auto &other) { return other.get() != kernel; });
  return true;
}

/// Sources disagree on whether M1 requires a file for each array. One file is
/// used unless the assumptions deny it.
static unsigned mostWeightFiles(const PassManagerOptions &options) {
  return options.assumptions.denies(rules::OneRecordPerFile)
             ? options.target->limits.weightFiles.value
             : 1;
}

std::optional<CompiledProgram> anec::compile(std::unique_ptr<Module> module,
                                             const SourceFormat &format,
                                             const CompileOptions &options,
                                             Diagnostics &diags,
                                             std::vector<PassReport> *reports) {
  // A MIL source is already a whole program.
  bool isMIL = format.stage == SourceStage::MIL;
  if (!isMIL || !options.kernel.empty()) {
    if (!selectKernel(*module, options.kernel, diags))
      return std::nullopt;
    // A kernel becomes a MIL program, whose function is `main`.
    module->functions[0]->kind = FunctionKind::Kernel;
    module->functions[0]->name = "main";
  }
  DeclaredShapes declared;
  if (!isMIL)
    declared = DeclaredShapes(*module->functions[0]);
  std::optional<WeightBinding> weights =
      WeightBinding::open(options.weights, diags);
  if (!weights || !weights->fits(ModelFacts::of(*module), diags) ||
      !runPasses(*module, options.passes, diags, reports) ||
      !weights->hasSome(namesOfWeights(*module), diags))
    return std::nullopt;
  std::string version = options.milVersion;
  if (version.empty() && (!isMIL || options.passes.targetChosen))
    version = options.passes.target->milVersion.value.str();
  // Quantized constants are not where the originals were.
  bool isKept = isMIL && !options.quantization;
  CompiledProgram program{std::move(module), std::move(*weights), version,
                          isKept ? MILPrintOptions::Placement::Keep
                                 : MILPrintOptions::Placement::Gather,
                          mostWeightFiles(options.passes)};
  program.declared = std::move(declared);
  if (options.quantization && !quantizeProgram(program, options, diags))
    return std::nullopt;
  return program;
}

std::vector<const PassDef *>
anec::kernelPipeline(const SourceFormat &format,
                     const PassManagerOptions &options) {
  if (format.stage != SourceStage::MIL)
    return defaultPipeline().vec();
  // A MIL program stays as it is, unless it is to fit a target.
  if (!options.targetChosen)
    return {};
  return {&passes::MergeAxes, &passes::ChannelsFirst, &passes::DCE,
          &passes::Legalize, &passes::DCE};
}

std::vector<const PassDef *>
anec::withPrecision(std::vector<const PassDef *> list,
                    const CompileOptions &options) {
  if (options.precision != DType::FP16)
    return list;
  const PassDef *narrow[] = {&passes::Narrow, &passes::CSE, &passes::DCE};
  list.insert(llvm::find(list, &passes::Legalize), std::begin(narrow),
              std::end(narrow));
  return list;
}

bool anec::measureExamples(const Source &source, CompileOptions &options,
                           Diagnostics &diags) {
  if (options.calibration.empty() || options.passes.examples ||
      !llvm::is_contained(options.passes.passes, &passes::Narrow))
    return true;
  CalibrationData data;
  data.arrays = options.calibration;
  options.passes.examples = collectRanges(source, options, data, diags);
  return options.passes.examples != nullptr;
}

/// Compiles the kernel of a module that was read from `source`, by the default
/// pipeline when no passes are named.
static std::optional<CompiledProgram>
compileKernel(std::unique_ptr<Module> module, const Source &source,
              CompileOptions options, Diagnostics &diags) {
  if (!module)
    return std::nullopt;
  if (options.passes.passes.empty())
    options.passes.passes =
        withPrecision(kernelPipeline(*source.format, options.passes), options);
  if (!measureExamples(source, options, diags))
    return std::nullopt;
  std::optional<CompiledProgram> program =
      compile(std::move(module), *source.format, options, diags);
  if (program && options.description) {
    program->description =
        std::make_shared<ModelDescription>(*options.description);
    program->shapes =
        SourceShapes(source.path, *source.format, options,
                     !options.passes.passes.empty(), *options.description);
  }
  return program;
}

/// The options, with the program that weights are for.
static CompileOptions forProgram(CompileOptions options, llvm::StringRef path) {
  if (options.weights.program.empty())
    options.weights.program = path.str();
  return options;
}

std::optional<CompiledProgram> anec::compileFile(llvm::StringRef path,
                                                 const CompileOptions &options,
                                                 Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return std::nullopt;
  ModelDescription description;
  CompileOptions given = forProgram(options, path);
  given.objective.reset(); // of models
  if (!given.description)
    given.description = &description;
  std::unique_ptr<Module> module = readForCompiling(*source, given, diags);
  return compileKernel(std::move(module), *source, given, diags);
}

/// A source with a copy of `text`, owned by `diags`.
static Source copyText(llvm::StringRef text, llvm::StringRef name,
                       Diagnostics &diags) {
  return textSource(
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name)), name);
}

std::optional<CompiledProgram> anec::compileText(llvm::StringRef text,
                                                 llvm::StringRef name,
                                                 const CompileOptions &options,
                                                 Diagnostics &diags) {
  Source source = copyText(text, name, diags);
  CompileOptions given = options;
  given.objective.reset(); // of models
  std::unique_ptr<Module> module = readForCompiling(source, given, diags);
  return compileKernel(std::move(module), source, given, diags);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

WeightMode CompileOptions::chosenWeightMode() const {
  if (weightMode)
    return *weightMode;
  bool hasValues = !weights.source.empty() || weights.seed;
  return (!train || decode) && hasValues ? WeightMode::Baked
                                         : WeightMode::Packed;
}

ModelPipelineOptions CompileOptions::modelPipelineOptions() const {
  ModelPipelineOptions pipeline = *this;
  pipeline.train = train && !decode;
  pipeline.findLayers = objective.has_value();
  pipeline.packWeights = chosenWeightMode() == WeightMode::Packed;
  return pipeline;
}

/// Runs the passes on the model of `module`. Returns how its package is
/// written; nothing, with the reason reported, on failure.
static std::optional<PackageOptions>
prepareModel(Module &module, const CompileOptions &options, Diagnostics &diags,
             std::vector<PassReport> *reports) {
  PackageOptions package = options;
  package.weightMode = options.chosenWeightMode();
  if (options.objective) {
    if (!makeModel(module, options, diags, reports))
      return std::nullopt;
    // As for other programs, a seed draws all weights. Of a program that is
    // tuned, it draws the adapters.
    if (options.lora || !options.weights.seed)
      package.weights.values = std::shared_ptr<const WeightValues>(
          options.sourceWeights, &options.sourceWeights->values());
    if (options.lora && !options.weights.seed)
      package.weights.seed = 0;
  }
  if (options.lora) {
    std::optional<AddedAdapters> added =
        addAdapters(module, *options.lora, diags);
    if (!added)
      return std::nullopt;
    package.zeros = std::move(added->zeros);
    for (const std::string &name : added->transposed)
      package.facts.add(fact::loraTransposed, name);
    package.facts.add(fact::loraScale,
                      ModelFacts::spell(options.lora->scale()));
  }
  package.facts.complete(ModelFacts::of(module));
  if (!runPasses(module, options.passes, diags, reports))
    return std::nullopt;
  // Kernels are compiled by the default pipeline.
  package.passes.passes.clear();
  return package;
}

bool anec::compileModel(std::unique_ptr<Module> module,
                        const CompileOptions &options, llvm::StringRef folder,
                        Diagnostics &diags, std::vector<PassReport> *reports) {
  std::optional<PackageOptions> package =
      prepareModel(*module, options, diags, reports);
  return package &&
         writePackage(std::move(module), folder, *package, diags, reports);
}

std::optional<ModelPackage>
anec::compileModelInMemory(std::unique_ptr<Module> module,
                           const CompileOptions &options, llvm::StringRef name,
                           Diagnostics &diags,
                           std::vector<PassReport> *reports) {
  std::optional<PackageOptions> package =
      prepareModel(*module, options, diags, reports);
  NamedFiles files;
  if (!package ||
      !writePackage(std::move(module), files, name, *package, diags, reports))
    return std::nullopt;
  return readPackage(std::move(files), name, diags);
}

/// Compiles the model of a module that was read from `source`, by the default
/// pipeline when no passes are named, and reads the package back.
static std::optional<ModelPackage> packageModel(std::unique_ptr<Module> module,
                                                const Source &source,
                                                CompileOptions options,
                                                llvm::StringRef folder,
                                                Diagnostics &diags) {
  if (!module)
    return std::nullopt;
  if (options.passes.passes.empty())
    options.passes.passes = modelPipeline(options.modelPipelineOptions());
  if (folder.empty())
    return compileModelInMemory(std::move(module), options, source.path, diags);
  if (!compileModel(std::move(module), options, folder, diags))
    return std::nullopt;
  return readPackage(folder, diags, PackageCheck::Presence);
}

std::optional<ModelPackage>
anec::compileModelFile(llvm::StringRef path, const CompileOptions &options,
                       llvm::StringRef folder, Diagnostics &diags) {
  CompileOptions given = forProgram(options, path);
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return std::nullopt;
  std::unique_ptr<Module> module = readForCompiling(*source, given, diags);
  return packageModel(std::move(module), *source, given, folder, diags);
}

std::optional<ModelPackage>
anec::compileModelText(llvm::StringRef text, llvm::StringRef name,
                       const CompileOptions &options, llvm::StringRef folder,
                       Diagnostics &diags) {
  CompileOptions given = options;
  Source source = copyText(text, name, diags);
  std::unique_ptr<Module> module = readForCompiling(source, given, diags);
  return packageModel(std::move(module), source, given, folder, diags);
}

//===----------------------------------------------------------------------===//
// Kernel or model
//===----------------------------------------------------------------------===//

bool anec::isModel(const Module &module, const SourceFormat &format,
                   const CompileOptions &options) {
  return options.objective ||
         (format.stage == SourceStage::Program && options.kernel.empty() &&
          llvm::any_of(module.functions, [](const auto &function) {
            return function->kind == FunctionKind::Host;
          }));
}

Compiled anec::compileSource(const Source &source,
                             const CompileOptions &options,
                             llvm::StringRef folder, Diagnostics &diags) {
  ModelDescription description;
  CompileOptions given = options;
  if (!given.description)
    given.description = &description;
  std::unique_ptr<Module> module = readForCompiling(source, given, diags);
  if (!module)
    return {};
  if (isModel(*module, *source.format, options))
    return {std::nullopt,
            packageModel(std::move(module), source, given, folder, diags)};
  return {compileKernel(std::move(module), source, given, diags), std::nullopt};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

ConstantRef CompiledProgram::weightValue(const WeightView &view,
                                         SourceRange range,
                                         Diagnostics &diags) const {
  ConstantRef source =
      weights.resolve(view.weight, view.storedType(),
                      initialValues.lookup(view.weight), range, diags);
  return source ? view.materialize(source) : nullptr;
}

ConstantRef CompiledProgram::resolve(const Op &weight,
                                     Diagnostics &diags) const {
  const QuantizedPart *part = quantized ? quantized->find(weight) : nullptr;
  if (!part) {
    WeightView view = viewOf(weight);
    return initialValues.contains(view.weight)
               ? weightValue(view, weight.range(), diags)
               : weights.resolve(weight, diags);
  }
  return quantized->resolve(
      *part, part->view.weight,
      [&](const WeightView &view) {
        return weightValue(view, weight.range(), diags);
      },
      diags);
}

/// They refer to this program and to `diags`.
MILPrintOptions CompiledProgram::writeOptions(Diagnostics &diags) const {
  MILPrintOptions options;
  options.version = milVersion;
  options.mostWeightFiles = mostWeightFiles;
  options.executor = &weights.executor();
  options.resolve = [this, &diags](const Op &weight) {
    return resolve(weight, diags);
  };
  options.written = [this] { weights.releasePages(); };
  return options;
}

bool CompiledProgram::write(llvm::StringRef path, Diagnostics &diags) const {
  return writeMIL(*program, path, writeOptions(diags), diags);
}

bool CompiledProgram::write(NamedFiles &files, Diagnostics &diags) const {
  AtomicFiles written(files, /*place=*/"", diags);
  return writeMIL(*program, written, textFile, writeOptions(diags), diags);
}

std::unique_ptr<Module> CompiledProgram::readBack(Diagnostics &diags) const {
  NamedFiles files;
  return write(files, diags) ? readMILOf(files, textFile, diags) : nullptr;
}

/// Whether an opset in which indices count from the end becomes one in which
/// they do not.
static bool changesIndices(const Module &module, const CoreMLOptions &options) {
  constexpr int positiveOnly = 8; // of ios17
  return options.deployment &&
         options.deployment->specification >= positiveOnly &&
         llvm::any_of(module.functions, [](const auto &function) {
           const Deployment *row = deploymentOfOpset(function->opset);
           return row && row->specification < positiveOnly;
         });
}

/// Gives the program the forms that Core ML takes. Reports the rules for Core
/// ML that it breaks nevertheless.
static bool fitCoreML(Module &module, const CoreMLOptions &options,
                      Diagnostics &diags) {
  PassManagerOptions passes;
  passes.target = options.target;
  passes.assumptions = options.assumptions;
  passes.assumptions.path = EnginePath::CoreML;
  passes.passes = coreMLPipeline(changesIndices(module, options));
  if (!runPasses(module, passes, diags))
    return false;
  Assumptions assumptions = options.assumptions;
  assumptions.path = EnginePath::CoreML;
  std::vector<Finding> findings;
  for (const auto &function : module.functions)
    checkFunction(*function, *options.target, assumptions, findings);
  bool ok = true;
  for (const Finding &finding : findings)
    if (assumptions.isError(*finding.rule)) {
      reportFinding(finding, assumptions, diags);
      ok = false;
    }
  return ok;
}

bool CompiledProgram::writeCoreMLBy(WriteCoreML write, llvm::StringRef path,
                                    const CoreMLOptions &coreML,
                                    const ModelDescription *description,
                                    Diagnostics &diags) {
  if (program->functions.size() == 1)
    declared.restore(*program->functions.front());
  ModelDescription described;
  if (description)
    described = *description;
  if ((coreML.wanted &&
       !describeProgram(*program, *coreML.wanted, described, diags)) ||
      !fitCoreML(*program, coreML, diags))
    return false;
  CoreMLWriteOptions options{coreML};
  options.description = &described;
  options.executor = &weights.executor();
  options.resolve = [this, &diags](const Op &weight) {
    return resolve(weight, diags);
  };
  options.written = [this] { weights.releasePages(); };
  return write(*program, path, options, diags);
}

bool CompiledProgram::writeCoreML(llvm::StringRef path,
                                  const CoreMLOptions &options,
                                  const ModelDescription *description,
                                  Diagnostics &diags) {
  return writeCoreMLBy(writeCoreMLPackage, path, options, description, diags);
}

bool CompiledProgram::writeCompiledCoreML(llvm::StringRef path,
                                          const CoreMLOptions &options,
                                          const ModelDescription *description,
                                          Diagnostics &diags) {
  return writeCoreMLBy(anec::writeCompiledCoreML, path, options, description,
                       diags);
}

bool CompiledProgram::print(llvm::raw_ostream &out, Diagnostics &diags) const {
  MILPrintOptions options;
  options.version = milVersion;
  options.mostWeightFiles = mostWeightFiles;
  options.placement = placement;
  return printMIL(*program, out, options, diags);
}
