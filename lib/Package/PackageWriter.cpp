//===- PackageWriter.cpp - from a program to a package --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DigestQueue.h"
#include "KernelLowering.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Target/Target.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/IR/Verifier.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
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
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace anec;

namespace {

/// The instances that the entry points use.
using Instances = std::map<std::string, std::set<std::optional<int64_t>>>;

class PackageWriter {
public:
  PackageWriter(std::unique_ptr<Module> program, const PackageOptions &options,
                Diagnostics &diags, std::vector<PassReport> *reports)
      : program(std::move(program)), options(options), diags(diags),
        reports(reports) {}

  bool write(llvm::StringRef path);

private:
  bool prepare();
  bool findInstances();
  void noteWeight(const Op &weight,
                  const std::set<std::optional<int64_t>> &instances);
  void noteGradient(const Op &accumulate, std::optional<int64_t> instance);
  void findWeights();
  WeightView ownView(WeightView view) const;
  ConstantRef resolve(const WeightView &view, std::optional<int64_t> instance,
                      SourceRange range);
  void notePassedWeights();
  bool checkArrays();
  bool canQuantize();
  void nameFiles();
  bool writeKernels(AtomicFiles &files);
  static std::string recordsOf(const PackagedKernel &kernel,
                               std::optional<int64_t> instance);
  bool writeKernel(LoweredKernel &kernel, AtomicFiles &files);
  std::optional<QuantizedForm> findExactForm(const WeightView &view,
                                             ProductAxes axes);
  ExactForm exactForms();
  bool quantizeHost();
  bool checkQuantized();
  std::vector<PlannedArray> planHostParts();
  bool writeValues(AtomicFiles &files);
  bool writeSchedule(AtomicFiles &files);
  bool writeWeightMap(AtomicFiles &files);
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
  std::optional<WeightBinding> values;
  std::optional<DigestQueue> digests; ///< on the executor of `values`
  size_t committed = 0;               ///< files of the package
  Instances kernelInstances;
  std::set<std::string> skips; ///< QuantizedWeights::usedSkips of all kernels
  std::map<std::string, std::string> fileWithRecords;
  std::map<std::string, std::string> stems; ///< of the files of kernels
  std::map<std::string, PackagedWeight> weights;
  /// Weights as their gradients describe them: of those that nothing reads.
  std::map<std::string, PackagedWeight> trained;
  std::map<std::string, std::set<int64_t>> weightInstances; ///< of both
  /// Names of weights that the host passes on or computes with.
  std::set<std::string> hostWeights;
  /// By view and axes, as far as they were asked for.
  std::map<std::string, std::optional<QuantizedForm>> exactFormOf;
  std::unique_ptr<QuantizedWeights> hostQuantized;        ///< null for none
  std::map<std::string, const QuantizedPart *> hostParts; ///< by weight op
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
  if (!verifyRuns(*program, diags) || !findInstances())
    return false;
  llvm::erase_if(program->functions, [&](const auto &function) {
    return function->kind != FunctionKind::Host &&
           !kernelInstances.contains(function->name);
  });
  for (auto &function : program->functions)
    if (function->kind == FunctionKind::Layer)
      function->kind = FunctionKind::Kernel;
  for (const auto &function : program->functions)
    if (function->isDeclaration()) {
      diags.report(function->range, diag::KernelElsewhere, function->name);
      return false;
    }
  values = WeightBinding::open(options.weights, diags);
  if (!values || !values->fits(options.facts, diags))
    return false;
  findWeights();
  std::vector<std::string> names;
  for (const auto &[name, weight] : weights)
    llvm::append_range(names, weight.arrays());
  return checkArrays() && values->hasSome(names, diags);
}

bool PackageWriter::findInstances() {
  bool ok = true;
  for (const Function *entry : entryPoints(*program))
    walkSchedule(
        *program, *entry, [&](const Op &op, const KnownIntegers &known) {
          bool isCall = op.is(ops::Call);
          if (!isCall && !op.is(ops::Weight) && !op.is(ops::Accumulate))
            return;
          std::optional<int64_t> instance = instanceOf(op, known);
          if (op.operand(param::index) && !instance) {
            if (ok)
              diags.report(op.range(), diag::InstanceNotKnown, op.def().name);
            ok = false;
            return;
          }
          if (isCall)
            kernelInstances[op.get(param::callee).str()].insert(instance);
          else if (op.is(ops::Weight))
            noteWeight(op, {instance});
          else
            noteGradient(op, instance);
        });
  return ok;
}

void PackageWriter::noteWeight(
    const Op &op, const std::set<std::optional<int64_t>> &instances) {
  PackagedWeight &weight = weights[op.get(param::name).str()];
  weight.type = viewOf(op).storedType();
  weight.frozen = op.get(param::frozen);
  weight.updated = op.get(param::gradientUse) == GradientUse::Updated;
  for (std::optional<int64_t> instance : instances)
    if (instance)
      weightInstances[op.get(param::name).str()].insert(*instance);
}

void PackageWriter::noteGradient(const Op &accumulate,
                                 std::optional<int64_t> instance) {
  std::string name = accumulate.get(param::name).str();
  PackagedWeight &weight = trained[name];
  weight.name = name;
  weight.type = accumulate.operand(param::value)->type;
  weight.initial = InitialValue::Zeros;
  if (instance)
    weightInstances[name].insert(*instance);
}

void PackageWriter::findWeights() {
  auto throughCall = [&](auto &self, const Op &call, unsigned slot) -> bool {
    const Function *callee = program->findFunction(call.get(param::callee));
    // The index precedes the arguments.
    const Value &parameter = *callee->parameters()[slot - 1];
    return scales(parameter, [&](const Op &inner, unsigned innerSlot) {
      return self(self, inner, innerSlot);
    });
  };
  for (const auto &function : program->functions)
    for (const Op &op : function->body()) {
      if (!op.is(ops::Weight))
        continue;
      std::string name = op.get(param::name).str();
      if (function->kind == FunctionKind::Host)
        hostWeights.insert(name);
      else
        noteWeight(op, kernelInstances[function->name]);
      PackagedWeight &weight = weights[name];
      InitialValue initial =
          initialValue(op, [&](const Op &call, unsigned slot) {
            return throughCall(throughCall, call, slot);
          });
      bool seen = !weight.name.empty();
      // A vector is a scale when any use is one, and a matrix is a table when
      // any use is one; the backward may use it differently.
      if (!seen || initial == InitialValue::Ones ||
          initial == InitialValue::Table)
        weight.initial = initial;
      weight.name = name;
    }
  // The weights of found layers list the names that they had before.
  for (auto &[name, weight] : weights)
    for (const std::string &array : arraysOf(name))
      if (llvm::is_contained(options.zeros, array))
        weight.initial = InitialValue::Zeros;
  // The loss does not depend on weights, or instances of them, that nothing
  // reads, but their gradients, which are zero, have names and shapes.
  std::set<std::string> unread;
  for (const auto &[name, described] : trained)
    if (weights.insert({name, described}).second)
      unread.insert(name);
  for (auto &[name, weight] : weights) {
    const std::set<int64_t> &instances = weightInstances[name];
    weight.instances.assign(instances.begin(), instances.end());
    package.weights.push_back(weight);
    // They keep the values that they have.
    if (unread.contains(name) &&
        llvm::all_of(weight.arrays(), [&](const std::string &array) {
          return values->has(array);
        }))
      hostWeights.insert(name);
  }
}

/// Weights with different names can have arrays with the same name: `a.3.w`
/// belongs to layer `a` or to layer `a.3`.
bool PackageWriter::checkArrays() {
  llvm::StringMap<const PackagedWeight *> owners;
  bool ok = true;
  for (const auto &[name, weight] : weights)
    for (const std::string &array : weight.arrays()) {
      const PackagedWeight *&owner = owners[array];
      if (owner) {
        diags.report(program->functions.front()->range, diag::SameArray,
                     owner->name, name, array);
        ok = false;
      }
      owner = &weight;
    }
  return ok;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Quantized weights are constants that training does not change.
bool PackageWriter::canQuantize() {
  if (!options.quantization)
    return true;
  bool trains = llvm::any_of(package.entries, [](const PackagedEntry &entry) {
    return entry.role == FunctionRole::Train;
  });
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
    std::optional<LoweredKernel> kernel = lowerKernel(
        function, options, values->executor(), exactForms(), diags, reports);
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

/// The view of a weight in a kernel: of the kernel's own instance when the
/// weight has one per instance.
WeightView PackageWriter::ownView(WeightView view) const {
  if (!weights.find(view.weight)->second.instances.empty())
    view.instance = WeightInstance::own();
  return view;
}

/// The name of the array that `view` reads in a program of this instance.
static std::string arrayOf(const WeightView &view,
                           std::optional<int64_t> instance) {
  return instanceName(view.weight, view.instance.resolve(instance));
}

/// The elements that `view` has in a program of this instance.
ConstantRef PackageWriter::resolve(const WeightView &view,
                                   std::optional<int64_t> instance,
                                   SourceRange range) {
  ConstantRef source =
      values->resolve(arrayOf(view, instance), view.storedType(),
                      weights[view.weight].initial, range, diags);
  return source ? view.materialize(source) : nullptr;
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
std::string PackageWriter::recordsOf(const PackagedKernel &kernel,
                                     std::optional<int64_t> instance) {
  std::string records;
  for (const PackagedConstant &constant : kernel.constants) {
    const WeightView &view = constant.view;
    records += std::to_string(constant.offset) + " " +
               instanceName(view.weight, view.instance.resolve(instance)) +
               " " + view.str() + " " + view.type().str();
    if (constant.quantized)
      records +=
          " " +
          spelling(constant.quantized->part, constant.quantized->form).str();
    records += "\n";
  }
  return records;
}

bool PackageWriter::writeKernel(LoweredKernel &kernel, AtomicFiles &files) {
  PackagedKernel &out = kernel.description;
  MILPrintOptions print;
  print.version = options.milVersion;
  print.executor = &values->executor();
  print.written = [&] { values->releasePages(); };
  const std::string &stem = stems[out.name];
  print.weightPath = "@model_path/weights/" + stem + ".bin";
  std::optional<PlacedMIL> placed =
      PlacedMIL::place(*kernel.module, print, diags);
  if (!placed)
    return false;
  QuantizedWeights *quantized = kernel.quantized.get();
  auto partOf = [&](const Op &weight) {
    return quantized ? quantized->find(weight) : nullptr;
  };
  for (const PlacedMIL::Record &record : placed->weights()) {
    PackagedConstant &constant = out.constants.emplace_back();
    constant.offset = record.offset;
    const QuantizedPart *part = partOf(*record.weight);
    constant.view = ownView(part ? part->view : viewOf(*record.weight));
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

  // Without weights, instances differ only in their number. Kernels that read
  // the same weights from the same places share their files: programs that
  // differ only in their number of positions.
  for (std::optional<int64_t> instance : kernelInstances[out.name]) {
    auto valueOf = [&](const Op &op) {
      const QuantizedPart *part = partOf(op);
      if (!part)
        return resolve(ownView(viewOf(op)), instance, op.range());
      return quantized->resolve(
          *part, arrayOf(ownView(part->view), instance),
          [&](const WeightView &view) {
            return resolve(ownView(view), instance, op.range());
          },
          diags);
    };
    bool own = instance && !out.constants.empty();
    std::string name = "weights/" + stem +
                       (own ? "." + std::to_string(*instance) : "") + ".bin";
    if (placed->needsWeightFile() && placed->hasOnlyWeights())
      name = fileWithRecords.try_emplace(recordsOf(out, instance), name)
                 .first->second;
    PackagedInstance &made = out.instances.emplace_back();
    made.index = instance;
    bool written = llvm::any_of(package.files, [&](const PackagedFile &file) {
      return file.path == name;
    });
    if (placed->needsWeightFile())
      made.weights = name;
    if (!placed->needsWeightFile() || written)
      continue;
    package.files.push_back({name, 0, ""});
    if (!placed->addWeightFile("", name, valueOf, files, diags) ||
        !commit(files))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The host's part
//===----------------------------------------------------------------------===//

/// Programs of all instances of a layer have one text, so the arrays of all
/// must have one exact form.
std::optional<QuantizedForm>
PackageWriter::findExactForm(const WeightView &view, ProductAxes axes) {
  const PackagedWeight &weight = weights.find(view.weight)->second;
  std::vector<std::optional<int64_t>> instances(weight.instances.begin(),
                                                weight.instances.end());
  if (instances.empty())
    instances.push_back(std::nullopt);
  std::optional<QuantizedForm> form;
  for (std::optional<int64_t> instance : instances) {
    // Errors are reported where the weight is written.
    Diagnostics ignored;
    ConstantRef value =
        values->resolve(arrayOf(ownView(view), instance), view.storedType(),
                        weight.initial, {}, ignored);
    value = value ? view.materialize(value) : nullptr;
    std::optional<QuantizedForm> own;
    if (value)
      own = exactForm(*value, axes, *options.quantization, values->executor());
    values->releasePages();
    if (!own)
      return std::nullopt;
    // The integers of 4 bits are some of those of 8.
    bool isWider = form == QuantizedForm::Int8 || own == QuantizedForm::Int8;
    form = isWider ? QuantizedForm::Int8 : QuantizedForm::Int4;
  }
  return form;
}

/// Kernels that differ in their number of positions read the same views.
ExactForm PackageWriter::exactForms() {
  return [this](const WeightView &view,
                ProductAxes axes) -> std::optional<QuantizedForm> {
    if (!values->hasValues())
      return std::nullopt;
    std::string key = view.weight + " " + view.str() + " " +
                      std::to_string(axes.outputs) + " " +
                      std::to_string(axes.inputs);
    auto [it, isNew] = exactFormOf.try_emplace(key);
    if (isNew)
      it->second = findExactForm(view, axes);
    return it->second;
  };
}

/// Quantizes the weights of the host's own products: of a classifier that is
/// the table of embeddings too. These are not calibrated, and their inputs are
/// not rounded.
bool PackageWriter::quantizeHost() {
  if (!options.quantization || options.quantization->activations ||
      !values->hasValues())
    return true;
  QuantizeOptions host;
  host.quantization = *options.quantization;
  host.report = options.quantizationReport;
  host.onHost = true;
  host.exactForm = exactForms();
  hostQuantized =
      std::make_unique<QuantizedWeights>(std::move(host), values->executor());
  std::set<std::string> read;
  for (const auto &function : program->functions) {
    if (function->kind != FunctionKind::Host)
      continue;
    if (!hostQuantized->rewrite(*function, nullptr, diags))
      return false;
    for (const Op &op : function->body())
      if (op.is(ops::Weight) && !hostQuantized->find(op))
        read.insert(op.get(param::name).str());
  }
  for (const auto &function : program->functions)
    for (const Op &op : function->body())
      if (const QuantizedPart *part = hostQuantized->find(op)) {
        hostParts[op.get(param::name).str()] = part;
        if (!read.contains(part->view.weight))
          hostWeights.erase(part->view.weight);
      }
  for (const auto &[name, part] : hostParts)
    package.hostParts.push_back(
        {name, part->view, {part->form, part->part, part->type}});
  skips.insert(hostQuantized->usedSkips().begin(),
               hostQuantized->usedSkips().end());
  return true;
}

/// Whether something was quantized, and all that is skipped is there.
bool PackageWriter::checkQuantized() {
  if (!options.quantization)
    return true;
  if (!checkSkips(*options.quantization, skips, diags))
    return false;
  if (!package.isQuantized() && !options.quantization->isExact)
    diags.report({}, diag::NothingQuantized,
                 options.quantization->fewestElements);
  return true;
}

/// The arrays of the host's parts, as they are stored.
std::vector<PlannedArray> PackageWriter::planHostParts() {
  std::vector<PlannedArray> arrays;
  auto plan = [&](const std::string &name, const QuantizedPart &part) {
    TensorType type = storedPartType(part.type);
    auto make = [this, part, type]() -> ConstantRef {
      ConstantRef value = hostQuantized->resolve(
          part, part.view.weight,
          [&](const WeightView &view) {
            return resolve(view, std::nullopt, part.range);
          },
          diags);
      values->releasePages();
      if (!value || type.dtype == value->dtype())
        return value;
      return Constant::view(type, type.dtype, value->bytes(),
                            std::make_shared<ConstantRef>(value));
    };
    arrays.push_back({name, type, make});
  };
  // Bytes come last: what follows them can be at odd offsets.
  for (WeightPart wanted : {WeightPart::Table, WeightPart::Data})
    for (const auto &[name, part] : hostParts)
      if (part->part == wanted)
        plan(name, *part);
  return arrays;
}

/// Weights of the host, when there are values. Training changes all weights on
/// the host, those of kernels too. Without training, baked weights have the
/// type of the program in files too, so that a session reads them in place;
/// otherwise the stored type is kept.
bool PackageWriter::writeValues(AtomicFiles &files) {
  bool trains = llvm::any_of(package.entries, [](const PackagedEntry &entry) {
    return entry.role == FunctionRole::Train;
  });
  if (trains && package.weightMode == WeightMode::Baked)
    for (const auto &[name, weight] : weights)
      hostWeights.insert(name);
  if (!values->hasValues() ||
      (hostWeights.empty() && package.hostParts.empty()))
    return true;
  std::vector<PlannedArray> arrays;
  for (const std::string &name : hostWeights) {
    const PackagedWeight &weight = weights[name];
    for (const std::string &array : weight.arrays()) {
      ConstantRef value =
          values->resolve(array, TensorType(DType::FP32, weight.type.shape),
                          weight.initial, {}, diags);
      if (!value)
        return false;
      bool rounds = !trains && package.weightMode == WeightMode::Baked &&
                    weight.type.dtype == DType::FP16;
      value = declaredAs(value, rounds ? DType::FP16 : value->storedDType());
      arrays.push_back({array, value->type(), [this, value] {
                          values->releasePages();
                          return value;
                        }});
    }
  }
  llvm::append_range(arrays, planHostParts());
  package.values = "weights/model.safetensors";
  OutputFile *file = add(package.values, files);
  return file && writeSafetensors(*file, arrays, package.facts.entries());
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

bool PackageWriter::write(llvm::StringRef path) {
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
  if (!canQuantize())
    return false;
  std::unique_ptr<AtomicFolder> folder =
      AtomicFolder::create(path, packageFolder(), diags);
  if (!folder)
    return false;
  digests.emplace(values->executor(), folder->folder());
  AtomicFiles files(folder->folder(), diags);
  if (!writeKernels(files) || !quantizeHost() || !checkQuantized() ||
      !writeValues(files) || !writeSchedule(files) || !writeWeightMap(files) ||
      !commit(files) || !setDigests())
    return false;
  AtomicFiles last(folder->folder(), diags);
  OutputFile *manifest = last.add("manifest.json");
  if (!manifest)
    return false;
  if (std::string error; !printManifest(package, *manifest, error)) {
    diags.reportFile((path + "/manifest.json").str(), diag::CannotWrite, error);
    return false;
  }
  return last.commit() && folder->commit();
}

bool anec::writePackage(std::unique_ptr<Module> program, llvm::StringRef path,
                        const PackageOptions &options, Diagnostics &diags,
                        std::vector<PassReport> *reports) {
  return PackageWriter(std::move(program), options, diags, reports).write(path);
}

bool anec::isPackagePath(llvm::StringRef path) {
  return llvm::sys::path::extension(path.rtrim('/')) == ".anepkg";
}
