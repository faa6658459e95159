//===- ReadWantedDescription.cpp - descriptions as JSON -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/CoreML/WantedDescription.h"
#include "lib/CoreML/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <limits>

using namespace anec;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

/// A value of the text, and where it is.
struct Node {
  const json::Value *value;
  std::string pointer;
};

class DescriptionReader {
public:
  DescriptionReader(const JsonPlaces &places, StringRef folder,
                    Diagnostics &diags)
      : places(places), folder(folder), diags(diags) {}
  bool read(const json::Value &root, WantedDescription &wanted);

private:
  SourceRange rangeOf(const Node &node) const {
    return places.value(node.pointer);
  }
  bool fail(const Node &node, StringRef expected) {
    diags.report(rangeOf(node), diag::DescribeValue, expected);
    return false;
  }
  using ReadMember = llvm::function_ref<bool(StringRef key, const Node &)>;
  /// Reads the members of an object in the order of the text. With `known`, a
  /// key that is none of them is an error.
  bool readMembers(const Node &node, llvm::ArrayRef<StringRef> known,
                   ReadMember read);
  bool readText(const Node &node, std::string &text);
  bool readFlag(const Node &node, bool &flag);
  bool readNumber(const Node &node, double &number);
  bool readNumbers(const Node &node, std::vector<double> &numbers);
  bool readColors(const Node &node, ColorSpace &colors);
  bool readImage(const Node &node, WantedImage &image);
  bool readFeature(const Node &node, bool isInput, WantedFeature &feature);
  bool readFeatures(const Node &node, bool isInput,
                    std::vector<WantedFeature> &features);
  bool readLabels(const Node &node, ConstantRef &classes);
  bool readClasses(const Node &node, ConstantRef &classes);
  bool readClassifier(const Node &node, WantedClassifier &classifier);

  const JsonPlaces &places;
  StringRef folder;
  Diagnostics &diags;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool DescriptionReader::readMembers(const Node &node,
                                    llvm::ArrayRef<StringRef> known,
                                    ReadMember read) {
  const json::Object *object = node.value->getAsObject();
  if (!object)
    return fail(node, "an object, `{...}`");
  // In the order of the text, so that messages and bytes do not depend on
  // hashes.
  std::vector<const json::Object::value_type *> members;
  for (const auto &member : *object)
    members.push_back(&member);
  auto pointerTo = [&](const json::Object::value_type *member) {
    return JsonPlaces::member(node.pointer, member->first);
  };
  llvm::sort(members, [&](const auto *left, const auto *right) {
    return places.key(pointerTo(left)).Start.getPointer() <
           places.key(pointerTo(right)).Start.getPointer();
  });
  bool ok = true;
  for (const auto *member : members) {
    StringRef key = member->first;
    std::string pointer = pointerTo(member);
    if (!known.empty() && !llvm::is_contained(known, key)) {
      SourceRange range = places.key(pointer);
      auto report = diags.report(range, diag::DescribeKey, key,
                                 "`" + llvm::join(known, "`, `") + "`");
      Suggestion suggestion(key);
      for (StringRef other : known)
        suggestion.consider(other);
      suggestion.note(report, range);
      ok = false;
      continue;
    }
    ok &= read(key, {&member->second, pointer});
  }
  return ok;
}

bool DescriptionReader::readText(const Node &node, std::string &text) {
  std::optional<StringRef> string = node.value->getAsString();
  if (!string)
    return fail(node, "a string");
  text = string->str();
  return true;
}

bool DescriptionReader::readFlag(const Node &node, bool &flag) {
  std::optional<bool> given = node.value->getAsBoolean();
  if (!given)
    return fail(node, "`true` or `false`");
  flag = *given;
  return true;
}

bool DescriptionReader::readNumber(const Node &node, double &number) {
  std::optional<double> given = node.value->getAsNumber();
  if (!given || std::abs(*given) > std::numeric_limits<float>::max())
    return fail(node, "a number that fp32 has");
  number = *given;
  return true;
}

bool DescriptionReader::readNumbers(const Node &node,
                                    std::vector<double> &numbers) {
  const json::Array *array = node.value->getAsArray();
  numbers.clear();
  if (!array)
    return readNumber(node, numbers.emplace_back());
  if (array->size() != 3)
    return fail(node, "a number, or a list of three");
  for (size_t i = 0; i < array->size(); ++i)
    if (!readNumber({&(*array)[i], JsonPlaces::element(node.pointer, i)},
                    numbers.emplace_back()))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

bool DescriptionReader::readColors(const Node &node, ColorSpace &colors) {
  std::string text;
  if (!readText(node, text))
    return false;
  for (auto [name, space] :
       {std::pair<StringRef, ColorSpace>("RGB", ColorSpace::RGB),
        {"BGR", ColorSpace::BGR},
        {"GRAYSCALE", ColorSpace::Gray},
        {"GRAYSCALE_FLOAT16", ColorSpace::GrayFloat16}})
    if (name == text) {
      colors = space;
      return true;
    }
  return fail(node, "`RGB`, `BGR`, `GRAYSCALE` or `GRAYSCALE_FLOAT16`");
}

bool DescriptionReader::readImage(const Node &node, WantedImage &image) {
  image.range = rangeOf(node);
  if (node.value->getAsString())
    return readColors(node, image.colors);
  if (!readMembers(node, {"colors", "scale", "bias"},
                   [&](StringRef key, const Node &member) {
                     return key == "colors"
                                ? readColors(member, image.colors)
                                : readNumbers(member, key == "scale"
                                                          ? image.scale
                                                          : image.bias);
                   }))
    return false;
  bool isGray = image.colors == ColorSpace::Gray ||
                image.colors == ColorSpace::GrayFloat16;
  for (auto [key, numbers] :
       {std::pair("scale", &image.scale), {"bias", &image.bias}})
    if (isGray && numbers->size() != 1)
      return fail({node.value, JsonPlaces::member(node.pointer, key)},
                  "a number: the image has one channel");
  return true;
}

bool DescriptionReader::readFeature(const Node &node, bool isInput,
                                    WantedFeature &feature) {
  llvm::SmallVector<StringRef, 4> known = {"name", "description", "image"};
  if (isInput)
    known.push_back("default");
  if (!readMembers(node, known, [&](StringRef key, const Node &member) {
        if (key == "name") {
          feature.nameRange = rangeOf(member);
          return readText(member, feature.name);
        }
        if (key == "description")
          return readText(member, feature.summary);
        if (key == "image")
          return readImage(member, feature.image.emplace());
        feature.defaultRange = rangeOf(member);
        return readNumber(member, feature.byDefault.emplace());
      }))
    return false;
  if (!feature.image || !feature.byDefault)
    return true;
  diags.report(feature.defaultRange, diag::DescribeDefault, feature.of,
               "an image");
  return false;
}

bool DescriptionReader::readFeatures(const Node &node, bool isInput,
                                     std::vector<WantedFeature> &features) {
  return readMembers(node, {}, [&](StringRef key, const Node &member) {
    WantedFeature &feature = features.emplace_back();
    feature.of = key.str();
    feature.range = places.key(member.pointer);
    return readFeature(member, isInput, feature);
  });
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static ConstantRef stringClasses(std::vector<std::string> classes) {
  TensorType type(DType::String, {int64_t(classes.size())});
  return Constant::strings(type, std::move(classes));
}

/// The lines of a file.
bool DescriptionReader::readLabels(const Node &node, ConstantRef &classes) {
  llvm::SmallString<128> path(*node.value->getAsString());
  if (llvm::sys::path::is_relative(path) && !folder.empty()) {
    path = folder;
    llvm::sys::path::append(path, *node.value->getAsString());
  }
  std::optional<StringRef> text = diags.addFile(path);
  if (!text)
    return false;
  if (size_t invalid = 0; !json::isUTF8(*text, &invalid)) {
    auto place = llvm::SMLoc::getFromPointer(text->data() + invalid);
    diags.report({place, place}, diag::DescribeLabels, "it is not UTF-8");
    return false;
  }
  text->consume_front("\xEF\xBB\xBF");
  std::vector<std::string> labels;
  llvm::SmallVector<StringRef, 16> lines;
  text->split(lines, '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  for (StringRef line : lines)
    labels.push_back(line.rtrim('\r').str());
  if (labels.empty())
    return fail(node, "a file with a label on each line; it is empty");
  classes = stringClasses(std::move(labels));
  return true;
}

bool DescriptionReader::readClasses(const Node &node, ConstantRef &classes) {
  if (node.value->getAsString())
    return readLabels(node, classes);
  const json::Array *array = node.value->getAsArray();
  if (!array || array->empty())
    return fail(node, "the name of a file with a label on each line, or a list "
                      "of strings or integers");
  std::vector<std::string> strings;
  std::vector<int64_t> integers;
  for (size_t i = 0; i < array->size(); ++i) {
    const json::Value &value = (*array)[i];
    Node element{&value, JsonPlaces::element(node.pointer, i)};
    if (std::optional<StringRef> string = value.getAsString())
      strings.push_back(string->str());
    else if (std::optional<int64_t> integer = value.getAsInteger())
      integers.push_back(*integer);
    else
      return fail(element, "a string or an integer");
    if (!strings.empty() && !integers.empty())
      return fail(element, "a class of the same type as those before it");
  }
  if (!strings.empty()) {
    classes = stringClasses(std::move(strings));
    return true;
  }
  std::vector<uint8_t> bytes(integers.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), integers.data(), bytes.size());
  classes = Constant::copy(TensorType(DType::Int64, {int64_t(integers.size())}),
                           bytes);
  return true;
}

bool DescriptionReader::readClassifier(const Node &node,
                                       WantedClassifier &classifier) {
  classifier.range = rangeOf(node);
  if (!readMembers(node, {"classes", "probabilities", "scores", "label"},
                   [&](StringRef key, const Node &member) {
                     if (key == "classes") {
                       classifier.classesRange = rangeOf(member);
                       return readClasses(member, classifier.classes);
                     }
                     if (key == "label") {
                       classifier.labelRange = rangeOf(member);
                       return readText(member, classifier.label);
                     }
                     if (!classifier.probabilities.empty())
                       return fail(member, "`probabilities` or `scores`, not "
                                           "both of them");
                     classifier.hasScores = key == "scores";
                     classifier.probabilitiesRange = rangeOf(member);
                     return readText(member, classifier.probabilities);
                   }))
    return false;
  return classifier.classes || fail(node, "an object with `classes`");
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

bool DescriptionReader::read(const json::Value &root,
                             WantedDescription &wanted) {
  static constexpr StringRef known[] = {"description", "author",    "license",
                                        "version",     "metadata",  "inputs",
                                        "outputs",     "classifier"};
  return readMembers({&root, ""}, known, [&](StringRef key, const Node &node) {
    if (key == "inputs")
      return readFeatures(node, /*isInput=*/true, wanted.inputs);
    if (key == "outputs")
      return readFeatures(node, /*isInput=*/false, wanted.outputs);
    if (key == "classifier")
      return readClassifier(node, wanted.classifier.emplace());
    auto readEntry = [&](StringRef name, const Node &entry) {
      auto &[own, text] = wanted.metadata.emplace_back();
      own = name.str();
      return readText(entry, text);
    };
    return key == "metadata" ? readMembers(node, {}, readEntry)
                             : readEntry(key, node);
  });
}

std::optional<WantedDescription>
anec::parseWantedDescription(StringRef text, StringRef folder,
                             Diagnostics &diags) {
  JsonPlaces places;
  std::optional<json::Value> root =
      parseJson(text, diag::DescribeJson, diags, &places);
  WantedDescription wanted;
  if (!root || !DescriptionReader(places, folder, diags).read(*root, wanted))
    return std::nullopt;
  return wanted;
}

std::optional<WantedDescription>
anec::readWantedDescription(StringRef path, Diagnostics &diags) {
  std::optional<StringRef> text = diags.addFile(path);
  if (!text)
    return std::nullopt;
  return parseWantedDescription(*text, llvm::sys::path::parent_path(path),
                                diags);
}
