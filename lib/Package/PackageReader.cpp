//===- PackageReader.cpp - reading and checking packages ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FolderOnDemand.h"
#include "PortPlaces.h"
#include "anec/MIL/Reader.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Support/MappedFile.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/Diags.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Support/Digest.h"
#include "lib/Support/FileName.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

bool PackagedWeight::has(int64_t instance) const {
  return std::binary_search(instances.begin(), instances.end(), instance);
}

std::vector<std::string> PackagedWeight::arrays() const {
  std::vector<std::string> names;
  for (int64_t instance : instances)
    names.push_back(instanceName(name, instance));
  if (names.empty())
    names.push_back(name);
  return names;
}

bool ModelPackage::isQuantized() const {
  return !hostParts.empty() ||
         llvm::any_of(kernels, [](const PackagedKernel &kernel) {
           return llvm::any_of(kernel.constants,
                               [](const PackagedConstant &constant) {
                                 return constant.quantized.has_value();
                               });
         });
}

bool ModelPackage::trains() const {
  return llvm::any_of(entries, [](const PackagedEntry &entry) {
    return entry.role == FunctionRole::Train;
  });
}

const PackagedKernel *ModelPackage::findKernel(llvm::StringRef name) const {
  for (const PackagedKernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

const PackagedWeight *ModelPackage::findWeight(llvm::StringRef name) const {
  for (const PackagedWeight &weight : weights)
    if (weight.name == name)
      return &weight;
  return nullptr;
}

TensorType anec::storedPartType(const TensorType &type) {
  return bitWidth(type.dtype) < 8
             ? TensorType(DType::UInt8, {int64_t(type.numBytes())})
             : type;
}

const PackagedHostPart *ModelPackage::findHostPart(llvm::StringRef name) const {
  for (const PackagedHostPart &part : hostParts)
    if (part.name == name)
      return &part;
  return nullptr;
}

std::string ModelPackage::pathOf(llvm::StringRef file) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Tells whether another folder has taken the place of a folder since.
class FolderWatch {
public:
  explicit FolderWatch(llvm::StringRef path) : path(path) {
    // While it is open, no other folder gets its identity.
    descriptor = ::open(this->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  FolderWatch(const FolderWatch &) = delete;
  ~FolderWatch() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  bool isReplaced() const {
    struct stat then = {}, now = {};
    return descriptor >= 0 && !::fstat(descriptor, &then) &&
           !::stat(path.c_str(), &now) &&
           (then.st_ino != now.st_ino || then.st_dev != now.st_dev);
  }

private:
  std::string path;
  int descriptor;
};
} // namespace

/// Opens the manifest and all files that it lists. A file that cannot be opened
/// is missing in `contents`.
static void openFiles(ModelPackage &package) {
  auto open = [&](llvm::StringRef file) {
    std::string ignored;
    if (MappedFile bytes = mapFile(package.pathOf(file), ignored))
      package.contents[file] = std::move(bytes);
  };
  open("manifest.json");
  for (const PackagedFile &file : package.files)
    if (isFilePath(file.path))
      open(file.path);
}

/// Reads the manifest and opens all files, those of one version of the package
/// while compilers replace it.
static bool openPackage(ModelPackage &package, Diagnostics &diags) {
  std::string manifest = package.pathOf("manifest.json");
  auto parse = [&](Diagnostics &reports) {
    std::optional<llvm::StringRef> text = reports.addFile(manifest);
    return text && parseManifest(*text, manifest, package, reports);
  };
  std::string folder = package.folder;
  for (unsigned attempt = 0; attempt != 100; ++attempt) {
    package = ModelPackage();
    package.folder = folder;
    FolderWatch watch(folder);
    Diagnostics first;
    bool ok = parse(first);
    if (ok)
      openFiles(package);
    if (!watch.isReplaced()) {
      // Again for its messages, which need the text.
      if (!ok || !first.all().empty())
        break;
      return true;
    }
  }
  package = ModelPackage();
  package.folder = folder;
  if (!parse(diags))
    return false;
  openFiles(package);
  return true;
}

/// The files that have weights, and may be large.
static llvm::StringSet<> weightFilesIn(const ModelPackage &package) {
  llvm::StringSet<> files;
  files.insert(package.values);
  for (const PackagedKernel &kernel : package.kernels)
    for (const PackagedInstance &instance : kernel.instances)
      files.insert(instance.weights);
  return files;
}

static bool checkFile(const ModelPackage &package, const PackagedFile &file,
                      bool checksDigest, Diagnostics &diags) {
  MappedFile bytes = package.contents.lookup(file.path);
  if (!bytes) {
    std::string error;
    if (mapFile(package.pathOf(file.path), error))
      error = "it appeared while the package was read";
    diags.reportFile(package.folder, diag::PackageFileMissing, file.path,
                     error);
    return false;
  }
  if (bytes->getBufferSize() != file.bytes) {
    diags.reportFile(package.folder, diag::PackageFileSize, file.path,
                     bytes->getBufferSize(), file.bytes);
    return false;
  }
  if (checksDigest && blake3(bytesOf(*bytes)) != file.digest) {
    diags.reportFile(package.folder, diag::PackageFileChanged, file.path);
    return false;
  }
  return true;
}

static bool checkFiles(const ModelPackage &package, PackageCheck check,
                       Diagnostics &diags) {
  llvm::StringSet<> listed, large = weightFilesIn(package);
  bool ok = true;
  for (const PackagedFile &file : package.files) {
    // Paths in the manifest must not leave the package.
    if (!isFilePath(file.path)) {
      diags.reportFile(package.folder, diag::BadManifest,
                       "`" + showFileName(file.path) +
                           "` is not a path in the package");
      return false;
    }
    listed.insert(file.path);
    bool checksDigest =
        check == PackageCheck::Digests || !large.contains(file.path);
    ok &= checkFile(package, file, checksDigest, diags);
  }
  auto require = [&](llvm::StringRef path) {
    if (path.empty() || listed.contains(path))
      return;
    diags.reportFile(package.folder, diag::BadManifest,
                     "`" + path.str() + "` is not among `files`");
    ok = false;
  };
  require("schedule.ir");
  require(package.values);
  for (const PackagedKernel &kernel : package.kernels) {
    require(kernel.mil);
    for (const PackagedInstance &instance : kernel.instances)
      require(instance.weights);
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// Whether a kernel has the tensors and roles that the schedule declares.
static bool fits(const Function &declaration, const PackagedKernel &kernel) {
  if (declaration.parameters().size() != kernel.inputs.size() ||
      declaration.numResults() != kernel.outputs.size() ||
      declaration.role != kernel.role || declaration.of() != kernel.owner)
    return false;
  for (auto [param, tensor] :
       llvm::zip_equal(declaration.parameters(), kernel.inputs))
    if (!(param->type == tensor.type) || param->role() != tensor.role ||
        tensor.port >= kernel.inputPorts.size())
      return false;
  for (auto [result, role, tensor] :
       llvm::zip_equal(declaration.resultValues(), declaration.resultRoles(),
                       kernel.outputs))
    if (!(result->type == tensor.type) || role != tensor.role ||
        tensor.port >= kernel.outputPorts.size())
      return false;
  return true;
}

/// Whether the tensors have the places in `ports` that packages are written
/// with. Any others could be within the ports too, and exchange elements.
static bool fitsPorts(const ModelPackage &package,
                      llvm::ArrayRef<PackagedTensor> tensors,
                      llvm::ArrayRef<TensorType> ports, PortKind kind) {
  llvm::SmallVector<TensorType, 8> types;
  for (const PackagedTensor &tensor : tensors)
    types.push_back(tensor.type);
  std::optional<std::vector<PortPlace>> places =
      placeTensors(types, ports, package.io, kind);
  return places &&
         llvm::equal(tensors, *places,
                     [](const PackagedTensor &tensor, const PortPlace &place) {
                       return tensor.port == place.port &&
                              tensor.region == place.region;
                     });
}

/// Whether `weight` matches the source of `view`, for a kernel with these
/// instances.
static bool fits(const PackagedWeight &weight, const WeightView &view,
                 llvm::ArrayRef<PackagedInstance> instances) {
  auto has = [&](std::optional<int64_t> instance) {
    return instance && weight.has(*instance);
  };
  if (weight.type.shape != view.array.sourceShape())
    return false;
  switch (view.instance.kind) {
  case WeightInstance::Kind::None:
    return weight.instances.empty();
  case WeightInstance::Kind::Number:
    return has(view.instance.number);
  case WeightInstance::Kind::Own:
    break;
  }
  return llvm::all_of(instances, [&](const PackagedInstance &instance) {
    return has(instance.index);
  });
}

/// Checks the weight views that the manifest lists for kernels.
static bool checkViews(const ModelPackage &package, Diagnostics &diags) {
  bool ok = true;
  auto check = [&](const PackagedKernel &kernel, const WeightView &view,
                   llvm::ArrayRef<PackagedInstance> instances) {
    const PackagedWeight *weight = package.findWeight(view.weight);
    if (weight && fits(*weight, view, instances))
      return;
    diags.reportFile(package.folder, diag::BadManifest,
                     "kernel `" + kernel.name + "` has a view of no weight: `" +
                         view.str() + "`");
    ok = false;
  };
  for (const PackagedKernel &kernel : package.kernels) {
    for (const PackagedConstant &constant : kernel.constants)
      check(kernel, constant.view, kernel.instances);
    // Calls, which name the instance, are compared with these.
    for (const PackagedTensor &input : kernel.inputs)
      for (const WeightView &view : input.views)
        check(kernel, view, {});
  }
  return ok;
}

/// Whether all weights that calls pass to kernels are in the manifest.
static bool checkPassedWeights(const ModelPackage &package,
                               const Function &entry, Diagnostics &diags) {
  bool ok = true;
  walkPassedWeights(
      *package.schedule, entry,
      [&](const Op &call, unsigned input, const WeightView &view) {
        const PackagedKernel &kernel =
            *package.findKernel(call.get(param::callee));
        if (!ok || llvm::is_contained(kernel.inputs[input].views, view))
          return;
        diags.reportFile(package.folder, diag::ScheduleMismatch,
                         "kernel `" + kernel.name + "` gets `" + view.str() +
                             "`, which its input `" +
                             kernel.inputs[input].name + "` does not list");
        ok = false;
      });
  return ok;
}

/// Whether `value` is nothing but a weight of the product `op`.
static bool isWeightOf(const Value *value, const Op &op) {
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (op.operand(slot) == value && !productAxes(op, slot))
      return false;
  return true;
}

/// Checks the names of the host's parts, and that products alone read what is
/// unpacked from them.
static bool checkHostParts(const ModelPackage &package, Diagnostics &diags) {
  llvm::StringRef before;
  for (const PackagedHostPart &part : package.hostParts) {
    if (part.name <= before || package.findWeight(part.name)) {
      diags.reportFile(package.folder, diag::BadManifest,
                       "`host_parts` has `" + part.name +
                           "` twice, as a weight, or out of order");
      return false;
    }
    before = part.name;
  }
  for (const auto &function : package.schedule->functions)
    for (const Op &op : function->body()) {
      if (function->kind != FunctionKind::Host || !unpacksWeight(op))
        continue;
      const Value *unpacked = op.result();
      for (const Operand *use = unpacked->firstUse(); use;
           use = use->nextUse()) {
        if (use->owner() && isWeightOf(unpacked, *use->owner()))
          continue;
        diags.reportFile(package.folder, diag::ScheduleMismatch,
                         "`" + unpacked->name +
                             "` is unpacked for something else than a product");
        return false;
      }
    }
  return true;
}

static bool checkSchedule(const ModelPackage &package, Diagnostics &diags) {
  llvm::StringRef folder = package.folder;
  auto mismatch = [&](const std::string &what) {
    diags.reportFile(folder, diag::ScheduleMismatch, what);
    return false;
  };
  for (const auto &function : package.schedule->functions) {
    if (function->kind == FunctionKind::Host)
      continue;
    const PackagedKernel *kernel = package.findKernel(function->name);
    if (!kernel)
      return mismatch("there is no kernel `" + function->name + "`");
    if (!fits(*function, *kernel))
      return mismatch("kernel `" + function->name +
                      "` is another, or takes or gives other tensors");
    if (!fitsPorts(package, kernel->inputs, kernel->inputPorts,
                   PortKind::Input) ||
        !fitsPorts(package, kernel->outputs, kernel->outputPorts,
                   PortKind::Output))
      return mismatch("kernel `" + function->name +
                      "` has tensors at other places of its ports");
  }
  for (const PackagedEntry &entry : package.entries) {
    const Function *function = package.schedule->findFunction(entry.name);
    if (!function || !function->isEntry())
      return mismatch("there is no entry `" + entry.name + "`");
    if (!(PackagedEntry::of(*function) == entry))
      return mismatch("entry `" + entry.name +
                      "` is another, or takes or gives other values");
  }
  size_t entries = entryPoints(*package.schedule).size();
  if (package.entries.empty() || entries != package.entries.size())
    return mismatch("it has " + std::to_string(entries) + " entries, " +
                    std::to_string(package.entries.size()) + " listed");
  bool ok = true;
  for (const Function *entry : entryPoints(*package.schedule))
    walkSchedule(*package.schedule, *entry,
                 [&](const Op &op, const KnownIntegers &known) {
                   if (!ok || !(op.is(ops::Weight) || op.is(ops::Accumulate)))
                     return;
                   std::string name = op.get(param::name).str();
                   if (const PackagedHostPart *part =
                           package.findHostPart(name)) {
                     if (op.is(ops::Accumulate))
                       ok = mismatch("`" + name + "` has no gradient");
                     else if (op.result()->type != part->quantized.type)
                       ok = mismatch("`" + name + "` is read as `" +
                                     op.result()->type.str() + "`, and is `" +
                                     part->quantized.type.str() + "`");
                     return;
                   }
                   const PackagedWeight *weight = package.findWeight(name);
                   std::optional<int64_t> instance = instanceOf(op, known);
                   bool fits = weight && (instance ? weight->has(*instance)
                                                   : weight->instances.empty());
                   if (!fits)
                     ok = mismatch("there is no weight `" +
                                   instanceName(name, instance) + "`");
                 });
  return ok;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Adds a text of the package to `diags`, which reports errors in it.
static std::optional<llvm::StringRef>
addText(const ModelPackage &package, llvm::StringRef file, Diagnostics &diags) {
  std::string path = package.pathOf(file);
  MappedFile contents = package.contents.lookup(file);
  return contents ? diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                        contents->getBuffer(), path))
                  : diags.addFile(path);
}

/// Reads the schedule of an opened package, and checks it and the files.
static bool readOpened(ModelPackage &package, PackageCheck check,
                       Diagnostics &diags) {
  if (!checkFiles(package, check, diags))
    return false;
  package.schedule =
      parseIR(*addText(package, "schedule.ir", diags), opTable(), diags);
  if (!package.schedule || !checkSchedule(package, diags) ||
      !checkHostParts(package, diags) || !checkViews(package, diags))
    return false;
  for (const Function *entry : entryPoints(*package.schedule))
    if (!checkPassedWeights(package, *entry, diags))
      return false;
  // Last: what differs says more.
  if (package.isChanged)
    diags.reportFile(package.pathOf("manifest.json"), diag::ManifestChanged);
  return !package.isChanged;
}

std::optional<ModelPackage> anec::readPackage(llvm::StringRef folder,
                                              Diagnostics &diags,
                                              PackageCheck check) {
  ModelPackage package;
  package.folder = folder.rtrim('/').str();
  if (!openPackage(package, diags) || !readOpened(package, check, diags))
    return std::nullopt;
  return package;
}

static std::optional<ModelPackage>
readInMemory(NamedFiles files, llvm::StringRef name,
             std::shared_ptr<FolderOnDemand> onDemand, Diagnostics &diags) {
  ModelPackage package;
  package.folder = name.str();
  package.contents = std::move(files);
  package.onDemand = std::move(onDemand);
  constexpr llvm::StringLiteral manifest = "manifest.json";
  if (!parseManifest(*addText(package, manifest, diags),
                     package.pathOf(manifest), package, diags) ||
      !readOpened(package, PackageCheck::Presence, diags))
    return std::nullopt;
  return package;
}

std::optional<ModelPackage>
anec::readPackage(NamedFiles files, llvm::StringRef name, Diagnostics &diags) {
  return readInMemory(std::move(files), name,
                      std::make_shared<FolderOnDemand>(), diags);
}

std::optional<ModelPackage> anec::readAgain(const ModelPackage &package,
                                            Diagnostics &diags) {
  return package.isInMemory()
             ? readInMemory(package.contents, package.folder, package.onDemand,
                            diags)
             : readPackage(package.folder, diags, PackageCheck::Presence);
}

/// Whether every read of the record by the program matches the record.
static bool hasRecord(const Function &function,
                      const PackagedConstant &constant) {
  TensorType type = constant.type();
  bool found = false;
  for (const Op &op : function.body())
    for (const ConstantRef &value : op.constants()) {
      if (!value || !value->origin() ||
          value->origin()->offset != constant.offset)
        continue;
      found = true;
      if (value->dtype() != type.dtype ||
          value->numElements() != type.numElements())
        return false;
    }
  return found;
}

std::unique_ptr<Module> anec::loadKernel(const ModelPackage &package,
                                         const PackagedKernel &kernel,
                                         const PackagedInstance &instance,
                                         Diagnostics &diags) {
  std::string path = package.pathOf(kernel.mil);
  std::optional<llvm::StringRef> text = addText(package, kernel.mil, diags);
  if (!text)
    return nullptr;
  MILReadOptions options;
  options.weightFiles = weightFilesOf(package, kernel, instance);
  std::unique_ptr<Module> module = readMIL(
      *text, llvm::sys::path::parent_path(path), opTable(), diags, options);
  if (!module)
    return nullptr;
  // The manifest and the text must agree.
  const Function &function = *module->functions.front();
  auto differs = [&](const auto &values, llvm::ArrayRef<TensorType> ports) {
    return !llvm::equal(values, ports, [](const auto &value, const auto &type) {
      return value->type == type;
    });
  };
  if (module->functions.size() != 1 ||
      differs(function.parameters(), kernel.inputPorts) ||
      differs(function.resultValues(), kernel.outputPorts)) {
    diags.reportFile(path, diag::ScheduleMismatch,
                     "the program takes or gives something else");
    return nullptr;
  }
  for (const PackagedConstant &constant : kernel.constants)
    if (!hasRecord(function, constant)) {
      diags.reportFile(path, diag::ScheduleMismatch,
                       "the program has no constant that is `" +
                           constant.view.str() + "` at " +
                           std::to_string(constant.offset));
      return nullptr;
    }
  return module;
}
