//===- Encode.cpp - text to train on as tokens ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "UsedTokenizer.h"
#include "anec/Train/TokenData.h"
#include "lib/Train/TextData.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

/// The absolute path, so that a run can be resumed from another folder; an
/// empty path stays empty.
static std::string absolutePath(llvm::StringRef path) {
  llvm::SmallString<256> absolute(path);
  if (!path.empty())
    (void)llvm::sys::fs::make_absolute(absolute);
  return std::string(absolute);
}

UsedTokenizer anec::usedTokenizer(const Tokenizer &tokenizer) {
  return {spelling(tokenizer.kind()).str(), absolutePath(tokenizer.path()),
          tokenizer.digest().str()};
}

std::optional<TextEncoder> anec::openEncoder(llvm::StringRef path,
                                             Diagnostics &diags) {
  std::shared_ptr<Tokenizer> tokenizer = openTokenizer(path, diags);
  if (!tokenizer)
    return std::nullopt;
  TextEncoder encoder;
  encoder.used = usedTokenizer(*tokenizer);
  encoder.vocabulary = tokenizer->vocabulary();
  if (tokenizer->kind() != TokenizerKind::Bytes)
    encoder.encode = [tokenizer](llvm::StringRef text, Diagnostics &own) {
      return tokenizer->encode(text, own);
    };
  return encoder;
}

std::optional<TokenData> TokenData::open(llvm::ArrayRef<std::string> paths,
                                         llvm::StringRef without,
                                         const Tokenizer &tokenizer,
                                         int64_t vocabulary,
                                         Diagnostics &diags) {
  auto encode = [&](llvm::StringRef text, Diagnostics &own) {
    return tokenizer.encode(text, own);
  };
  if (tokenizer.kind() == TokenizerKind::Bytes)
    return open(paths, without, nullptr, vocabulary, diags);
  return open(paths, without, encode, vocabulary, diags);
}
