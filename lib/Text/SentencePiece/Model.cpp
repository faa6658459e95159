//===- Model.cpp - a SentencePiece model ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A model that passes `read` has no part that encoding or decoding cannot
/// rely on.
///
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "../CharacterMap.h"
#include "lib/Protobuf/Coding.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::spm;
using namespace llvm;

/// Bounds the work at each place of a text. The pieces of published models
/// have at most a few hundred bytes.
static constexpr size_t longestPiece = 1024;
static constexpr size_t mostPieces = 1 << 24;

int32_t Model::idOf(StringRef text) const {
  if (auto found = reserved.find(text); found != reserved.end())
    return found->second;
  auto found = spelled.find(text);
  return found != spelled.end() ? found->second : unknown;
}

/// `<0x0A>`
std::string Model::checkByte(const Piece &piece, int32_t id) {
  StringRef digits = piece.text;
  uint8_t byte = 0;
  if (!digits.consume_front("<0x") || !digits.consume_back(">") ||
      digits.size() != 2 || digits.getAsInteger(16, byte))
    return "piece " + std::to_string(id) + " is a byte, and is called `" +
           toHex(piece.text.take_front(longestPiece)) + "` in hexadecimal";
  bytes.resize(256, -1);
  bytes[byte] = id;
  return "";
}

std::string Model::checkPieces() {
  for (auto [id, piece] : enumerate(pieces)) {
    std::string place = "piece " + std::to_string(id);
    if (piece.text.empty())
      return place + " is empty";
    if (piece.text.size() > longestPiece)
      return place + " has " + std::to_string(piece.text.size()) +
             " bytes, and at most " + std::to_string(longestPiece) +
             " are read";
    if (!std::isfinite(piece.score))
      return place + " has a score that is not a finite number";
    bool isSpelled = false;
    switch (piece.type) {
    case PieceType::Normal:
    case PieceType::UserDefined:
    case PieceType::Unused:
      isSpelled = true;
      break;
    case PieceType::Unknown:
      if (unknown >= 0)
        return place + " is for unknown characters, as is piece " +
               std::to_string(unknown);
      unknown = int32_t(id);
      break;
    case PieceType::Control:
      break;
    case PieceType::Byte:
      if (std::string wrong = checkByte(piece, int32_t(id)); !wrong.empty())
        return wrong;
      break;
    default:
      return place + " is of type " + std::to_string(int32_t(piece.type)) +
             ", which is unknown";
    }
    if (spelled.contains(piece.text) || reserved.contains(piece.text))
      return place + " is there twice";
    (isSpelled ? spelled : reserved)[piece.text] = int32_t(id);
  }
  return "";
}

std::string Model::read(StringRef file) {
  if (!protobuf::merge(arrayRefFromStringRef(file), *this) || pieces.empty())
    return "it is not a SentencePiece model, or is damaged";
  if (pieces.size() > mostPieces)
    return "it has " + std::to_string(pieces.size()) + " pieces, and at most " +
           std::to_string(mostPieces) + " are read";
  if (std::string wrong = checkPieces(); !wrong.empty())
    return wrong;
  if (unknown < 0)
    return "it has no piece for unknown characters";
  if (trainer->usesBytes && (bytes.empty() || is_contained(bytes, -1)))
    return "its unknown characters become bytes, and it lacks pieces for some "
           "of the 256";
  if (!trainer->usesBytes && !bytes.empty())
    return "it has pieces for bytes, and unknown characters do not become "
           "bytes";
  if (trainer->type < ModelType::Unigram || trainer->type > ModelType::Char)
    return "it is of type " + std::to_string(int32_t(trainer->type)) +
           ", which is unknown";
  if (!normalizer->characterMap.empty() &&
      !CharacterMap(normalizer->characterMap).isWhole())
    return "its character map is damaged";
  return "";
}
