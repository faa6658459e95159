//===- LlamaWriter.cpp - the weights of a Llama, written ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Llama2cModel.h"
#include "LlamaConfig.h"
#include "lib/Import/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/StringMap.h"
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

namespace {

/// A form that weights are written in.
struct Form {
  WeightFormat format;
  RopeStyle rope;
  std::string model; ///< the first part of anec's names
};

} // namespace

/// The form that the format, and the model to write for, ask for.
static Form formFor(const LlamaWeights &weights, WeightFormat format,
                    const LlamaHints &hints) {
  Form form = {format, RopeStyle::Interleaved, hints.model};
  switch (format) {
  case WeightFormat::HuggingFace:
    form.rope = RopeStyle::HalfSplit;
    break;
  case WeightFormat::Llama2c:
    break;
  case WeightFormat::Gguf:
    llvm_unreachable("exportGguf writes it, with the metadata of another file");
  case WeightFormat::Anec:
    // Without a model to write for, anec's weights stay as they are.
    if (weights.format == WeightFormat::Anec)
      form.rope = weights.decoder.ropeStyle;
    form.rope = ropeStyleOf(hints.facts).value_or(form.rope);
  }
  return form;
}

/// All arrays by the names of `form`, with rows as it has them.
static std::vector<PlannedArray> plan(const LlamaWeights &weights,
                                      const Form &form) {
  Decoder decoder = weights.decoder;
  decoder.family = form.model;
  std::vector<PlannedArray> arrays;
  forEachLlamaArray(decoder, [&](const DecoderWeight &weight, int64_t layer) {
    const StoredArray &array = weights.arrays[arrays.size()];
    int64_t heads = 0; // whose rows move
    if (form.rope != decoder.ropeStyle)
      heads = weight.role == WeightRole::Query ? decoder.heads
              : weight.role == WeightRole::Key ? decoder.keyHeads
                                               : 0;
    arrays.push_back({arrayName(form.format, weight, layer), array.type(),
                      [&array, heads, rope = form.rope] {
                        ConstantRef elements = array.get();
                        return heads ? moveRows(*elements, heads, rope)
                                     : elements;
                      }});
  });
  return arrays;
}

static SafetensorsMetadata metadataOf(const LlamaWeights &weights,
                                      const Form &form) {
  // Facts that do not follow from shapes. Hugging Face's loader needs `format`.
  SafetensorsMetadata metadata;
  if (form.format == WeightFormat::HuggingFace)
    metadata.emplace_back("format", "pt");
  auto add = [&](const char *name, int64_t size) {
    if (size)
      metadata.emplace_back(name, std::to_string(size));
  };
  add("heads", weights.decoder.heads);
  add("kv_heads", weights.decoder.keyHeads);
  add("seq", weights.decoder.positions);
  ModelFacts facts = weights.facts;
  facts.add(fact::ropeStyle, spelling(form.rope));
  llvm::append_range(metadata, facts.entries());
  return metadata;
}

/// Whether llama2.c's programs compute what the model of the weights does.
static bool fitsLlama2c(const LlamaWeights &weights, StringRef path,
                        Diagnostics &diags) {
  const Decoder &decoder = weights.decoder;
  ModelFacts facts = factsOf(decoderOf(llama2cSizes(decoder)));
  for (const std::string &name : weights.facts.differences(facts)) {
    diags.reportFile(path, diag::Llama2cFact, name, facts.find(name),
                     weights.facts.find(name));
    return false;
  }
  if (!decoder.positions) {
    diags.reportFile(path, diag::SizeNotKnown, "seq",
                     "llama2.c's header has it");
    return false;
  }
  if (weights.queryRows == decoder.dim)
    return true;
  diags.reportFile(path, diag::HeadsTooWide, decoder.heads, decoder.headDim,
                   decoder.dim);
  return false;
}

/// Whether all that the form needs is known.
static bool checkKnown(const LlamaWeights &weights, StringRef path,
                       const Form &form, bool isFolder, Diagnostics &diags) {
  auto fail = [&](StringRef size, const char *reason) {
    diags.reportFile(path, diag::SizeNotKnown, size, reason);
    return false;
  };
  bool isLlama2c = form.format == WeightFormat::Llama2c;
  bool movesRows = form.rope != weights.decoder.ropeStyle;
  if (!weights.decoder.heads && (isLlama2c || isFolder || movesRows))
    return fail("heads", movesRows  ? "the rows of each head move"
                         : isFolder ? "config.json has it"
                                    : "llama2.c's header has it");
  if (isFolder)
    for (StringRef name : factsInConfig())
      if (!weights.facts.only(name))
        return fail(name, "config.json has it");
  return !isLlama2c || fitsLlama2c(weights, path, diags);
}

static bool addFile(AtomicFiles &files, const LlamaWeights &weights,
                    StringRef path, const Form &form) {
  OutputFile *out = files.add(path);
  if (!out)
    return false;
  std::vector<PlannedArray> arrays = plan(weights, form);
  if (form.format == WeightFormat::Llama2c) {
    StringMap<const PlannedArray *> byName;
    for (const PlannedArray &array : arrays)
      byName[array.name] = &array;
    writeLlama2c(
        llama2cSizes(weights.decoder),
        [&](StringRef name) { return byName.at(name)->make(); }, *out);
    return true;
  }
  bool written = writeSafetensors(*out, arrays, metadataOf(weights, form));
  assert(written && "floats have codes");
  return written;
}

static bool addFolder(AtomicFiles &files, const LlamaWeights &weights,
                      StringRef path, const Form &form,
                      const ModelFolderOptions &options, Diagnostics &diags) {
  if (!addModelArrays(files, path, plan(weights, form),
                      metadataOf(weights, form), options.shardSize, diags))
    return false;
  OutputFile *config = files.add(path, "config.json");
  if (!config)
    return false;
  writeLlamaConfig(weights, *config);
  return addTextFiles(files, path, options, {}, diags);
}

bool anec::writeLlamaWeights(const LlamaWeights &weights, StringRef path,
                             WeightFormat format, const LlamaHints &hints,
                             const ModelFolderOptions &folder,
                             Diagnostics &diags) {
  Form form = formFor(weights, format, hints);
  bool isFolder =
      format == WeightFormat::HuggingFace && sys::path::extension(path).empty();
  if (!checkKnown(weights, path, form, isFolder, diags))
    return false;

  AtomicFiles files(diags);
  bool isAdded = isFolder ? addFolder(files, weights, path, form, folder, diags)
                          : addFile(files, weights, path, form);
  return isAdded && files.commit();
}
