//===- Source.cpp - source formats ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Formats/Source.h"
#include "ConstantWeights.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Passes/PassManager.h"
#include "lib/CoreML/Reader.h"
#include "lib/Formats/Diags.h"
#include "lib/Frontend/Frontend.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Text.h"
#include "lib/Onnx/Reader.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Pooling.h"
#include "lib/Package/Diags.h"
#include "lib/Torch/Reader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static std::unique_ptr<Module>
readTdsl(const Source &source, const ReadOptions &options, Diagnostics &diags) {
  return parseTDSL(source.text, {options.defines, options.remarks}, opTable(),
                   diags);
}

static std::unique_ptr<Module>
readIr(const Source &source, const ReadOptions &options, Diagnostics &diags) {
  std::unique_ptr<Module> module = parseIR(source.text, opTable(), diags);
  if (!module || !module->functions.empty())
    return module;
  llvm::SMLoc begin = llvm::SMLoc::getFromPointer(source.text.begin());
  diags.report({begin, begin}, diag::NoKernel);
  return nullptr;
}

/// Finds the weight file if the source is a kernel of a package: it lies in
/// another folder and belongs to one instance.
static bool findWeights(const Source &source, const ReadOptions &options,
                        MILReadOptions &mil, Diagnostics &diags) {
  std::optional<KernelFile> file = findKernelFile(source.path);
  if (!file) {
    if (options.instance)
      diags.reportFile(source.path, diag::NoSuchInstance, source.path,
                       *options.instance, "none");
    return !options.instance;
  }
  const PackagedKernel &kernel = *file->package.findKernel(file->kernel);
  if (file->package.isChanged) {
    diags.reportFile(file->package.pathOf("manifest.json"),
                     diag::ManifestChanged);
    return false;
  }
  bool onlyToLook =
      options.missingWeights != MILReadOptions::MissingWeights::Error;
  const PackagedInstance *instance =
      chooseInstance(kernel, options.instance, onlyToLook, source.path, diags);
  if (instance)
    mil.weightFiles = weightFilesOf(file->package, kernel, *instance);
  return instance != nullptr;
}

static std::unique_ptr<Module> withWeights(std::unique_ptr<Module> module,
                                           SourceWeights *weights) {
  if (module && weights)
    for (const auto &function : module->functions)
      giveWeights(*function, *weights);
  return module;
}

static std::unique_ptr<Module>
readMil(const Source &source, const ReadOptions &options, Diagnostics &diags) {
  MILReadOptions mil = options;
  if (!findWeights(source, options, mil, diags))
    return nullptr;
  return withWeights(readMIL(source.text,
                             llvm::sys::path::parent_path(source.path),
                             opTable(), diags, mil),
                     options.sourceWeights.get());
}

static std::unique_ptr<Module> readMlpackage(const Source &source,
                                             const ReadOptions &options,
                                             Diagnostics &diags) {
  return withWeights(readCoreMLPackage(source.path, opTable(), diags, options),
                     options.sourceWeights.get());
}

static std::unique_ptr<Module> readMlmodel(const Source &source,
                                           const ReadOptions &options,
                                           Diagnostics &diags) {
  return withWeights(readCoreMLModel(source.path, opTable(), diags, options),
                     options.sourceWeights.get());
}

static std::unique_ptr<Module> readOnnxModel(const Source &source,
                                             const ReadOptions &options,
                                             Diagnostics &diags) {
  return readOnnx(source.path, diags, options);
}

static std::unique_ptr<Module> readTorchArchive(const Source &source,
                                                const ReadOptions &options,
                                                Diagnostics &diags) {
  return readTorch(source.path, diags, options);
}

/// A folder of Core ML's compiler under another name.
static bool isMlmodelc(llvm::StringRef path) {
  llvm::SmallString<128> text(path), data(path);
  llvm::sys::path::append(text, "model.mil");
  llvm::sys::path::append(data, "coremldata.bin");
  return llvm::sys::fs::exists(text) && llvm::sys::fs::exists(data);
}

static std::unique_ptr<Module> readSchedule(const Source &source,
                                            const ReadOptions &options,
                                            Diagnostics &diags) {
  std::optional<ModelPackage> package = readPackage(source.path, diags);
  return package ? std::move(package->schedule) : nullptr;
}

/// What outputs of a program in .tdsl or .ir can take.
static constexpr RequestFlags ofPrograms =
    requests::weights | requests::chip | requests::passes | requests::models |
    requests::decoding | requests::states | requests::objective |
    requests::quantizing | requests::coreML |
    RequestFlags{RequestFlag::Kernel,    RequestFlag::Passes,
                 RequestFlag::Precision, RequestFlag::MILVersion,
                 RequestFlag::Canonical, RequestFlag::Format};

/// What changes a program that others wrote where it is read.
static constexpr RequestFlags readsMIL = {
    RequestFlag::Shape,
    RequestFlag::Fix,
    RequestFlag::Weights,
    RequestFlag::WeightMap,
};
/// And one of several functions.
static constexpr RequestFlags readsFunctions =
    readsMIL | RequestFlags{RequestFlag::Function};
/// What outputs of it can take.
static constexpr RequestFlags ofMIL =
    requests::chip | requests::passes | requests::objective |
    requests::quantizing | requests::coreML |
    RequestFlags{RequestFlag::Kernel,    RequestFlag::Passes,
                 RequestFlag::Precision, RequestFlag::MILVersion,
                 RequestFlag::Canonical, RequestFlag::Format};
/// And where a loss makes it a model. A seed draws all its weights.
static constexpr RequestFlags ofTrainedMIL =
    requests::models | RequestFlags{RequestFlag::Init};

// The first row is the format of paths without a known ending.
static constexpr SourceFormat table[] = {
    {.name = "tdsl",
     .ending = ".tdsl",
     .summary = "a program in the tensor language",
     .reads = {RequestFlag::Define, RequestFlag::Remarks},
     .compiles = ofPrograms,
     .read = readTdsl},
    {.name = "ir",
     .ending = ".ir",
     .summary = "the compiler's IR as text",
     .compiles = ofPrograms,
     .read = readIr},
    {.name = "mil",
     .ending = ".mil",
     .summary = "MIL text, with its weight files in the same folder",
     .stage = SourceStage::MIL,
     .reads = readsFunctions,
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readMil},
    {.name = "mlmodelc",
     .ending = ".mlmodelc",
     .summary = "a model compiled by Core ML's compiler",
     .stage = SourceStage::MIL,
     .isOfCoreML = true,
     .isFolder = true,
     .textFile = "model.mil",
     .matches = isMlmodelc,
     .reads = readsFunctions,
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readMil},
    {.name = "mlpackage",
     .ending = ".mlpackage",
     .summary = "a Core ML package with an ML program",
     .stage = SourceStage::MIL,
     .isOfCoreML = true,
     .isFolder = true,
     .matches = isCoreMLPackage,
     .reads = readsFunctions | RequestFlags{RequestFlag::Part},
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readMlpackage},
    {.name = "mlmodel",
     .ending = ".mlmodel",
     .summary = "a Core ML model with an ML program",
     .stage = SourceStage::MIL,
     .isOfCoreML = true,
     .isBinary = true,
     .matches = isCoreMLModel,
     .reads = readsFunctions | RequestFlags{RequestFlag::Part},
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readMlmodel},
    {.name = "onnx",
     .ending = ".onnx",
     .summary = "an ONNX model",
     .stage = SourceStage::MIL,
     .isOfTraining = true,
     .countsFromEnd = true,
     .isBinary = true,
     .reads = readsMIL,
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readOnnxModel},
    {.name = "pt2",
     .ending = ".pt2",
     .summary = "an archive of torch.export.save (PyTorch)",
     .stage = SourceStage::MIL,
     .isOfTraining = true,
     .countsFromEnd = true,
     .isBinary = true,
     .reads = readsFunctions,
     .compiles = ofMIL,
     .compilesWithLoss = ofTrainedMIL,
     .read = readTorchArchive},
    {.name = "anepkg",
     .ending = ".anepkg",
     .summary = "a compiled model: kernels, weights and schedule",
     .stage = SourceStage::Package,
     .isFolder = true,
     .compiles =
         requests::chip | requests::coreML | RequestFlags{RequestFlag::Format},
     .read = readSchedule},
};

llvm::ArrayRef<SourceFormat> anec::sourceFormats() { return table; }

const SourceFormat &anec::sourceFormat(llvm::StringRef path) {
  llvm::StringRef ending = llvm::sys::path::extension(path.rtrim('/'));
  for (const SourceFormat &format : table)
    if (format.ending == ending)
      return format;
  if (path != "-")
    for (const SourceFormat &format : table)
      if (format.matches && format.matches(path))
        return format;
  return table[0];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The endings of sources that are folders, as `.mlpackage, .mlmodelc`.
static std::string endingsOfFolders() {
  std::vector<llvm::StringRef> endings;
  for (const SourceFormat &format : table)
    if (format.isFolder)
      endings.push_back(format.ending);
  return llvm::join(endings, ", ");
}

/// Reports what `path`, which has no format's ending, is instead of a text.
/// Returns false if it may be one.
static bool reportOther(llvm::StringRef path, Diagnostics &diags) {
  bool isFolder = llvm::sys::fs::is_directory(path);
  llvm::SmallString<128> config(path);
  llvm::sys::path::append(config, "config.json");
  bool isWeights = isFolder ? llvm::sys::fs::exists(config)
                            : path.ends_with_insensitive(".gguf") &&
                                  llvm::sys::fs::exists(path);
  if (isWeights)
    diags.reportFile(path, diag::WeightsNoProgram, path);
  else if (isFolder)
    diags.reportFile(path, diag::FolderNoProgram, endingsOfFolders());
  return isWeights || isFolder;
}

std::optional<Source> anec::openSource(llvm::StringRef path,
                                       Diagnostics &diags) {
  const SourceFormat &format = sourceFormat(path);
  if (format.isBinary || (format.isFolder && format.textFile.empty()))
    return Source{&format, path.str(), ""};
  if (&format == &table[0] && reportOther(path, diags))
    return std::nullopt;
  llvm::SmallString<128> file(path);
  if (format.isFolder)
    llvm::sys::path::append(file, format.textFile);
  std::optional<llvm::StringRef> text = diags.addFile(file);
  if (!text)
    return std::nullopt;
  return Source{&format, file.str().str(), *text};
}

Source anec::textSource(llvm::StringRef text, llvm::StringRef path) {
  return {&sourceFormat(path), path.str(), text};
}

/// Makes negative indices count from the start, as those of MIL programs do.
static bool writeOutIndices(Module &module, Diagnostics &diags) {
  PassManagerOptions passes;
  passes.passes = {&passes::PositiveIndices, &passes::DCE};
  return runPasses(module, passes, diags);
}

std::unique_ptr<Module> anec::readSource(const Source &source,
                                         const ReadOptions &options,
                                         Diagnostics &diags) {
  std::unique_ptr<Module> module = source.format->read(source, options, diags);
  if (module && source.format->countsFromEnd &&
      !writeOutIndices(*module, diags))
    return nullptr;
  if (module)
    warnOfWindowsOutside(*module, diags);
  return module;
}

std::unique_ptr<Module> anec::readMILOf(const NamedFiles &files,
                                        llvm::StringRef name,
                                        Diagnostics &diags) {
  MILReadOptions options;
  for (const auto &file : files)
    options.weightFiles[("@model_path/" + file.first()).str()] = {
        file.first().str(), file.second};
  llvm::StringRef text = diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
      files.lookup(name)->getBuffer(), name));
  std::unique_ptr<Module> module =
      readMIL(text, /*modelDirectory=*/"", opTable(), diags, options);
  if (module)
    warnOfWindowsOutside(*module, diags);
  return module;
}

std::unique_ptr<Module> anec::readSourceFile(llvm::StringRef path,
                                             const ReadOptions &options,
                                             Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  return source ? readSource(*source, options, diags) : nullptr;
}
