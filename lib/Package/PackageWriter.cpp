//===- PackageWriter.cpp - from a program to a package --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DigestQueue.h"
#include "HostValues.h"
#include "KernelLowering.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Target/Target.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/Diags.h"
#include "lib/Package/QuantizeKernel.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Quantize/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/AtomicFolder.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Digest.h"
#include "lib/Support/FileNames.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace anec;

namespace {

class PackageWriter {
public:
  PackageWriter(std::unique_ptr<Module> program, const PackageOptions &options,
                Diagnostics &diags, std::vector<PassReport> *reports)
      : program(std::move(program)), options(options), diags(diags),
        reports(reports) {}

  bool write(llvm::StringRef path);
  bool write(NamedFiles &files, llvm::StringRef name);

private:
  bool begin();
  bool prepare();
  void notePassedWeights();
  bool canQuantize();
  void nameFiles();
  bool writeKernels(AtomicFiles &files);
  bool writeKernel(LoweredKernel &kernel, AtomicFiles &files);
  bool writeInstance(LoweredKernel &kernel, const PlacedMIL &placed,
                     std::optional<int64_t> instance, AtomicFiles &files);
  bool checkQuantized();
  bool writeValues(AtomicFiles &files);
  bool writeSchedule(AtomicFiles &files);
  bool writeWeightMap(AtomicFiles &files);
  bool writeFiles(AtomicFiles &files, llvm::StringRef folder);
  bool commit(AtomicFiles &files);
  bool setDigests();

  /// Adds a file of the package.
  OutputFile *add(llvm::StringRef name, AtomicFiles &files) {
    package.files.push_back({name.str(), 0, ""});
    return files.add(name);
  }

  std::unique_ptr<Module> program;
  const PackageOptions &options;
  Diagnostics &diags;
  std::vector<PassReport> *reports;
  ModelPackage package;
  UsedWeights used;
  std::optional<WrittenValues> values;
  std::optional<HostValues> host;
  std::optional<DigestQueue> digests; ///< on the executor of `values`
  size_t committed = 0;               ///< files of the package
  std::set<std::string> skips;        ///< QuantizedWeights::usedSkips of all
  std::map<std::string, std::string> fileWithRecords;
  std::map<std::string, std::string> stems; ///< of the files of kernels
};

} // namespace

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

/// Only called functions become part of the package, layers as kernels.
bool PackageWriter::prepare() {
  if (entryPoints(*program).empty()) {
    diags.report(program->functions.empty() ? SourceRange()
                                            : program->functions.front()->range,
                 diag::NoModel);
    return false;
  }
  // Passes add ops.
  if (!verifyRuns(*program, diags) || !used.findInstances(*program, diags))
    return false;
  llvm::erase_if(program->functions, [&](const auto &function) {
    return function->kind != FunctionKind::Host &&
           !used.ofKernels.contains(function->name);
  });
  for (auto &function : program->functions)
    if (function->kind == FunctionKind::Layer)
      function->kind = FunctionKind::Kernel;
  for (const auto &function : program->functions)
    if (function->isDeclaration()) {
      diags.report(function->range, diag::KernelElsewhere, function->name);
      return false;
    }
  std::optional<WeightBinding> opened =
      WeightBinding::open(options.weights, diags);
  if (!opened || !opened->fits(options.facts, diags))
    return false;
  used.describe(*program, options.zeros, *opened);
  for (const auto &[name, weight] : used.weights)
    package.weights.push_back(weight);
  values.emplace(std::move(*opened), used, options);
  host.emplace(*values, used, options, diags);
  return used.checkArrays(program->functions.front()->range, diags) &&
         values->binding().hasSome(used.arrays(), diags);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Quantized weights are constants that training does not change.
bool PackageWriter::canQuantize() {
  if (!options.quantization)
    return true;
  bool trains = package.trains();
  if (!trains && options.weightMode == WeightMode::Baked)
    return true;
  diags.report(program->functions.front()->range, diag::QuantizedModel,
               options.quantization->name(),
               trains ? "the package would train it"
                      : "the weights are inputs of its kernels");
  return false;
}

/// In the order of names, which does not depend on that of functions.
void PackageWriter::nameFiles() {
  for (const auto &function : program->functions)
    if (function->kind == FunctionKind::Kernel)
      stems[function->name];
  FileNames files;
  for (auto &[kernel, stem] : stems)
    stem = files.addStem(kernel, ".mil");
}

bool PackageWriter::writeKernels(AtomicFiles &files) {
  nameFiles();
  for (auto &function : program->functions) {
    if (function->kind != FunctionKind::Kernel)
      continue;
    std::optional<LoweredKernel> kernel =
        lowerKernel(function, options, values->executor(), values->exactForms(),
                    diags, reports);
    if (!kernel || !writeKernel(*kernel, files))
      return false;
    if (kernel->quantized)
      skips.insert(kernel->quantized->usedSkips().begin(),
                   kernel->quantized->usedSkips().end());
    package.kernels.push_back(std::move(kernel->description));
  }
  llvm::sort(package.kernels);
  notePassedWeights();
  return true;
}

/// Records which weights are passed to which kernel inputs.
void PackageWriter::notePassedWeights() {
  for (const Function *entry : entryPoints(*program))
    walkPassedWeights(
        *program, *entry,
        [&](const Op &call, unsigned input, const WeightView &view) {
          PackagedKernel &kernel =
              *llvm::find_if(package.kernels, [&](const PackagedKernel &other) {
                return other.name == call.get(param::callee);
              });
          std::vector<WeightView> &views = kernel.inputs[input].views;
          if (!llvm::is_contained(views, view))
            views.push_back(view);
        });
}

/// The contents of the weight file of an instance, if it has weights alone.
static std::string recordsOf(const PackagedKernel &kernel,
                             std::optional<int64_t> instance) {
  std::string records;
  for (const PackagedConstant &constant : kernel.constants) {
    const WeightView &view = constant.view;
    records += std::to_string(constant.offset) + " " + arrayOf(view, instance) +
               " " + view.str() + " " + view.type().str();
    if (constant.quantized)
      records +=
          " " +
          spelling(constant.quantized->part, constant.quantized->form).str();
    records += "\n";
  }
  return records;
}

static const QuantizedPart *partOf(const LoweredKernel &kernel,
                                   const Op &weight) {
  return kernel.quantized ? kernel.quantized->find(weight) : nullptr;
}

bool PackageWriter::writeKernel(LoweredKernel &kernel, AtomicFiles &files) {
  PackagedKernel &out = kernel.description;
  MILPrintOptions print;
  print.version = options.milVersion;
  print.executor = &values->executor();
  print.written = [&] { values->binding().releasePages(); };
  const std::string &stem = stems[out.name];
  print.weightPath = "@model_path/weights/" + stem + ".bin";
  std::optional<PlacedMIL> placed =
      PlacedMIL::place(*kernel.module, print, diags);
  if (!placed)
    return false;
  for (const PlacedMIL::Record &record : placed->weights()) {
    PackagedConstant &constant = out.constants.emplace_back();
    constant.offset = record.offset;
    const QuantizedPart *part = partOf(kernel, *record.weight);
    constant.view = values->ownView(part ? part->view : viewOf(*record.weight));
    if (part)
      constant.quantized = {part->form, part->part, part->type};
  }
  out.mil = "kernels/" + stem + ".mil";
  OutputFile *text = add(out.mil, files);
  if (!text)
    return false;
  placed->printText(*text);
  // Closed before the next one is opened: there can be hundreds of files.
  if (!commit(files))
    return false;
  for (std::optional<int64_t> instance : used.ofKernels[out.name])
    if (!writeInstance(kernel, *placed, instance, files))
      return false;
  return true;
}

/// Without weights, instances differ only in their number. Kernels that read
/// the same weights from the same places share their files: programs that
/// differ only in their number of positions.
bool PackageWriter::writeInstance(LoweredKernel &kernel,
                                  const PlacedMIL &placed,
                                  std::optional<int64_t> instance,
                                  AtomicFiles &files) {
  PackagedKernel &out = kernel.description;
  auto valueOf = [&](const Op &op) {
    auto resolve = [&](const WeightView &view) {
      return values->resolve(values->ownView(view), instance, op.range(),
                             diags);
    };
    const QuantizedPart *part = partOf(kernel, op);
    if (!part)
      return resolve(viewOf(op));
    return kernel.quantized->resolve(
        *part, arrayOf(values->ownView(part->view), instance), resolve, diags);
  };
  bool own = instance && !out.constants.empty();
  std::string name = "weights/" + stems[out.name] +
                     (own ? "." + std::to_string(*instance) : "") + ".bin";
  if (placed.needsWeightFile() && placed.hasOnlyWeights())
    name = fileWithRecords.try_emplace(recordsOf(out, instance), name)
               .first->second;
  PackagedInstance &made = out.instances.emplace_back();
  made.index = instance;
  if (!placed.needsWeightFile())
    return true;
  made.weights = name;
  if (llvm::any_of(package.files,
                   [&](const PackagedFile &file) { return file.path == name; }))
    return true;
  package.files.push_back({name, 0, ""});
  return placed.addWeightFile("", name, valueOf, files, diags) && commit(files);
}

//===----------------------------------------------------------------------===//
// The host's part
//===----------------------------------------------------------------------===//

/// Whether something was quantized, and all that is skipped is there.
bool PackageWriter::checkQuantized() {
  if (!options.quantization)
    return true;
  skips.merge(host->usedSkips());
  if (!checkSkips(*options.quantization, skips, diags))
    return false;
  if (!package.isQuantized() && !options.quantization->isExact)
    diags.report({}, diag::NothingQuantized,
                 options.quantization->fewestElements);
  return true;
}

/// Weights of the host, when there are values.
bool PackageWriter::writeValues(AtomicFiles &files) {
  std::optional<std::vector<PlannedArray>> arrays = host->plan(package);
  if (!arrays || arrays->empty())
    return arrays.has_value();
  package.values = "weights/model.safetensors";
  OutputFile *file = add(package.values, files);
  return file && writeSafetensors(*file, *arrays, package.facts.entries());
}

/// The same elements, which the text has itself: the schedule has no weight
/// file beside it.
static ConstantRef withoutOrigin(const Constant &constant) {
  ConstantRef held(&constant);
  if (!constant.origin())
    return held;
  return Constant::view(constant.type(), constant.storedDType(),
                        constant.bytes(), std::make_shared<ConstantRef>(held));
}

bool PackageWriter::writeSchedule(AtomicFiles &files) {
  OutputFile *file = add("schedule.ir", files);
  if (!file)
    return false;
  for (const auto &function : program->functions)
    for (Op &op : function->body())
      if (op.is(ops::Const))
        op.setConstant(param::val, withoutOrigin(*op.constant(param::val)));
  printIR(*program, *file);
  return true;
}

/// Copies the map of names, so that a package takes the weights that its
/// program was imported from wherever it is.
bool PackageWriter::writeWeightMap(AtomicFiles &files) {
  std::string path = options.weights.mapping.empty()
                         ? findWeightMap(options.weights.program)
                         : options.weights.mapping;
  if (path.empty())
    return true;
  llvm::StringMap<std::string> names;
  MappedFile map =
      readWeightMap(path, names, diags) ? mapFile(path, diags) : nullptr;
  OutputFile *file = map ? add(packagedWeightMap, files) : nullptr;
  if (file)
    *file << map->getBuffer();
  return file;
}

/// Commits `files`, whose digests are computed from now on.
bool PackageWriter::commit(AtomicFiles &files) {
  if (!files.commit())
    return false;
  for (; committed < package.files.size(); ++committed)
    digests->add(package.files[committed].path);
  return true;
}

bool PackageWriter::setDigests() {
  if (!digests->finish(package.files, diags))
    return false;
  llvm::StringMap<llvm::StringRef> digestOf;
  for (const PackagedFile &file : package.files)
    digestOf[file.path] = file.digest;
  for (PackagedKernel &kernel : package.kernels)
    for (PackagedInstance &instance : kernel.instances) {
      std::string both = digestOf[kernel.mil].str();
      if (!instance.weights.empty())
        both += digestOf[instance.weights];
      instance.digest = blake3(llvm::arrayRefFromStringRef(both));
    }
  llvm::sort(package.files,
             [](const auto &a, const auto &b) { return a.path < b.path; });
  return true;
}

bool PackageWriter::begin() {
  package.compiler = "anec " ANEC_VERSION;
  package.target = options.passes.target->name.str();
  package.config = program->config;
  llvm::sort(package.config);
  package.facts = options.facts;
  package.io = options.io;
  package.weightMode = options.weightMode.value_or(WeightMode::Packed);
  if (!prepare())
    return false;
  for (const Function *entry : entryPoints(*program))
    package.entries.push_back(PackagedEntry::of(*entry));
  return canQuantize();
}

/// Writes all files; `folder` is where they are, for messages.
bool PackageWriter::writeFiles(AtomicFiles &files, llvm::StringRef folder) {
  if (!writeKernels(files) || !host->quantize(*program, package) ||
      !checkQuantized() || !writeValues(files) || !writeSchedule(files) ||
      !writeWeightMap(files) || !commit(files) || !setDigests())
    return false;
  OutputFile *manifest = files.add("manifest.json");
  if (!manifest)
    return false;
  if (std::string error; !printManifest(package, *manifest, error)) {
    diags.reportFile((folder + "/manifest.json").str(), diag::CannotWrite,
                     error);
    return false;
  }
  return files.commit();
}

bool PackageWriter::write(llvm::StringRef path) {
  if (!begin())
    return false;
  std::unique_ptr<AtomicFolder> folder =
      AtomicFolder::create(path, packageFolder(), diags);
  if (!folder)
    return false;
  digests.emplace(values->executor(), folder->folder());
  AtomicFiles files(folder->folder(), diags);
  return writeFiles(files, path) && folder->commit();
}

bool PackageWriter::write(NamedFiles &memory, llvm::StringRef name) {
  if (!begin())
    return false;
  digests.emplace(values->executor(), memory);
  AtomicFiles files(memory, name, diags);
  return writeFiles(files, name);
}

bool anec::writePackage(std::unique_ptr<Module> program, llvm::StringRef path,
                        const PackageOptions &options, Diagnostics &diags,
                        std::vector<PassReport> *reports) {
  return PackageWriter(std::move(program), options, diags, reports).write(path);
}

bool anec::writePackage(std::unique_ptr<Module> program, NamedFiles &files,
                        llvm::StringRef name, const PackageOptions &options,
                        Diagnostics &diags, std::vector<PassReport> *reports) {
  return PackageWriter(std::move(program), options, diags, reports)
      .write(files, name);
}

bool anec::isPackagePath(llvm::StringRef path) {
  return llvm::sys::path::extension(path.rtrim('/')) == ".anepkg";
}
