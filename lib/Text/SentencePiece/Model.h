//===- Model.h - a SentencePiece model --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The messages of sentencepiece_model.proto as far as they say how a text is
/// encoded and decoded, with the defaults of that file.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_SENTENCEPIECE_MODEL_H
#define ANEC_LIB_TEXT_SENTENCEPIECE_MODEL_H

#include "lib/Protobuf/Message.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace anec::spm {

/// How pieces spell a space.
inline constexpr llvm::StringLiteral spaceMark = "\xE2\x96\x81";

enum class PieceType : int32_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct Piece {
  llvm::StringRef text;
  float score = 0;
  PieceType type = PieceType::Normal;
  static bool fields(auto &m, auto &visit) {
    using protobuf::at;
    return visit(at(1, m.text), at(2, m.score), at(3, m.type));
  }
};

enum class ModelType : int32_t { Unigram = 1, Bpe = 2, Word = 3, Char = 4 };

/// What of the training counts afterwards.
struct TrainerSpec {
  ModelType type = ModelType::Unigram;
  bool spaceIsSuffix = false, usesBytes = false;
  llvm::StringRef unknownText = " \xE2\x81\x87 ";
  llvm::StringRef beginning = "<s>", end = "</s>";
  static bool fields(auto &m, auto &visit) {
    using protobuf::at;
    return visit(at(3, m.type), at(24, m.spaceIsSuffix), at(35, m.usesBytes),
                 at(44, m.unknownText), at(46, m.beginning), at(47, m.end));
  }
};

struct NormalizerSpec {
  llvm::StringRef characterMap;
  bool addsSpace = true, dropsSpaces = true, escapesSpaces = true;
  static bool fields(auto &m, auto &visit) {
    using protobuf::at;
    return visit(at(2, m.characterMap), at(3, m.addsSpace),
                 at(4, m.dropsSpaces), at(5, m.escapesSpaces));
  }
};

/// All texts refer to the bytes of the file.
struct Model {
  std::vector<Piece> pieces;
  protobuf::Part<TrainerSpec> trainer;
  protobuf::Part<NormalizerSpec> normalizer, denormalizer;
  static bool fields(auto &m, auto &visit) {
    using protobuf::at;
    return visit(at(1, m.pieces), at(2, m.trainer), at(3, m.normalizer),
                 at(5, m.denormalizer));
  }

  // Found by `read`.
  int32_t unknown = -1;
  std::vector<int32_t> bytes; ///< the id of each byte; empty without them
  /// Pieces that stand in texts: normal, user-defined and unused ones.
  llvm::DenseMap<llvm::StringRef, int32_t> spelled;
  /// The others.
  llvm::DenseMap<llvm::StringRef, int32_t> reserved;

  PieceType typeOf(int32_t id) const { return pieces[size_t(id)].type; }
  /// The id of a whole piece; that of the unknown one if there is none.
  int32_t idOf(llvm::StringRef text) const;

  /// Reads and checks a model. Returns why it cannot be used; empty if it can.
  std::string read(llvm::StringRef file);

private:
  std::string checkPieces();
  std::string checkByte(const Piece &piece, int32_t id);
};

} // namespace anec::spm

#endif // ANEC_LIB_TEXT_SENTENCEPIECE_MODEL_H
