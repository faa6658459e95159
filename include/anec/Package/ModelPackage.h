//===- ModelPackage.h - a compiled model ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A package is a folder: kernels as MIL, their weights, the host schedule that
/// calls them, and manifest.json, which describes them. docs/formats/package.md
/// specifies the format; this is its in-memory form. One that is compiled to be
/// run has the same files, but in memory.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_MODELPACKAGE_H
#define ANEC_PACKAGE_MODELPACKAGE_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/IR/WeightView.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Passes/PassManager.h"
#include "anec/Quantize/QuantizeWeights.h"
#include "anec/Support/NamedFiles.h"
#include "anec/Support/Words.h"

namespace anec {

struct ActualFile;
struct FolderKind;
class FolderOnDemand;

/// The format version that is written, and the only one that is read.
constexpr int64_t packageFormat = 4;

/// `packed`: one input and one output for each kernel. `separate`: one for each
/// tensor, named in their order.
ANEC_ENUM(IOMode, (Packed, "packed"), (Separate, "separate"))
/// `packed`: the host passes weights to kernels. `baked`: they are constants of
/// the kernels.
ANEC_ENUM(WeightMode, (Packed, "packed"), (Baked, "baked"))

/// An input or output tensor of a kernel, and its place in the kernel's ports.
struct PackagedTensor {
  std::string name;
  TensorType type;
  ValueRole role = ValueRole::Input;
  unsigned port = 0;
  Region region;
  /// For an input: the weight views that calls pass here. Usually one; empty
  /// when the input is not a weight.
  std::vector<WeightView> views;
};

/// A record of a quantized weight.
struct PackagedPart {
  Quantization form;
  WeightPart part = WeightPart::Data;
  TensorType type; ///< of the record
};

/// A weight, or a part of a quantized one, that is a constant of a kernel.
struct PackagedConstant {
  uint64_t offset = 0; ///< of the record in the weight file
  WeightView view;     ///< contents of the record, if it is not quantized
  /// The part of the quantized view that the record holds. A session cannot
  /// change it.
  std::optional<PackagedPart> quantized;

  /// The type of the record's elements.
  TensorType type() const { return quantized ? quantized->type : view.type(); }
};

/// A part of a quantized weight that the host computes with: an array of
/// `ModelPackage::values`, which the schedule reads as a weight of its own.
/// Numbers of less than 8 bits are stored as bytes. A session cannot change it.
struct PackagedHostPart {
  std::string name;
  WeightView view; ///< of the weight
  PackagedPart quantized;
};

/// The type of the array that stores a part of type `type`: the format has no
/// numbers of less than 8 bits, which are there as bytes.
TensorType storedPartType(const TensorType &type);

/// A program with values for its weights.
struct PackagedInstance {
  std::optional<int64_t> index; ///< of the repeated layer; none otherwise
  std::string weights;          ///< the weight file; empty for none
  /// BLAKE3 of the digests of the MIL text and the weight file.
  std::string digest;
};

struct PackagedKernel {
  std::string name;
  FunctionRole role = FunctionRole::Forward;
  std::string owner; ///< the layer or model it belongs to
  std::string mil;   ///< the file
  std::vector<PackagedTensor> inputs, outputs;
  std::vector<TensorType> inputPorts, outputPorts;
  std::vector<PackagedConstant> constants;
  std::vector<PackagedInstance> instances; ///< sorted by index

  unsigned ops = 0;
  int64_t flops = 0;
  uint64_t inputBytes = 0, outputBytes = 0, weightBytes = 0;
  /// Inputs, outputs, weights, and the peak size of intermediate values.
  uint64_t workingSet = 0;
  double microseconds = 0; ///< predicted

  bool operator<(const PackagedKernel &other) const {
    return name < other.name;
  }
};

/// A weight of the model, as the schedule and the kernels name it.
struct PackagedWeight {
  std::string name; ///< `attention.wq`, or `llama.norm`
  TensorType type;
  /// Instances of the repeated layer, each with its own values, sorted; empty
  /// when there is only one.
  std::vector<int64_t> instances;
  InitialValue initial = InitialValue::Normal;
  /// Whether training leaves it as it is.
  bool frozen = false;
  /// Whether its gradient is its change, whatever the optimizer: of running
  /// statistics.
  bool updated = false;

  bool has(int64_t instance) const;
  /// Names of the arrays: `attention.0.wq`, ...
  std::vector<std::string> arrays() const;
};

/// An input or output of an entry.
struct PackagedValue {
  std::string name;
  TensorType type;
  ValueRole role = ValueRole::Input;
  std::optional<RandomMask> mask; ///< how a random mask is drawn
  bool operator==(const PackagedValue &) const = default;
};

/// A host function of the schedule that can be run. The schedule defines it;
/// the manifest repeats it for readers without an IR parser.
struct PackagedEntry {
  std::string name;
  FunctionRole role = FunctionRole::Forward;
  std::string owner; ///< the model it belongs to
  std::vector<PackagedValue> inputs, outputs;

  static PackagedEntry of(const Function &function);
  /// The index of the input or output of this role; nothing when there is none
  /// or more than one.
  std::optional<size_t> inputOf(ValueRole role) const;
  std::optional<size_t> outputOf(ValueRole role) const;
  bool operator==(const PackagedEntry &) const = default;
};

struct PackagedFile {
  std::string path;
  uint64_t bytes = 0;
  std::string digest; ///< BLAKE3
};

struct ModelPackage {
  /// Where it was read from; of a package in memory, what it was compiled of,
  /// for messages. `folderOf` gives a folder of either.
  std::string folder;
  std::string compiler, target;
  std::vector<std::pair<std::string, std::string>> config;
  /// Empty in packages of an older anec.
  ModelFacts facts;
  IOMode io = IOMode::Packed;
  WeightMode weightMode = WeightMode::Packed;
  std::vector<PackagedKernel> kernels; ///< sorted by name
  std::vector<PackagedWeight> weights; ///< sorted by name
  std::vector<PackagedEntry> entries;
  std::string values; ///< the file with weights for the host; may be empty
  std::vector<PackagedHostPart> hostParts; ///< in `values`, sorted by name
  std::vector<PackagedFile> files;         ///< all except the manifest, sorted
  /// Their contents and the manifest when the package was read: another one
  /// that takes its place later changes nothing. Empty when the manifest alone
  /// was read.
  NamedFiles contents;
  /// The manifest that was read has not the digest that was written with it.
  bool isChanged = false;
  /// Host functions, and declarations of the kernels.
  std::unique_ptr<Module> schedule;
  /// The folder that `folderOf` gives of a package in memory; null for others.
  std::shared_ptr<FolderOnDemand> onDemand;

  bool isInMemory() const { return onDemand != nullptr; }
  /// Whether it has an entry that trains.
  bool trains() const;
  /// Whether there are quantized weights, which nothing can replace.
  bool isQuantized() const;
  const PackagedKernel *findKernel(llvm::StringRef name) const;
  const PackagedWeight *findWeight(llvm::StringRef name) const;
  const PackagedHostPart *findHostPart(llvm::StringRef name) const;
  const PackagedEntry *findEntry(llvm::StringRef name) const;
  /// The entries with this role: of the model `owner` or, when it is empty, of
  /// all models.
  std::vector<const PackagedEntry *>
  findEntries(FunctionRole role, llvm::StringRef owner = "") const;
  /// The path of `file` as it can be opened.
  std::string pathOf(llvm::StringRef file) const;
};

/// How weights are stored as integers.
struct QuantizationOptions {
  /// The form of the weights of products, which are quantized after the passes;
  /// unset: they keep their types. Of a model, the weights must be constants of
  /// the kernels.
  std::optional<Quantization> quantization;
  /// Where each quantized weight is reported when it is written; may be null.
  QuantizationReport *quantizationReport = nullptr;
  /// Of the inputs of products, for rounding; null to round to nearest.
  std::shared_ptr<const InputMoments> inputMoments = nullptr;
};

/// How kernels are compiled and written.
struct PackageOptions : QuantizationOptions {
  IOMode io = IOMode::Packed;
  /// Unset: weights are inputs of the kernels.
  std::optional<WeightMode> weightMode;
  WeightOptions weights;
  /// `1.3` or `1.0`; empty for the target's default.
  std::string milVersion;
  /// How kernels are lowered to MIL, and for which target. Passes named here
  /// replace the default pipeline.
  PassManagerOptions passes;
  /// The facts of the program before passes.
  ModelFacts facts;
  /// Weights that are zeros when they are drawn.
  std::vector<std::string> zeros;
};

/// Compiles `program`, kernels and the host functions that call them, and
/// writes the package at `path`: all of it or, after an error, nothing. Each
/// called layer becomes one kernel.
[[nodiscard]] bool writePackage(std::unique_ptr<Module> program,
                                llvm::StringRef path,
                                const PackageOptions &options,
                                Diagnostics &diags,
                                std::vector<PassReport> *reports = nullptr);
/// The same in memory: adds the files of the package to `files`. `name` is
/// their folder in messages.
[[nodiscard]] bool writePackage(std::unique_ptr<Module> program,
                                NamedFiles &files, llvm::StringRef name,
                                const PackageOptions &options,
                                Diagnostics &diags,
                                std::vector<PassReport> *reports = nullptr);

/// What the folder of a package holds: nothing else is replaced or removed.
const FolderKind &packageFolder();

/// How carefully a package is read.
enum class PackageCheck : uint8_t {
  Digests, ///< every file is what was written
  /// The same for the manifest and texts; weight files are there and as long as
  /// they were: fast.
  Presence,
};
/// Reads the package at `folder`. Returns nothing, with the reason reported,
/// when it is invalid.
[[nodiscard]] std::optional<ModelPackage>
readPackage(llvm::StringRef folder, Diagnostics &diags,
            PackageCheck check = PackageCheck::Digests);
/// The same for a package in memory, of which only the texts are checked.
/// `name` is its folder in messages.
[[nodiscard]] std::optional<ModelPackage>
readPackage(NamedFiles files, llvm::StringRef name, Diagnostics &diags);
/// Reads a package again, from its files in memory or from its folder, of which
/// only the texts are checked: a session takes a package.
[[nodiscard]] std::optional<ModelPackage> readAgain(const ModelPackage &package,
                                                    Diagnostics &diags);

/// Copies the files of a package to the folder `path`: all or, after an error,
/// nothing.
[[nodiscard]] bool copyPackage(const ModelPackage &package,
                               llvm::StringRef path, Diagnostics &diags);
/// A folder with the package: the one that it was read from. A package in
/// memory is written to a temporary one when it is first asked for, which is
/// removed with the last session and package that have it. Returns nothing,
/// with the reason reported, when it cannot be written.
[[nodiscard]] std::optional<std::string> folderOf(const ModelPackage &package,
                                                  Diagnostics &diags);

/// The entry called `name` or, without a name, the only one of `candidates`.
/// Returns null, with the reason reported, when there is no such entry or more
/// than one candidate.
[[nodiscard]] const PackagedEntry *
chooseEntry(const ModelPackage &package, llvm::StringRef name,
            llvm::ArrayRef<const PackagedEntry *> candidates,
            Diagnostics &diags);

/// Writes the manifest as JSON. Returns false, with `error` set and nothing
/// written, if parseManifest would refuse it for its size.
bool printManifest(const ModelPackage &package, llvm::raw_ostream &out,
                   std::string &error);
[[nodiscard]] bool parseManifest(llvm::StringRef text, llvm::StringRef path,
                                 ModelPackage &package, Diagnostics &diags);

/// Loads the program of one instance of `kernel`. Returns null on failure.
[[nodiscard]] std::unique_ptr<Module>
loadKernel(const ModelPackage &package, const PackagedKernel &kernel,
           const PackagedInstance &instance, Diagnostics &diags);

/// The file behind each path of a weight file in the text of `kernel`: that of
/// `instance`, if it has one.
llvm::StringMap<ActualFile> weightFilesOf(const ModelPackage &package,
                                          const PackagedKernel &kernel,
                                          const PackagedInstance &instance);

/// A kernel by the path of its text.
struct KernelFile {
  ModelPackage package; ///< the manifest alone
  std::string kernel;
};
/// The kernel of a package whose text is at `path`; nothing for other files.
std::optional<KernelFile> findKernelFile(llvm::StringRef path);
/// The instance of `kernel` to run on its own: the one with the index `wanted`
/// or, if none is given, the only one. Returns null, with the reason reported
/// for `path`, when it does not exist or the choice is ambiguous because
/// instances have different weights. With `onlyToLook`, the first one is chosen
/// then.
[[nodiscard]] const PackagedInstance *
chooseInstance(const PackagedKernel &kernel, std::optional<int64_t> wanted,
               bool onlyToLook, llvm::StringRef path, Diagnostics &diags);

/// Whether `path` names a package: it ends in `.anepkg`.
bool isPackagePath(llvm::StringRef path);

} // namespace anec

#endif // ANEC_PACKAGE_MODELPACKAGE_H
