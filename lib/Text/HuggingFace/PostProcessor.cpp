//===- PostProcessor.cpp - ids around those of a text ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PostProcessor.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::hf;
using namespace llvm;

namespace {
struct PostProcessorRow {
  StringLiteral type;
  void (*read)(Fields &fields, int64_t idCount, Markers &markers);
};
} // namespace

/// `["[SEP]", 102]`
static void readMarker(Fields &fields, StringRef key, int64_t idCount,
                       std::vector<int32_t> &ids) {
  const json::Array &both = fields.array(key);
  std::optional<int64_t> id;
  if (both.size() == 2 && both[0].getAsString())
    id = both[1].getAsInteger();
  if (!id || *id < 0 || *id >= idCount)
    fields.error().malformed("`" + fields.pathOf(key) +
                             "` is not a text and its id");
  else
    ids.push_back(int32_t(*id));
}

static void readBertProcessor(Fields &fields, int64_t idCount,
                              Markers &markers) {
  readMarker(fields, "cls", idCount, markers.before);
  readMarker(fields, "sep", idCount, markers.after);
}

static void readRoberta(Fields &fields, int64_t idCount, Markers &markers) {
  readBertProcessor(fields, idCount, markers);
  fields.ignore("trim_offsets");
  fields.ignore("add_prefix_space");
}

/// It changes only offsets.
static void readByteLevelProcessor(Fields &fields, int64_t, Markers &) {
  fields.ignore("trim_offsets");
  fields.ignore("add_prefix_space");
  fields.ignore("use_regex");
}

/// The ids of the member `key` of `tokens`, the special tokens of a template.
static void readTemplateToken(Fields &tokens, StringRef key, int64_t idCount,
                              std::vector<int32_t> &ids) {
  Fields token = tokens.fields(key);
  token.ignore("id");
  token.ignore("tokens");
  for (const json::Value &value : token.array("ids")) {
    std::optional<int64_t> id = value.getAsInteger();
    if (!id || *id < 0 || *id >= idCount) {
      token.error().malformed("`" + token.pathOf("ids") +
                              "` has an id that is not in the vocabulary");
      return;
    }
    ids.push_back(int32_t(*id));
  }
}

static void readTemplate(Fields &fields, int64_t idCount, Markers &markers) {
  Fields tokens = fields.fields("special_tokens");
  fields.ignore("pair");
  unsigned texts = 0;
  Markers around;
  fields.forEachObject("single", [&](Fields &piece) {
    if (std::optional<Fields> text = piece.optionalFields("Sequence")) {
      // `A` is the text, `B` that of a pair.
      texts += text->text("id") == "A" ? 1 : 2;
      return;
    }
    std::string token = piece.fields("SpecialToken").text("id");
    if (!fields.error())
      readTemplateToken(tokens, token, idCount,
                        texts ? around.after : around.before);
  });
  if (texts != 1)
    fields.error().malformed("`" + fields.pathOf("single") +
                             "` does not have the text once");
  markers.before.insert(markers.before.begin(), around.before.begin(),
                        around.before.end());
  llvm::append_range(markers.after, around.after);
}

static void readAnyProcessor(Fields &fields, int64_t idCount, Markers &markers);

static void readProcessorSequence(Fields &fields, int64_t idCount,
                                  Markers &markers) {
  fields.forEachObject("processors", [&](Fields &step) {
    readAnyProcessor(step, idCount, markers);
  });
}

static constexpr PostProcessorRow postProcessorTypes[] = {
    {"Sequence", readProcessorSequence},
    {"TemplateProcessing", readTemplate},
    {"ByteLevel", readByteLevelProcessor},
    {"BertProcessing", readBertProcessor},
    {"RobertaProcessing", readRoberta},
};

static void readAnyProcessor(Fields &fields, int64_t idCount,
                             Markers &markers) {
  std::string type = fields.text("type");
  const PostProcessorRow *found =
      llvm::find_if(postProcessorTypes, [&](const PostProcessorRow &row) {
        return row.type == type;
      });
  if (found == std::end(postProcessorTypes)) {
    fields.error().unknownType("post_processor", type,
                               typesOf(postProcessorTypes));
    return;
  }
  found->read(fields, idCount, markers);
  if (!fields.error())
    fields.finish();
}

Markers anec::hf::readPostProcessor(Fields &fields, unsigned idCount) {
  Markers markers;
  readAnyProcessor(fields, idCount, markers);
  return markers;
}
