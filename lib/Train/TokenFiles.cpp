//===- TokenFiles.cpp - text to files of tokens, and back -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenFiles.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/MappedFile.h"
#include "anec/Support/ReadFile.h"
#include "anec/Train/Diags.h"
#include "anec/Train/Tokenizer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// The ids in `text`, between any white space.
static std::optional<std::vector<int32_t>> parseIds(llvm::StringRef text,
                                                    llvm::StringRef path,
                                                    unsigned vocabulary,
                                                    Diagnostics &diags) {
  std::vector<int32_t> ids;
  for (;;) {
    text = text.ltrim();
    if (text.empty())
      return ids;
    llvm::StringRef word = text.take_until(llvm::isSpace);
    text = text.drop_front(word.size());
    uint32_t id = 0;
    if (word.getAsInteger(10, id) || id >= vocabulary) {
      diags.reportFile(path, diag::BadTokenId, word, vocabulary);
      return std::nullopt;
    }
    ids.push_back(int32_t(id));
  }
}

/// Writes `ids` as little-endian numbers of 16 bits, all or nothing.
static bool writeIds(llvm::ArrayRef<int32_t> ids, const Tokenizer &tokenizer,
                     llvm::StringRef path, Diagnostics &diags) {
  if (tokenizer.vocabulary() > 65536) {
    diags.reportFile(path, diag::TooManyTokenIds, tokenizer.vocabulary() - 1);
    return false;
  }
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  for (int32_t id : ids)
    llvm::support::endian::write<uint16_t>(*file, uint16_t(id),
                                           llvm::endianness::little);
  return files.commit();
}

bool anec::tokenize(llvm::StringRef path, const TokenizeOptions &options,
                    llvm::raw_ostream &out, Diagnostics &diags) {
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(options.tokenizer, diags);
  if (!tokenizer)
    return false;
  std::string error;
  MappedFile buffer = isStreamPath(path) ? MappedFile(readInput(path, error))
                                         : mapFile(path, error);
  if (!buffer) {
    diags.reportFile(path, diag::CannotOpen, error);
    return false;
  }
  llvm::StringRef text = buffer->getBuffer();
  if (options.decode) {
    auto ids = parseIds(text, path, tokenizer->vocabulary(), diags);
    if (!ids)
      return false;
    out << tokenizer->decode(*ids, options.markers);
    return true;
  }
  std::optional<std::vector<int32_t>> ids = tokenizer->encode(text, diags);
  if (!ids)
    return false;
  if (options.markers)
    ids = tokenizer->withMarkers(std::move(*ids));
  if (!options.output.empty())
    return writeIds(*ids, *tokenizer, options.output, diags);
  llvm::interleave(*ids, out, " ");
  out << '\n';
  return true;
}
