//===- WeightView.cpp - views of weights ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/WeightView.h"
#include "ViewReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

ConstantRef WeightView::materialize(ConstantRef stored) const {
  assert(stored->type() == storedType());
  unsigned width = bitWidth(stored->storedDType()) / 8;
  assert(width != 0 && "elements of less than a byte are not moved");
  if (std::optional<int64_t> offset = array.contiguousOffset())
    return stored->part(*offset, array.shape());
  TensorType result = type();
  size_t size = size_t(result.numElements()) * width;
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(size);
  array.copy(stored->bytes().data(), bytes.get(), width);
  return Constant::view(std::move(result), stored->storedDType(),
                        {bytes.get(), size}, bytes);
}

template <typename T>
static std::vector<T> elementsOf(const ArrayView &view,
                                 llvm::ArrayRef<T> stored) {
  std::vector<T> elements(
      size_t(TensorType(DType::FP32, view.shape()).numElements()));
  view.copy(stored.data(), elements.data(), sizeof(T));
  return elements;
}

std::vector<double>
WeightView::materialize(llvm::ArrayRef<double> stored) const {
  return elementsOf(array, stored);
}

std::vector<float> WeightView::materialize(llvm::ArrayRef<float> stored) const {
  return elementsOf(array, stored);
}

llvm::hash_code anec::hash_value(const WeightView &view) {
  return llvm::hash_combine(view.weight, unsigned(view.instance.kind),
                            view.instance.number, unsigned(view.dtype),
                            view.array);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static bool isNameCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.';
}

static std::string nameText(llvm::StringRef name) {
  if (!name.empty() && llvm::all_of(name, isNameCharacter))
    return name.str();
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + '"';
}

std::string WeightView::str() const {
  std::string text = nameText(weight);
  if (instance.kind == WeightInstance::Kind::Own)
    text += "[i]";
  else if (instance.kind == WeightInstance::Kind::Number)
    text += "[" + std::to_string(instance.number) + "]";
  text += ": " + storedType().str();
  return array.isIdentity() ? text : text + " " + array.str();
}

static bool readName(ViewReader &reader, std::string &name) {
  reader.skipSpace();
  llvm::StringRef &rest = reader.rest;
  if (!rest.consume_front("\"")) {
    name = rest.take_while(isNameCharacter).str();
    rest = rest.drop_front(name.size());
    if (name.empty())
      reader.fail("the name of a weight");
    return !name.empty();
  }
  while (!rest.consume_front("\"")) {
    rest.consume_front("\\");
    if (rest.empty()) {
      reader.fail("`\"`");
      return false;
    }
    name += rest.front();
    rest = rest.drop_front();
  }
  return true;
}

static bool readInstance(ViewReader &reader, WeightInstance &instance) {
  if (!reader.accept('['))
    return true;
  if (reader.accept('i')) {
    instance = WeightInstance::own();
  } else {
    std::optional<int64_t> number = reader.integer();
    if (!number)
      return false;
    instance = WeightInstance::of(*number);
  }
  return reader.expect(']');
}

static bool readType(ViewReader &reader, TensorType &type) {
  reader.skipSpace();
  llvm::StringRef word = reader.rest.take_while(llvm::isAlnum);
  std::optional<DType> dtype = parseDType(word);
  if (!dtype || bitWidth(*dtype) < 8) {
    reader.fail("an element type of whole bytes");
    return false;
  }
  reader.rest = reader.rest.drop_front(word.size());
  type.dtype = *dtype;
  if (!reader.rest.starts_with("["))
    return true;
  if (!reader.integers(type.shape))
    return false;
  reader.why = ViewStep::reshape(type.shape).misfit(type.shape);
  return reader.why.empty();
}

std::optional<WeightView> WeightView::parse(llvm::StringRef text,
                                            std::string &why) {
  ViewReader reader(text, why);
  WeightView view;
  TensorType stored;
  if (!readName(reader, view.weight) || !readInstance(reader, view.instance) ||
      !reader.expect(':') || !readType(reader, stored))
    return std::nullopt;
  std::optional<ArrayView> array = reader.steps(stored.shape);
  if (!array)
    return std::nullopt;
  view.dtype = stored.dtype;
  view.array = std::move(*array);
  return view;
}
