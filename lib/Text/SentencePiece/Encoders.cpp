//===- Encoders.cpp - texts divided into words or characters --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Encoders.h"

using namespace anec;
using namespace anec::spm;
using namespace llvm;

size_t anec::spm::characterSize(StringRef text) {
  uint8_t lead = uint8_t(text.front());
  size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

size_t anec::spm::symbolSize(StringRef text, const PieceTrie &userDefined,
                             bool &isWhole) {
  size_t size = userDefined.longestPrefix(text);
  isWhole = size > 0;
  return isWhole ? size : characterSize(text);
}

namespace {

class Words : public Encoder {
public:
  explicit Words(const Model &model) : model(model) {}

  std::vector<Part> divide(StringRef text) const override {
    std::vector<Part> parts;
    while (!text.empty()) {
      // A word begins with its space, also when spaces were added at the end.
      size_t size = text.find(spaceMark, characterSize(text));
      StringRef word = text.take_front(size);
      parts.push_back({word, model.idOf(word)});
      text = text.drop_front(word.size());
    }
    return parts;
  }

private:
  const Model &model;
};

class Characters : public Encoder {
public:
  Characters(const Model &model, const PieceTrie &userDefined)
      : model(model), userDefined(userDefined) {}

  std::vector<Part> divide(StringRef text) const override {
    std::vector<Part> parts;
    while (!text.empty()) {
      bool isWhole;
      StringRef part = text.take_front(symbolSize(text, userDefined, isWhole));
      parts.push_back({part, model.idOf(part)});
      text = text.drop_front(part.size());
    }
    return parts;
  }

private:
  const Model &model;
  const PieceTrie &userDefined;
};

} // namespace

std::unique_ptr<Encoder> anec::spm::makeEncoder(const Model &model,
                                                const PieceTrie &userDefined) {
  switch (model.trainer->type) {
  case ModelType::Unigram:
    return makeUnigram(model);
  case ModelType::Bpe:
    return makeBpe(model, userDefined);
  case ModelType::Word:
    return std::make_unique<Words>(model);
  case ModelType::Char:
    return std::make_unique<Characters>(model, userDefined);
  }
  llvm_unreachable("not a type of model");
}
