//===- FieldMutator.cpp - changes of fields of messages -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FieldMutator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <bit>
#include <limits>

using namespace anec;
using namespace anec::protobuf;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Messages as trees
//===----------------------------------------------------------------------===//

namespace {

/// A field, or the whole message, which has no number.
struct Tree {
  int number = 0;
  Wire wire = Wire::Delimited;
  uint64_t value = 0;
  std::string bytes;
  bool isMessage = false; ///< `fields` count, not `bytes`
  std::vector<Tree> fields;
};

/// A field and the list that it is in.
struct Place {
  std::vector<Tree> *siblings;
  size_t index;
  Tree &operator*() const { return (*siblings)[index]; }
  Tree *operator->() const { return &**this; }
};

} // namespace

static bool isText(Bytes bytes) {
  return llvm::all_of(bytes, [](uint8_t c) { return llvm::isPrint(char(c)); });
}

static bool readTree(Bytes bytes, Tree &tree, unsigned depth) {
  constexpr unsigned deepest = 60;
  tree.isMessage =
      depth < deepest && forEachField(bytes, [&](const Field &field) {
        Tree &child = tree.fields.emplace_back();
        child.number = field.number;
        child.wire = field.wire;
        child.value = field.number64;
        if (field.isBytes &&
            (isText(field.bytes) || !readTree(field.bytes, child, depth + 1)))
          child.bytes = field.text().str();
        return true;
      });
  if (!tree.isMessage)
    tree.fields.clear();
  return tree.isMessage;
}

static std::string printTree(const Tree &tree) {
  if (!tree.isMessage)
    return tree.bytes;
  std::string out;
  for (const Tree &field : tree.fields) {
    if (field.wire == Wire::Delimited) {
      appendBytes(out, field.number, printTree(field));
    } else {
      appendTag(out, field.number, field.wire);
      appendNumber(out, field.wire, field.value);
    }
  }
  return out;
}

static void listPlaces(Tree &tree, std::vector<Place> &places) {
  for (size_t i = 0; i != tree.fields.size(); ++i) {
    places.push_back({&tree.fields, i});
    listPlaces(tree.fields[i], places);
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

namespace {

class Mutator {
public:
  Mutator(std::mt19937 &random, ByteMutator mutateBytes)
      : random(random), mutateBytes(mutateBytes) {}

  void change(Tree &root);
  void cross(Tree &root, Tree &other);

private:
  size_t below(size_t count) { return random() % count; }
  bool oneIn(size_t count) { return below(count) == 0; }

  Place choose(Tree &root);
  std::optional<Place> chooseLike(Tree &root, int number);
  uint64_t number(uint64_t before);
  uint64_t floating(Wire wire);
  bool changeNumbers(std::string &bytes);
  void changeBytes(std::string &bytes);
  void changeLeaf(Tree &root, Tree &leaf);
  void changeList(Tree &root, Place place);

  std::mt19937 &random;
  ByteMutator mutateBytes;
};

} // namespace

/// Any field alike, or on the way down from the root, where there are fewer.
Place Mutator::choose(Tree &root) {
  if (oneIn(2)) {
    std::vector<Place> places;
    listPlaces(root, places);
    return places[below(places.size())];
  }
  Place place = {&root.fields, below(root.fields.size())};
  while (!place->fields.empty() && !oneIn(5))
    place = {&place->fields, below(place->fields.size())};
  return place;
}

/// Another field with this number.
std::optional<Place> Mutator::chooseLike(Tree &root, int number) {
  std::vector<Place> places;
  listPlaces(root, places);
  llvm::erase_if(places, [&](const Place &place) {
    return place->number != number || place->wire != Wire::Delimited;
  });
  if (places.empty())
    return std::nullopt;
  return places[below(places.size())];
}

uint64_t Mutator::number(uint64_t before) {
  static constexpr int64_t odd[] = {
      0,         1,          2,          3,         4,          8,
      -1,        -2,         127,        128,       255,        256,
      65535,     65536,      1 << 20,    1 << 24,   1 << 30,    INT32_MAX,
      INT32_MIN, UINT32_MAX, 1ll << 32,  1ll << 40, 1ll << 62,  INT64_MAX,
      INT64_MIN, 3037000500, 4294967297, -4,        1000000007, 100};
  switch (below(4)) {
  case 0:
    return uint64_t(odd[below(std::size(odd))]);
  case 1:
    return before + below(9) - 4;
  case 2:
    return before ^ (uint64_t(1) << below(64));
  default:
    return below(12);
  }
}

uint64_t Mutator::floating(Wire wire) {
  using Limits = std::numeric_limits<double>;
  static constexpr double odd[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   2,
                                   1e-30,
                                   1e30,
                                   1e-6,
                                   65504,
                                   70000,
                                   4294967296.0,
                                   -1e300,
                                   1e300,
                                   255,
                                   -128,
                                   2147483648.0,
                                   Limits::denorm_min(),
                                   Limits::infinity(),
                                   Limits::quiet_NaN()};
  double value = odd[below(std::size(odd))];
  return wire == Wire::Fixed64
             ? std::bit_cast<uint64_t>(value)
             : uint64_t(std::bit_cast<uint32_t>(value > 3e38 || value < -3e38
                                                    ? float(Limits::infinity())
                                                    : float(value)));
}

/// Packed numbers. Returns false when they are none.
bool Mutator::changeNumbers(std::string &bytes) {
  std::vector<uint64_t> numbers;
  Bytes packed(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  if (bytes.size() > 128 ||
      !forEachNumber(packed, Wire::Varint, [&](const Field &field) {
        numbers.push_back(field.number64);
      }))
    return false;
  size_t at = numbers.empty() ? 0 : below(numbers.size());
  if (numbers.empty() || oneIn(6))
    numbers.insert(numbers.begin() + ptrdiff_t(at), number(1));
  else if (oneIn(6))
    numbers.erase(numbers.begin() + ptrdiff_t(at));
  else if (oneIn(6))
    std::swap(numbers[at], numbers[below(numbers.size())]);
  else
    numbers[at] = number(numbers[at]);
  bytes.clear();
  for (uint64_t each : numbers)
    appendNumber(bytes, Wire::Varint, each);
  return true;
}

void Mutator::changeBytes(std::string &bytes) {
  size_t size = bytes.size();
  bytes.resize(size + 64);
  bytes.resize(mutateBytes(reinterpret_cast<uint8_t *>(bytes.data()), size,
                           bytes.size()));
}

void Mutator::changeLeaf(Tree &root, Tree &leaf) {
  if (leaf.wire == Wire::Varint) {
    leaf.value = number(leaf.value);
  } else if (leaf.wire != Wire::Delimited) {
    leaf.value = floating(leaf.wire);
  } else if (isText(llvm::arrayRefFromStringRef(leaf.bytes)) && !oneIn(3)) {
    // A name that the message has: of a value, an operator or an attribute.
    if (std::optional<Place> like = chooseLike(root, leaf.number)) {
      Tree copy = **like;
      leaf = std::move(copy);
    }
  } else if (oneIn(3) || !changeNumbers(leaf.bytes)) {
    changeBytes(leaf.bytes);
  }
}

/// Changes the list that the field is in.
void Mutator::changeList(Tree &root, Place place) {
  std::vector<Tree> &list = *place.siblings;
  auto at = list.begin() + ptrdiff_t(place.index);
  switch (below(4)) {
  case 0:
    list.erase(at);
    return;
  case 1: {
    Tree copy = *at;
    list.insert(list.begin() + ptrdiff_t(below(list.size() + 1)),
                std::move(copy));
    return;
  }
  case 2:
    std::swap(*at, list[below(list.size())]);
    return;
  default: {
    Tree copy = *choose(root);
    if (oneIn(2))
      copy.number = at->number;
    list.insert(list.begin() + ptrdiff_t(below(list.size() + 1)),
                std::move(copy));
  }
  }
}

void Mutator::change(Tree &root) {
  do {
    if (root.fields.empty())
      return;
    Place place = choose(root);
    if (place->isMessage && oneIn(3)) {
      if (std::optional<Place> like = chooseLike(root, place->number)) {
        Tree copy = **like;
        *place = std::move(copy);
      }
    } else if (place->isMessage || oneIn(4)) {
      changeList(root, place);
    } else {
      changeLeaf(root, *place);
    }
  } while (!oneIn(2));
}

void Mutator::cross(Tree &root, Tree &other) {
  do {
    Tree given = *choose(other);
    std::optional<Place> place = chooseLike(root, given.number);
    if (place && oneIn(2))
      **place = std::move(given);
    else if (place)
      place->siblings->insert(
          place->siblings->begin() + ptrdiff_t(place->index), std::move(given));
    else
      root.fields.push_back(std::move(given));
  } while (!oneIn(2));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

std::optional<std::string> anec::mutateFields(Bytes message,
                                              std::mt19937 &random,
                                              ByteMutator mutateBytes) {
  Tree root;
  if (!readTree(message, root, 0) || root.fields.empty())
    return std::nullopt;
  Mutator(random, mutateBytes).change(root);
  return printTree(root);
}

std::optional<std::string> anec::crossFields(Bytes message, Bytes other,
                                             std::mt19937 &random) {
  Tree root, from;
  if (!readTree(message, root, 0) || !readTree(other, from, 0) ||
      root.fields.empty() || from.fields.empty())
    return std::nullopt;
  Mutator(random, [](uint8_t *, size_t size, size_t) {
    return size;
  }).cross(root, from);
  return printTree(root);
}
