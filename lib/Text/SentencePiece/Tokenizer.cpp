//===- Tokenizer.cpp - tokenizers of SentencePiece ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ids and texts are those of the library SentencePiece. The library itself is
/// not used: it trusts its files, and crashes on damaged ones.
///
//===----------------------------------------------------------------------===//

#include "../Tokenizers.h"
#include "Encoders.h"
#include "Normalizer.h"
#include "lib/Support/Digest.h"
#include "lib/Text/Diags.h"

using namespace anec;
using namespace anec::spm;
using namespace llvm;

namespace {
class SentencePieceTokenizer : public Tokenizer {
public:
  SentencePieceTokenizer(MappedFile mapped, std::unique_ptr<Model> read,
                         StringRef path)
      : Tokenizer(TokenizerKind::SentencePiece, path.str(),
                  sha256(bytesOf(*mapped))),
        file(std::move(mapped)), model(std::move(read)),
        userDefined(userDefinedOf(*model)), normalizer(*model, userDefined),
        encoder(makeEncoder(*model, userDefined)) {}

  unsigned vocabulary() const override {
    return unsigned(model->pieces.size());
  }
  std::optional<int32_t> beginning() const override {
    return control(model->trainer->beginning);
  }
  std::optional<int32_t> end() const override {
    return control(model->trainer->end);
  }
  bool appendBytes(int32_t id, bool atStart, std::string &bytes) const override;

private:
  static PieceTrie userDefinedOf(const Model &model) {
    PieceTrie pieces;
    for (auto [text, id] : model.spelled)
      if (model.typeOf(id) == PieceType::UserDefined)
        pieces.add(text, id);
    return pieces;
  }
  std::optional<int32_t> control(StringRef text) const {
    int32_t id = model->idOf(text);
    return model->typeOf(id) == PieceType::Control ? std::optional(id)
                                                   : std::nullopt;
  }
  bool encodePart(StringRef part, bool isFirst, std::vector<int32_t> &ids,
                  std::string &error) const override;

  MappedFile file; ///< the texts of `model` refer to it
  std::unique_ptr<Model> model;
  PieceTrie userDefined;
  Normalizer normalizer;
  std::unique_ptr<Encoder> encoder;
};
} // namespace

bool SentencePieceTokenizer::appendBytes(int32_t id, bool atStart,
                                         std::string &bytes) const {
  assert(id >= 0 && unsigned(id) < vocabulary());
  StringRef text = model->pieces[size_t(id)].text;
  switch (model->typeOf(id)) {
  case PieceType::Control:
    return atStart;
  case PieceType::Unknown:
    bytes += model->trainer->unknownText;
    return atStart && model->trainer->unknownText.empty();
  case PieceType::Byte:
    bytes += char(find(model->bytes, id) - model->bytes.begin());
    return false;
  default:
    break;
  }
  const NormalizerSpec &spec = *model->normalizer;
  bool dropped = false;
  if (atStart && (spec.addsSpace || spec.dropsSpaces))
    dropped = text.consume_front(spaceMark);
  bool isEmpty = text.empty();
  while (!text.empty()) {
    if (text.consume_front(spaceMark)) {
      bytes += ' ';
      continue;
    }
    bytes += text.front();
    text = text.drop_front();
  }
  return atStart && isEmpty && (!dropped || spec.dropsSpaces);
}

bool SentencePieceTokenizer::encodePart(StringRef part, bool,
                                        std::vector<int32_t> &ids,
                                        std::string &error) const {
  std::string normal;
  if (!normalizer.apply(part, normal)) {
    error = "the tokenizer's character map makes it many times longer";
    return false;
  }
  bool isBehindUnknown = false;
  for (auto [text, id] : encoder->divide(normal)) {
    PieceType type = model->typeOf(id);
    bool isUnknown = type == PieceType::Unknown || type == PieceType::Unused;
    if (isUnknown && model->trainer->usesBytes) {
      for (char byte : text)
        ids.push_back(model->bytes[uint8_t(byte)]);
    } else if (!isUnknown || !isBehindUnknown) {
      // Adjacent unknown ones are one.
      ids.push_back(isUnknown ? model->unknown : id);
    }
    isBehindUnknown = isUnknown;
  }
  return true;
}

std::unique_ptr<Tokenizer> anec::openSentencePiece(const MappedFile &file,
                                                   StringRef path,
                                                   Diagnostics &diags) {
  auto model = std::make_unique<Model>();
  if (std::string wrong = model->read(file->getBuffer()); !wrong.empty()) {
    diags.reportFile(path, diag::BadTokenizer, wrong);
    return nullptr;
  }
  if (!model->denormalizer->characterMap.empty()) {
    diags.reportFile(path, diag::TokenizerPart, "a character map for decoding");
    return nullptr;
  }
  return std::make_unique<SentencePieceTokenizer>(file, std::move(model), path);
}
