//===- ModelArchive.cpp - archives of torch.export.save -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelArchive.h"
#include "PickledTensors.h"
#include "lib/Torch/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::torch;

static constexpr llvm::StringLiteral flatProgram =
    "serialized_exported_program.json";

bool ModelArchive::open(Diagnostics &diags) {
  contents = mapFile(file, diags);
  if (!contents)
    return false;
  std::string error;
  if (!archive.open(bytesOf(*contents), error)) {
    diags.reportFile(file, diag::TorchArchive, error);
    return false;
  }
  return findModels(diags);
}

bool ModelArchive::findModels(Diagnostics &diags) {
  if (archive.has(flatProgram)) {
    isOfTorch26 = true;
    programs.emplace_back("model", flatProgram.str());
    return true;
  }
  std::vector<StringRef> names = archive.names();
  // The folder has the name of the file that was written first.
  if (!names.empty())
    root = names.front().split('/').first.str() + "/";
  bool isCompiled = false, isScript = false;
  for (StringRef path : names) {
    if (!path.consume_front(root))
      continue;
    isCompiled |= path.starts_with("data/aotinductor/") ||
                  path.starts_with("data/executorch/");
    isScript |= path == "constants.pkl" || path == "data.pkl";
    if (path.consume_front("models/") && path.consume_back(".json") &&
        !path.contains('/'))
      programs.emplace_back(path.str(),
                            root + "models/" + path.str() + ".json");
  }
  if (!programs.empty())
    return true;
  diags.reportFile(
      file, diag::TorchNoProgram,
      isCompiled
          ? "only what AOTInductor or ExecuTorch compiled is there; save "
            "the model with torch.export.save"
      : isScript ? "it is of torch.save or TorchScript; export the model with "
                   "torch.export.export and save it with torch.export.save"
                 : "it is another zip file");
  return false;
}

std::vector<StringRef> ModelArchive::models() const {
  std::vector<StringRef> names;
  for (const auto &[name, entry] : programs)
    names.push_back(name);
  return names;
}

bool ModelArchive::addWeights(StringRef model, StringRef folder,
                              bool defersChecksums, Diagnostics &diags) {
  std::string error, base = root + "data/" + folder.str() + "/";
  std::string config = base + model.str() + "_" + folder.str() + "_config.json";
  Weights &all = weightsOf(model);
  std::string pickled = base + model.str() + ".pt";
  if (isOfTorch26)
    pickled = folder == "weights" ? "serialized_state_dict.pt"
                                  : "serialized_constants.pt";
  bool read = true;
  if (archive.has(config)) {
    read = all.addConfig(archive, config, base, error);
  } else if (archive.has(pickled)) {
    nested.push_back(std::make_unique<Archive>());
    std::optional<llvm::ArrayRef<uint8_t>> bytes =
        defersChecksums ? archive.locate(pickled, error)
                        : archive.read(pickled, error);
    // Before 2.8, there is no file for none.
    read = bytes && (bytes->empty() ||
                     addPickledTensors(*nested.back(), *bytes, all, error));
    config = pickled;
  }
  if (!read)
    diags.reportFile(file, diag::TorchArchive, "`" + config + "`: " + error);
  return read;
}

bool ModelArchive::readProgram(StringRef model, Program &program,
                               bool defersChecksums, Diagnostics &diags) {
  auto entry = llvm::find_if(
      programs, [&](const auto &entry) { return entry.first == model; });
  std::string error;
  std::optional<llvm::ArrayRef<uint8_t>> bytes =
      archive.read(entry->second, error);
  if (!bytes) {
    diags.reportFile(file, diag::TorchArchive, error);
    return false;
  }
  if (!program.read(llvm::toStringRef(*bytes), error)) {
    diags.reportFile(file, diag::TorchProgram, error);
    return false;
  }
  version = program.torchVersion.str();
  return weights.contains(model) ||
         (addWeights(model, "weights", defersChecksums, diags) &&
          addWeights(model, "constants", defersChecksums, diags));
}

Weights &ModelArchive::weightsOf(StringRef model) {
  std::unique_ptr<Weights> &all = weights[model];
  if (!all)
    all = std::make_unique<Weights>(contents);
  return *all;
}
