//===- ArrayViewText.cpp - views as text ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ViewReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using Kind = ViewStep::Kind;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string rangeText(int64_t first, int64_t second, bool isWhole) {
  return isWhole ? ":" : std::to_string(first) + ":" + std::to_string(second);
}

/// `shape` is the shape of the array that `step` is applied to.
static std::string stepText(const ViewStep &step, const Shape &shape) {
  llvm::SmallVector<std::string, 4> axes;
  for (size_t axis = 0; axis < step.first.size(); ++axis) {
    int64_t first = step.first[axis];
    if (step.kind == Kind::Slice)
      axes.push_back(rangeText(first, step.second[axis],
                               first == 0 && step.second[axis] == shape[axis]));
    else if (step.kind == Kind::Pad)
      axes.push_back(rangeText(first, step.second[axis],
                               first == 0 && step.second[axis] == 0));
    else
      axes.push_back(std::to_string(first));
  }
  return spelling(step.kind).str() + "[" + llvm::join(axes, ", ") + "]";
}

std::string ArrayView::str() const {
  llvm::SmallVector<std::string, 4> texts;
  Shape shape = source;
  for (const ViewStep &step : list) {
    texts.push_back(stepText(step, shape));
    shape = step.apply(shape);
  }
  return llvm::join(texts, " ");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::optional<int64_t> ViewReader::integer() {
  uint64_t value;
  skipSpace();
  // A number with more digits than any extent is invalid.
  size_t digits = rest.find_if_not(llvm::isDigit);
  llvm::StringRef word = rest.take_front(digits);
  if (word.size() > 18 || word.getAsInteger(10, value)) {
    fail("a number");
    return std::nullopt;
  }
  rest = rest.drop_front(word.size());
  return int64_t(value);
}

bool ViewReader::integers(Shape &values) {
  if (!expect('['))
    return false;
  while (!accept(']')) {
    if (!values.empty() && !expect(','))
      return false;
    std::optional<int64_t> value = integer();
    if (!value)
      return false;
    values.push_back(*value);
  }
  return true;
}

/// `:` means the whole axis in a slice, and no padding in a padding.
bool ViewReader::ranges(ViewStep &step, llvm::ArrayRef<int64_t> shape) {
  if (!expect('['))
    return false;
  while (!accept(']')) {
    if (!step.first.empty() && !expect(','))
      return false;
    if (accept(':')) {
      size_t axis = step.first.size();
      bool isSlice = step.kind == Kind::Slice;
      step.first.push_back(0);
      step.second.push_back(isSlice && axis < shape.size() ? shape[axis] : 0);
      continue;
    }
    std::optional<int64_t> first = integer();
    if (!first || !expect(':'))
      return false;
    std::optional<int64_t> second = integer();
    if (!second)
      return false;
    step.first.push_back(*first);
    step.second.push_back(*second);
  }
  return true;
}

std::optional<ViewStep> ViewReader::step(llvm::ArrayRef<int64_t> shape) {
  skipSpace();
  for (Kind kind : {Kind::Slice, Kind::Pad, Kind::Permute, Kind::Reshape}) {
    if (!rest.consume_front(spelling(kind)))
      continue;
    ViewStep step{kind, {}, {}};
    bool hasRanges = kind == Kind::Slice || kind == Kind::Pad;
    if (!(hasRanges ? ranges(step, shape) : integers(step.first)))
      return std::nullopt;
    return step;
  }
  fail("`slice`, `pad`, `permute` or `reshape`");
  return std::nullopt;
}

std::optional<ArrayView> ViewReader::steps(llvm::ArrayRef<int64_t> shape) {
  ArrayView view(shape);
  for (size_t count = 0; !atEnd(); ++count) {
    if (count == maxViewSteps) {
      why = "there are more than " + std::to_string(maxViewSteps) + " steps";
      return std::nullopt;
    }
    std::optional<ViewStep> next = step(view.shape());
    if (!next)
      return std::nullopt;
    why = next->misfit(view.shape());
    if (!why.empty())
      return std::nullopt;
    view = view.then(*next);
  }
  return view;
}

void ViewReader::fail(llvm::StringRef expected) {
  skipSpace();
  constexpr size_t shown = 20;
  why = rest.empty() ? "there should be " + expected.str() + " at the end"
                     : "there should be " + expected.str() + " at `" +
                           rest.take_front(shown).str() + "`";
}

std::optional<ArrayView> ArrayView::parse(llvm::StringRef text,
                                          llvm::ArrayRef<int64_t> shape,
                                          std::string &why) {
  return ViewReader(text, why).steps(shape);
}
