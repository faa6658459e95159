//===- Import.cpp - language models of others as programs -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Import/Import.h"
#include "ImportedModel.h"
#include "anec/Package/WeightBinding.h"
#include "lib/Arrays/Gguf.h"
#include "lib/Arrays/Llama2c.h"
#include "lib/Import/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

bool anec::fitsPositions(const Decoder &decoder, const ImportOptions &options,
                         StringRef path, Diagnostics &diags) {
  if (!decoder.hasPositions || options.positions <= decoder.positions)
    return true;
  diags.reportFile(path, diag::TooManyPositions, options.positions,
                   decoder.positions);
  return false;
}

/// What a file is that no model is read from.
static StringRef kindOf(const MappedFile &file, StringRef path) {
  if (isPyTorchFile(file))
    return "a PyTorch file, which is a pickle and is not read";
  if (path.ends_with(".safetensors"))
    return "weights alone, which do not say what model they are of";
  if (sys::path::filename(path) == "config.json")
    return "config.json alone is not a model";
  return "no model that anec knows";
}

static std::optional<ImportedModel>
readModel(StringRef source, const ImportOptions &options, Diagnostics &diags) {
  if (sys::fs::is_directory(source))
    return readFolderModel(source, options, diags);
  MappedFile file = mapFile(source, diags);
  if (!file)
    return std::nullopt;
  if (isGguf(file))
    return readGgufModel(file, source, options, diags);
  if (isLlama2c(file, source) && !isPyTorchFile(file))
    return readLlama2cModel(file, source, diags);
  diags.reportFile(source, diag::NotImported, kindOf(file, source));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void writeNames(const ImportedModel &model,
                       ArrayRef<std::string> ignoredKeys, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    for (const ImportedWeight &weight : model.weights)
      json.attribute(weight.name, weight.array);
    if (!ignoredKeys.empty())
      json.attribute("ignored", json::Array(ignoredKeys));
    if (!model.config.empty()) {
      json.attributeBegin("config");
      json.rawValue(model.config.str(4, 2));
      json.attributeEnd();
    }
  });
  out << '\n';
}

/// Adds the files that others expect of a tokenizer.
static bool writeTokenizerFiles(const GgufTokenizer &tokenizer,
                                StringRef folder, AtomicFiles &files) {
  static constexpr std::pair<StringLiteral,
                             void (*)(const GgufTokenizer &, raw_ostream &)>
      writers[] = {{"tokenizer.json", writeTokenizer},
                   {"tokenizer_config.json", writeTokenizerConfig},
                   {"generation_config.json", writeGenerationConfig}};
  for (const auto &[name, write] : writers) {
    OutputFile *out = files.add(folder, name);
    if (!out)
      return false;
    write(tokenizer, *out);
  }
  return true;
}

bool anec::importModel(StringRef source, StringRef program,
                       const ImportOptions &options, Diagnostics &diags) {
  std::optional<ImportedModel> model = readModel(source, options, diags);
  if (!model)
    return false;
  if (!options.tokenizer.empty() && !model->tokenizer) {
    diags.reportFile(source, diag::NoTokenizerToWrite, "it is not a GGUF file");
    return false;
  }
  const Decoder &decoder = model->decoder;
  int64_t positions = options.positions
                          ? options.positions
                          : std::min(options.mostPositions, decoder.positions);
  AtomicFiles files(diags);
  std::string names = namesFileOf(program);
  StringRef folder = sys::path::parent_path(names);
  OutputFile *text = files.add(program);
  // Nobody named this file: it may be no link to another.
  OutputFile *map = text ? files.add(folder.empty() ? "." : folder,
                                     sys::path::filename(names))
                         : nullptr;
  if (!map)
    return false;
  *text << programText(decoder, spelling(options.floats), positions);
  writeNames(*model, options.ignoredKeys, *map);
  if (model->tokenizer &&
      !writeTokenizerFiles(*model->tokenizer, options.tokenizer, files))
    return false;
  return files.commit();
}
