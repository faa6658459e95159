//===- SentencePieceTokenizer.cpp - models of the SentencePiece library ---===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file that includes libsentencepiece, which is optional.
///
//===----------------------------------------------------------------------===//

#include "Tokenizers.h"
#include "anec/Support/Digest.h"
#include "anec/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#ifdef ANEC_HAS_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

using namespace anec;
using namespace llvm;

#ifndef ANEC_HAS_SENTENCEPIECE

bool anec::hasSentencePiece() { return false; }

std::unique_ptr<Tokenizer> anec::openSentencePiece(const MappedFile &,
                                                   StringRef path,
                                                   Diagnostics &diags) {
  diags.reportFile(path, diag::NoSentencePiece);
  return nullptr;
}

#else

bool anec::hasSentencePiece() { return true; }

/// How pieces spell a space.
static constexpr StringLiteral spaceMark = "\xE2\x96\x81";

static std::string_view view(StringRef text) {
  return {text.data(), text.size()};
}

namespace {
class SentencePieceTokenizer : public Tokenizer {
public:
  SentencePieceTokenizer(
      std::unique_ptr<sentencepiece::SentencePieceProcessor> processor,
      std::string path, std::string digest)
      : Tokenizer(TokenizerKind::SentencePiece, std::move(path),
                  std::move(digest)),
        processor(std::move(processor)) {
    // The library does not expose how it normalizes.
    std::vector<int> wide = ids("a  a"), narrow = ids("a a"), one = ids("a");
    dropsSpaces = wide == narrow;
    addsSpace =
        !one.empty() && StringRef(piece(one.front())).starts_with(spaceMark);
  }

  unsigned vocabulary() const override { return processor->GetPieceSize(); }
  std::optional<int32_t> beginning() const override {
    return known(processor->bos_id());
  }
  std::optional<int32_t> end() const override {
    return known(processor->eos_id());
  }

  bool appendBytes(int32_t id, bool atStart,
                   std::string &bytes) const override {
    assert(id >= 0 && unsigned(id) < vocabulary());
    if (processor->IsControl(id))
      return atStart;
    std::string spelled = piece(id);
    StringRef text = spelled;
    if (processor->IsUnknown(id)) {
      // SentencePiece's own text for an unknown character.
      bytes += " \xE2\x81\x87 ";
      return false;
    }
    if (processor->IsByte(id)) {
      // <0x0A>
      uint8_t byte = 0;
      bool isByte = !text.slice(3, 5).getAsInteger(16, byte);
      assert(isByte && "a byte's piece is called after it");
      (void)isByte;
      bytes += char(byte);
      return false;
    }
    bool dropped = false;
    if (atStart && (addsSpace || dropsSpaces))
      dropped = text.consume_front(spaceMark);
    for (StringRef rest = text; !rest.empty();) {
      if (rest.consume_front(spaceMark)) {
        bytes += ' ';
        continue;
      }
      bytes += rest.front();
      rest = rest.drop_front();
    }
    return atStart && text.empty() && (!dropped || dropsSpaces);
  }

private:
  static std::optional<int32_t> known(int id) {
    return id < 0 ? std::nullopt : std::optional<int32_t>(id);
  }
  std::string piece(int id) const { return processor->IdToPiece(id); }
  std::vector<int> ids(StringRef text) const {
    return processor->EncodeAsIds(view(text));
  }
  bool encodePart(StringRef part, bool, std::vector<int32_t> &result,
                  std::string &) const override {
    llvm::append_range(result, ids(part));
    return true;
  }

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor;
  bool addsSpace = false, dropsSpaces = false;
};
} // namespace

std::unique_ptr<Tokenizer> anec::openSentencePiece(const MappedFile &file,
                                                   StringRef path,
                                                   Diagnostics &diags) {
  auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
  sentencepiece::util::Status status =
      processor->LoadFromSerializedProto(view(file->getBuffer()));
  if (!status.ok() || processor->GetPieceSize() <= 0) {
    diags.reportFile(path, diag::BadTokenizer,
                     "it is no SentencePiece model, or damaged");
    return nullptr;
  }
  return std::make_unique<SentencePieceTokenizer>(
      std::move(processor), path.str(), sha256(bytesOf(*file)));
}

#endif // ANEC_HAS_SENTENCEPIECE
