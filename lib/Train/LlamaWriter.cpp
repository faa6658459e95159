//===- LlamaWriter.cpp - weights under the names of others, written -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlamaFormats.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Train/Diags.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace anec;
using namespace llvm;

/// `array`, the rows of `heads` heads, in the order of the other style: row 2i
/// and 2i + 1 of a head are i and i + width / 2 of it.
static ConstantRef moveRows(const Constant &array, int64_t heads,
                            RopeStyle to) {
  const Shape &shape = array.type().shape;
  uint64_t rowBytes = byteSize(array.dtype(), shape[1]);
  int64_t width = shape[0] / heads;
  ArrayRef<uint8_t> from = array.bytes();
  std::vector<uint8_t> moved(from.size());
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t i = 0; i < width / 2; ++i)
      for (int64_t second = 0; second < 2; ++second) {
        int64_t interleaved = head * width + 2 * i + second;
        int64_t halves = head * width + second * (width / 2) + i;
        bool isInterleaved = to == RopeStyle::Interleaved;
        std::memcpy(
            moved.data() + (isInterleaved ? interleaved : halves) * rowBytes,
            from.data() + (isInterleaved ? halves : interleaved) * rowBytes,
            rowBytes);
      }
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(moved));
  return Constant::view(array.type(), array.dtype(), *owner, owner);
}

/// The array permuted for rotary embedding of style `to`.
static ConstantRef arranged(const LlamaWeights &weights, LlamaRole role,
                            int64_t layer, RopeStyle to) {
  ConstantRef array = weights.array(role, layer).get();
  if (to == weights.rope || (role != LlamaRole::Wq && role != LlamaRole::Wk))
    return array;
  return moveRows(*array,
                  role == LlamaRole::Wq ? weights.heads : weights.keyHeads, to);
}

//===----------------------------------------------------------------------===//
// Safetensors
//===----------------------------------------------------------------------===//

static std::vector<PlannedArray> plan(const LlamaWeights &weights,
                                      WeightFormat format, RopeStyle rope,
                                      StringRef model) {
  std::vector<PlannedArray> arrays;
  forEachLlamaArray(
      weights.layers, weights.tied, [&](LlamaRole role, int64_t layer) {
        arrays.push_back({llamaName(format, role, layer, model),
                          weights.array(role, layer).type(), [=, &weights] {
                            return arranged(weights, role, layer, rope);
                          }});
      });
  return arrays;
}

static SafetensorsMetadata metadataOf(const LlamaWeights &weights,
                                      WeightFormat format, RopeStyle rope) {
  // Facts that do not follow from shapes. Hugging Face's loader needs `format`.
  SafetensorsMetadata metadata;
  if (format == WeightFormat::HuggingFace)
    metadata.emplace_back("format", "pt");
  auto add = [&](const char *name, int64_t size) {
    if (size)
      metadata.emplace_back(name, std::to_string(size));
  };
  add("heads", weights.heads);
  add("kv_heads", weights.keyHeads);
  add("seq", weights.positions);
  ModelFacts facts = weights.facts;
  facts.add(fact::ropeStyle, spelling(rope));
  llvm::append_range(metadata, facts.entries());
  return metadata;
}

/// The facts that config.json has, as JSON; `none` is null.
static constexpr StringLiteral configFacts[] = {
    fact::rmsNormEps, fact::ropeTheta, fact::ropeScaling};

/// Hugging Face's config.json.
static void writeConfig(const LlamaWeights &weights, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("architectures",
                        [&] { json.value("LlamaForCausalLM"); });
    json.attribute("model_type", "llama");
    json.attribute("hidden_act", "silu");
    json.attribute("hidden_size", weights.dim);
    json.attribute("intermediate_size", weights.hidden);
    json.attribute("num_hidden_layers", weights.layers);
    json.attribute("num_attention_heads", weights.heads);
    json.attribute("num_key_value_heads", weights.keyHeads);
    json.attribute("head_dim", weights.queryRows / weights.heads);
    if (weights.positions)
      json.attribute("max_position_embeddings", weights.positions);
    json.attribute("vocab_size", weights.vocab);
    for (StringRef name : configFacts) {
      std::string value = *weights.facts.only(name);
      json.attributeBegin(name);
      json.rawValue(value == "none" ? "null" : value);
      json.attributeEnd();
    }
    json.attribute("tie_word_embeddings", weights.tied);
  });
  out << '\n';
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// Whether all sizes that the format needs are known.
static bool checkSizes(const LlamaWeights &weights, StringRef path,
                       WeightFormat format, RopeStyle rope, bool isFolder,
                       Diagnostics &diags) {
  auto fail = [&](const char *size, const char *reason) {
    diags.reportFile(path, diag::SizeNotKnown, size, reason);
    return false;
  };
  bool isLlama2c = format == WeightFormat::Llama2c;
  bool movesRows = rope != weights.rope;
  if (!weights.heads && (isLlama2c || isFolder || movesRows))
    return fail("heads", movesRows  ? "the rows of each head move"
                         : isFolder ? "config.json has it"
                                    : "llama2.c's header has it");
  if (isFolder)
    for (StringRef name : configFacts)
      if (!weights.facts.only(name))
        return fail(name.data(), "config.json has it");
  if (!isLlama2c)
    return true;
  for (const std::string &name : weights.facts.differences(factsOfLlama2c())) {
    diags.reportFile(path, diag::Llama2cFact, name, factsOfLlama2c().find(name),
                     weights.facts.find(name));
    return false;
  }
  if (!weights.positions)
    return fail("seq", "llama2.c's header has it");
  if (weights.queryRows == weights.dim)
    return true;
  diags.reportFile(path, diag::HeadsTooWide, weights.heads,
                   weights.queryRows / weights.heads, weights.dim);
  return false;
}

static bool addFile(AtomicFiles &files, const LlamaWeights &weights,
                    StringRef path, WeightFormat format, RopeStyle rope,
                    StringRef model) {
  OutputFile *out = files.add(path);
  if (!out)
    return false;
  if (format == WeightFormat::Llama2c) {
    writeLlama2c(
        weights,
        [&](LlamaRole role, int64_t layer) {
          return arranged(weights, role, layer, rope);
        },
        *out);
    return true;
  }
  bool written = writeSafetensors(*out, plan(weights, format, rope, model),
                                  metadataOf(weights, format, rope));
  assert(written && "floats have codes");
  return written;
}

static bool addFolder(AtomicFiles &files, const LlamaWeights &weights,
                      StringRef path, RopeStyle rope,
                      const ModelFolderOptions &options, Diagnostics &diags) {
  constexpr WeightFormat format = WeightFormat::HuggingFace;
  if (!addModelArrays(files, path, plan(weights, format, rope, ""),
                      metadataOf(weights, format, rope), options.shardSize,
                      diags))
    return false;
  OutputFile *config = files.add(path, "config.json");
  if (!config)
    return false;
  writeConfig(weights, *config);
  return addTextFiles(files, path, options, {}, diags);
}

bool anec::writeLlamaWeights(const LlamaWeights &weights, StringRef path,
                             WeightFormat format, const LlamaHints &hints,
                             const ModelFolderOptions &folder,
                             Diagnostics &diags) {
  // Without a model to write for, anec's weights stay as they are.
  RopeStyle rope = ropeStyleOf(hints.facts)
                       .value_or(weights.format == WeightFormat::Anec
                                     ? weights.rope
                                     : RopeStyle::Interleaved);
  if (format == WeightFormat::HuggingFace)
    rope = RopeStyle::HalfSplit;
  if (format == WeightFormat::Llama2c)
    rope = RopeStyle::Interleaved;
  bool isFolder =
      format == WeightFormat::HuggingFace && sys::path::extension(path).empty();
  if (!checkSizes(weights, path, format, rope, isFolder, diags))
    return false;

  AtomicFiles files(diags);
  bool isAdded = isFolder
                     ? addFolder(files, weights, path, rope, folder, diags)
                     : addFile(files, weights, path, format, rope, hints.model);
  return isAdded && files.commit();
}

WeightFormat anec::formatToWrite(StringRef path) {
  if (path.ends_with(".bin"))
    return WeightFormat::Llama2c;
  return path.ends_with(".safetensors") ? WeightFormat::Anec
                                        : WeightFormat::HuggingFace;
}
