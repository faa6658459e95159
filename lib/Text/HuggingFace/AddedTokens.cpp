//===- AddedTokens.cpp - tokens that texts are searched for ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AddedTokens.h"
#include "Unicode.h"

using namespace anec::hf;
using namespace llvm;

/// The bytes of an added token: the search takes as many steps for each byte of
/// a text.
static constexpr size_t longestToken = 1024;

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

void TokenSearch::add(StringRef text, const AddedToken &token) {
  uint32_t node = 0;
  for (char byte : text) {
    auto [edge, isNew] = edges.try_emplace(uint64_t(node) << 8 | uint8_t(byte),
                                           uint32_t(tokensOfNodes.size()));
    if (isNew)
      tokensOfNodes.push_back(-1);
    node = edge->second;
  }
  begins[uint8_t(text.front())] = true;
  // Of those with the same text, the first is found.
  if (tokensOfNodes[node] < 0)
    tokensOfNodes[node] = int32_t(tokens.size());
  tokens.push_back(token);
}

const AddedToken *TokenSearch::startOf(StringRef text, size_t &size) const {
  const AddedToken *longest = nullptr;
  uint32_t node = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    auto edge = edges.find(uint64_t(node) << 8 | uint8_t(text[at]));
    if (edge == edges.end())
      break;
    node = edge->second;
    if (tokensOfNodes[node] < 0)
      continue;
    longest = &tokens[tokensOfNodes[node]];
    size = at + 1;
  }
  return longest;
}

/// Where the spaces at the end of `text` begin.
static size_t withoutSpaces(StringRef text) {
  while (!text.empty() && isSpace(lastCharacter(text)))
    do
      text = text.drop_back();
    while (!text.empty() && (uint8_t(text.end()[0]) & 0xC0) == 0x80);
  return text.size();
}

/// The bytes of the spaces that `text` begins with.
static size_t spacesBefore(StringRef text) {
  StringRef rest = text;
  while (!rest.empty()) {
    StringRef next = rest;
    if (!isSpace(takeCharacter(next)))
      break;
    rest = next;
  }
  return text.size() - rest.size();
}

std::vector<Span> TokenSearch::split(StringRef text) const {
  std::vector<Span> spans;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    size_t size = 0;
    const AddedToken *token = begins[uint8_t(text[at])]
                                  ? startOf(text.drop_front(at), size)
                                  : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + size;
    at = end;
    if (token->isWord) {
      StringRef rest = text.drop_front(end);
      if ((begin > 0 &&
           isWordCharacter(lastCharacter(text.take_front(begin)))) ||
          (!rest.empty() && isWordCharacter(takeCharacter(rest))))
        continue;
    }
    if (token->takesSpaceBefore)
      begin = std::max(withoutSpaces(text.take_front(begin)), done);
    if (token->takesSpaceAfter)
      end += spacesBefore(text.drop_front(end));
    if (done < begin)
      spans.push_back({done, begin, std::nullopt});
    spans.push_back({begin, end, token->id});
    done = end;
  }
  if (done < text.size())
    spans.push_back({done, text.size(), std::nullopt});
  return spans;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reports a token whose id or text another one has.
bool AddedTokens::check(const AddedToken &token, const Vocabulary &words,
                        ReadError &error) const {
  std::string name = "the added token `" + token.text + "`";
  std::optional<int32_t> known = words.idOf(token.text);
  std::optional<StringRef> other = words.textOf(token.id);
  if (token.text.empty())
    error.malformed("the added token " + Twine(token.id) + " has no text");
  else if (token.text.size() > longestToken)
    error.notSupported("an added token of " + Twine(token.text.size()) +
                       " bytes, more than " + Twine(longestToken) + ",");
  else if (known && *known != token.id)
    error.malformed(name + " has the id " + Twine(token.id) + ", and it is " +
                    Twine(*known) + " in the vocabulary");
  else if (other && *other != token.text)
    error.malformed(name + " has the id " + Twine(token.id) + ", as `" +
                    *other + "` in the vocabulary");
  else if (tokens.contains(token.id))
    error.malformed(name + " has the id of another added token, " +
                    Twine(token.id));
  else if (ids.contains(token.text))
    error.malformed(name + " is there twice");
  return !error;
}

void AddedTokens::read(Fields &fields, const Vocabulary &words,
                       const Normalizer *normalizer) {
  if (!fields.value("added_tokens"))
    return;
  std::vector<AddedToken> all;
  fields.forEachObject("added_tokens", [&](Fields &token) {
    AddedToken added;
    added.id = int32_t(token.number("id", 0, largestId));
    added.text = token.text("content");
    added.isWord = token.flag("single_word", false);
    added.takesSpaceBefore = token.flag("lstrip", false);
    added.takesSpaceAfter = token.flag("rstrip", false);
    added.isSpecial = token.flag("special", false);
    added.isNormalized = token.flag("normalized", !added.isSpecial);
    token.finish();
    if (fields.error() || !check(added, words, fields.error()))
      return;
    highest = std::max(highest, unsigned(added.id) + 1);
    ids[added.text] = added.id;
    tokens.try_emplace(added.id, added);
    all.push_back(std::move(added));
  });
  // Special tokens come first where texts are equal.
  for (bool special : {true, false})
    for (const AddedToken &token : all) {
      if (token.isSpecial != special)
        continue;
      Stretch stretch{token.text};
      std::string error;
      if (token.isNormalized && normalizer &&
          (!normalizer->apply(stretch, error) || stretch.text.empty())) {
        fields.error().malformed("the added token `" + token.text +
                                 "` has no normalized text");
        return;
      }
      (token.isNormalized ? after : before).add(stretch.text, token);
      tokens.find(token.id)->second.normal = stretch.text;
    }
}

const AddedToken *AddedTokens::find(int32_t id) const {
  auto found = tokens.find(id);
  return found == tokens.end() ? nullptr : &found->second;
}

std::optional<int32_t> AddedTokens::idOf(StringRef text) const {
  auto found = ids.find(text);
  return found == ids.end() ? std::nullopt
                            : std::optional<int32_t>(found->second);
}
