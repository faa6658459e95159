//===- Einsum.cpp - products by letters of axes ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Rows/Reduce.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

namespace {

/// A value with a letter for each axis. The axes of `...` are digits, the last
/// of which is '9'.
struct Term {
  Val value;
  std::string letters;

  int64_t axisOf(char letter) const { return int64_t(letters.find(letter)); }
  bool has(char letter) const {
    return letters.find(letter) != std::string::npos;
  }
};

} // namespace

/// The letters of a term of the equation; empty if it has none, or if they do
/// not match the rank. A negative rank is that of the result.
static std::optional<std::string> lettersOf(StringRef text, int64_t rank,
                                            int64_t dots) {
  std::string letters;
  bool hasDots = false;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (hasDots)
        return std::nullopt;
      hasDots = true;
      int64_t named =
          int64_t(llvm::count_if(text, [](char c) { return c != ' '; }));
      int64_t count = rank < 0 ? dots : rank - int64_t(letters.size()) - named;
      if (count < 0 || count > 10)
        return std::nullopt;
      for (int64_t i = 0; i != count; ++i)
        letters += char('0' + 10 - count + i);
      continue;
    }
    char letter = text.front();
    text = text.drop_front();
    if (letter == ' ')
      continue;
    if (!llvm::isAlpha(letter))
      return std::nullopt;
    letters += letter;
  }
  if (rank >= 0 && int64_t(letters.size()) != rank)
    return std::nullopt;
  return letters;
}

static Term reorder(Emitter &e, const Term &term, StringRef letters) {
  Shape perm;
  for (char letter : letters)
    perm.push_back(term.axisOf(letter));
  return {e.transpose(term.value, perm), letters.str()};
}

/// Keeps the diagonal of axes with the same letter.
static Term withoutRepeats(Emitter &e, Term term) {
  for (size_t i = 0; i != term.letters.size(); ++i) {
    size_t j = term.letters.find(term.letters[i], i + 1);
    if (j == std::string::npos)
      continue;
    Shape perm, shape;
    std::string rest;
    for (size_t axis = 0; axis != term.letters.size(); ++axis)
      if (axis != i && axis != j) {
        perm.push_back(int64_t(axis));
        shape.push_back(term.value.dim(int64_t(axis)));
        rest += term.letters[axis];
      }
    int64_t extent = term.value.dim(int64_t(i));
    perm.append({int64_t(i), int64_t(j)});
    shape.push_back(extent * extent);
    Val flat = e.reshape(e.transpose(term.value, perm), shape);
    term.value = e.slice(flat, -1, 0, extent * extent, extent + 1);
    term.letters = rest + term.letters[i];
    return withoutRepeats(e, term);
  }
  return term;
}

/// Sums over the axes whose letters are not in `kept`.
static Term sumOthers(Emitter &e, const Term &term, StringRef kept) {
  Shape axes;
  std::string letters;
  for (size_t i = 0; i != term.letters.size(); ++i) {
    if (kept.contains(term.letters[i]))
      letters += term.letters[i];
    else
      axes.push_back(int64_t(i));
  }
  if (axes.empty())
    return term;
  return {e.reduce(ops::ReduceSum, term.value, axes, false), letters};
}

/// The product of two terms, summed over the letters of both that are not in
/// `kept`, as one matrix product with axes in front.
static Term multiply(Emitter &e, Term x, Term y, StringRef kept) {
  x = sumOthers(e, x, (kept + y.letters).str());
  y = sumOthers(e, y, (kept + x.letters).str());
  std::string both, summed, left, right;
  for (char letter : x.letters)
    (!y.has(letter) ? left : kept.contains(letter) ? both : summed) += letter;
  for (char letter : y.letters)
    if (!x.has(letter))
      right += letter;
  x = reorder(e, x, both + left + summed);
  y = reorder(e, y, both + summed + right);
  auto extent = [&](char letter) {
    int64_t ofX = x.has(letter) ? x.value.dim(x.axisOf(letter)) : 1;
    int64_t ofY = y.has(letter) ? y.value.dim(y.axisOf(letter)) : 1;
    return std::max(ofX, ofY);
  };
  auto sizeOf = [&](StringRef letters) {
    int64_t size = 1;
    for (char letter : letters)
      size *= extent(letter);
    return size;
  };
  auto shapeOf = [&](StringRef letters) {
    Shape shape;
    for (char letter : letters)
      shape.push_back(extent(letter));
    return shape;
  };
  // An extent of 1 matches any other.
  Val a = e.broadcast(x.value, shapeOf(x.letters));
  Val b = e.broadcast(y.value, shapeOf(y.letters));
  int64_t images = sizeOf(both), inner = sizeOf(summed);
  a = e.reshape(a, {images, sizeOf(left), inner});
  b = e.reshape(b, {images, inner, sizeOf(right)});
  Val product = e.matmul(a, b);
  std::string letters = both + left + right;
  return {e.reshape(product, shapeOf(letters)), letters};
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

/// Letters that occur once, sorted, after those of `...`: the result of an
/// equation without an arrow.
static std::string implicitResult(llvm::ArrayRef<Term> terms) {
  std::map<char, int> counts;
  for (const Term &term : terms)
    for (char letter : term.letters)
      ++counts[letter];
  std::string letters;
  for (auto [letter, count] : counts)
    if (llvm::isDigit(letter) || count == 1)
      letters += letter;
  return letters;
}

/// Whether axes with the same letter have the same extent, or 1.
static bool extentsAgree(llvm::ArrayRef<Term> terms) {
  std::map<char, int64_t> extents;
  for (const Term &term : terms)
    for (size_t i = 0; i != term.letters.size(); ++i) {
      int64_t own = term.value.dim(int64_t(i));
      int64_t &extent = extents.try_emplace(term.letters[i], own).first->second;
      bool isDot = llvm::isDigit(term.letters[i]);
      if (own != extent && !(isDot && (own == 1 || extent == 1)))
        return false;
      extent = std::max(extent, own);
    }
  return true;
}

/// The result, of the letters `kept`, where an input has no elements: sums of
/// nothing are 0.
static Val sumOfNothing(Emitter &e, llvm::ArrayRef<Term> terms, StringRef kept,
                        DType dtype) {
  Shape shape;
  for (char letter : kept) {
    int64_t extent = 1;
    for (const Term &term : terms)
      if (term.has(letter) && term.value.dim(term.axisOf(letter)) != 1)
        extent = term.value.dim(term.axisOf(letter));
    shape.push_back(extent);
  }
  return llvm::is_contained(shape, 0) ? e.empty(dtype, shape)
                                      : e.filled(dtype, shape, 0);
}

static void readEinsum(Node &n) {
  auto [inputs, result] = n.attrText("equation", "").split("->");
  bool hasArrow = n.attrText("equation", "").contains("->");
  llvm::SmallVector<StringRef> parts;
  inputs.split(parts, ',');
  if (parts.size() != n.numInputs())
    return n.fail("`equation` must have a term for each input");
  std::vector<Term> terms;
  int64_t dots = 0;
  DType dtype = n.in(0).dtype();
  DType wide = dtype == DType::FP16 ? dtype : DType::FP32;
  for (size_t i = 0; i != parts.size(); ++i) {
    Val x = n.in(i);
    if (!x)
      return;
    auto letters = lettersOf(parts[i], x.rank(), 0);
    if (!letters)
      return n.fail("the term `" + parts[i].trim() +
                    "` of `equation` does not match input " + llvm::Twine(i));
    dots = std::max(dots, int64_t(llvm::count_if(*letters, llvm::isDigit)));
    terms.push_back({n.e.cast(x, wide), *letters});
  }
  std::optional<std::string> kept =
      hasArrow ? lettersOf(result, -1, dots) : implicitResult(terms);
  if (!kept)
    return n.fail("the result of `equation` is not a list of letters");
  for (size_t i = 0; i != kept->size(); ++i)
    if (kept->find((*kept)[i], i + 1) != std::string::npos ||
        llvm::none_of(terms,
                      [&](const Term &term) { return term.has((*kept)[i]); }))
      return n.fail("a letter of the result of `equation` occurs twice there, "
                    "or in no input");
  if (!extentsAgree(terms))
    return n.fail("axes with the same letter have different extents");

  Emitter &e = n.e;
  if (llvm::any_of(terms,
                   [](const Term &term) { return term.value.size() == 0; }))
    return n.out(sumOfNothing(e, terms, *kept, dtype));
  for (Term &term : terms)
    term = withoutRepeats(e, term);
  Term product = terms.front();
  for (size_t i = 1; i != terms.size(); ++i) {
    std::string needed = *kept;
    for (size_t later = i + 1; later != terms.size(); ++later)
      needed += terms[later].letters;
    product = multiply(e, product, terms[i], needed);
  }
  product = reorder(e, sumOthers(e, product, *kept), *kept);
  n.out(e.cast(product.value, dtype));
}

static constexpr OpRow einsumTable[] = {
    {.name = "Einsum", .read = readEinsum, .since = 12},
};

llvm::ArrayRef<OpRow> onnx::einsumRows() { return einsumTable; }
