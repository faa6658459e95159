//===- ModelFolder.cpp - folders in Hugging Face's layout -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/ModelFolder.h"
#include "lib/Arrays/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/FileName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static constexpr StringLiteral oneFile = "model.safetensors";

/// `arrays` in the order given, as many in each part as have room.
static std::vector<ArrayRef<PlannedArray>>
splitArrays(ArrayRef<PlannedArray> arrays, uint64_t shardSize) {
  std::vector<ArrayRef<PlannedArray>> parts;
  size_t begin = 0;
  uint64_t size = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    uint64_t bytes = arrays[i].type.numBytes();
    if (i > begin && size + bytes > shardSize) {
      parts.push_back(arrays.slice(begin, i - begin));
      begin = i;
      size = 0;
    }
    size += bytes;
  }
  parts.push_back(arrays.slice(begin));
  return parts;
}

static std::string shardName(size_t index, size_t count) {
  std::string name;
  raw_string_ostream(name) << format("model-%05zu-of-%05zu.safetensors",
                                     index + 1, count);
  return name;
}

/// model.safetensors.index.json, as transformers writes it.
static void writeIndex(raw_ostream &out,
                       ArrayRef<ArrayRef<PlannedArray>> parts) {
  int64_t elements = 0, bytes = 0;
  std::vector<std::pair<StringRef, std::string>> fileOf;
  for (const auto &[index, part] : enumerate(parts))
    for (const PlannedArray &array : part) {
      elements += array.type.numElements();
      bytes += int64_t(array.type.numBytes());
      fileOf.emplace_back(array.name, shardName(index, parts.size()));
    }
  llvm::sort(fileOf);
  json::OStream json(out, 2);
  json.object([&] {
    json.attributeObject("metadata", [&] {
      json.attribute("total_parameters", elements);
      json.attribute("total_size", bytes);
    });
    json.attributeObject("weight_map", [&] {
      for (const auto &[name, file] : fileOf)
        json.attribute(name, file);
    });
  });
  out << '\n';
}

static bool addArrays(AtomicFiles &files, StringRef folder, StringRef name,
                      ArrayRef<PlannedArray> arrays,
                      const SafetensorsMetadata &metadata) {
  OutputFile *out = files.add(folder, name);
  if (!out)
    return false;
  bool isWritten = writeSafetensors(*out, arrays, metadata);
  assert(isWritten && "floats have codes");
  (void)isWritten;
  return true;
}

bool anec::addModelArrays(AtomicFiles &files, StringRef folder,
                          ArrayRef<PlannedArray> arrays,
                          const SafetensorsMetadata &metadata,
                          uint64_t shardSize, Diagnostics &diags) {
  std::vector<ArrayRef<PlannedArray>> parts = splitArrays(arrays, shardSize);
  if (parts.size() == 1)
    return addArrays(files, folder, oneFile, arrays, metadata);
  // Programs read this file first, and then no other.
  if (std::string stale = pathIn(folder, oneFile); sys::fs::exists(stale)) {
    diags.reportFile(stale, diag::HidesShards, int64_t(parts.size()));
    return false;
  }
  for (const auto &[index, part] : enumerate(parts))
    if (!addArrays(files, folder, shardName(index, parts.size()), part,
                   metadata))
      return false;
  OutputFile *index = files.add(folder, (oneFile + ".index.json").str());
  if (index)
    writeIndex(*index, parts);
  return index;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr StringLiteral generationConfig = "generation_config.json";
static constexpr StringLiteral textFiles[] = {"tokenizer.json",
                                              "tokenizer_config.json",
                                              "tokenizer.model",
                                              "vocab.json",
                                              "vocab.txt",
                                              "merges.txt",
                                              "added_tokens.json",
                                              "spiece.model",
                                              "special_tokens_map.json",
                                              "tekken.json",
                                              "chat_template.jinja",
                                              "chat_template.json",
                                              generationConfig};
/// Has the chat templates besides the first, NAME.jinja.
static constexpr StringLiteral templates = "additional_chat_templates";

/// The names of the files for text that `folder` has.
static std::vector<std::string> textFilesIn(StringRef folder) {
  std::vector<std::string> names;
  for (StringRef name : textFiles)
    if (sys::fs::exists(pathIn(folder, name)))
      names.push_back(name.str());
  std::error_code code;
  for (sys::fs::directory_iterator it(pathIn(folder, templates), code), end;
       it != end && !code; it.increment(code))
    if (StringRef name = sys::path::filename(it->path());
        sys::path::extension(name) == ".jinja" && isFileName(name))
      names.push_back((templates + "/" + name).str());
  llvm::sort(names);
  return names;
}

bool anec::hasTextFiles(StringRef folder) {
  return !textFilesIn(folder).empty();
}

static bool copyFiles(AtomicFiles &files, StringRef from, StringRef to,
                      ArrayRef<std::string> names, Diagnostics &diags) {
  for (const std::string &name : names) {
    MappedFile file = mapFile(pathIn(from, name), diags);
    OutputFile *copy = file ? files.add(to, name) : nullptr;
    if (!copy)
      return false;
    *copy << file->getBuffer();
  }
  return true;
}

static bool addGenerationConfig(AtomicFiles &files, StringRef folder,
                                const json::Object &config) {
  const json::Value *stop = config.get("eos_token_id");
  if (!stop || stop->getAsNull())
    return true;
  OutputFile *out = files.add(folder, generationConfig);
  if (!out)
    return false;
  json::OStream json(*out, 2);
  json.object([&] {
    json.attribute("_from_model_config", true);
    for (StringRef key : {"bos_token_id", "eos_token_id", "pad_token_id"})
      if (const json::Value *value = config.get(key);
          value && !value->getAsNull())
        json.attribute(key, *value);
  });
  *out << '\n';
  return true;
}

bool anec::addTextFiles(AtomicFiles &files, StringRef folder,
                        const ModelFolderOptions &options,
                        const json::Object &config, Diagnostics &diags) {
  std::vector<std::string> names;
  if (!options.tokenizer.empty()) {
    names = textFilesIn(options.tokenizer);
    if (names.empty()) {
      diags.reportFile(options.tokenizer, diag::NoTokenizerFiles);
      return false;
    }
  }
  return copyFiles(files, options.tokenizer, folder, names, diags) &&
         (is_contained(names, generationConfig) ||
          addGenerationConfig(files, folder, config));
}
