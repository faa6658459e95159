//===- PackageFolder.cpp - what the folder of a package holds -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PackageFolder.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;
namespace json = llvm::json;

static bool mayHoldPackage(StringRef path, bool isFolder) {
  if (!isFolder)
    return path == manifestFile || path == modelFile || path == weightFile;
  return modelFile.starts_with((path + "/").str()) ||
         weightFile.starts_with((path + "/").str());
}

/// The manifest has the folder of the weights, not its files.
static bool listPackage(StringRef text, std::vector<std::string> &files,
                        std::string &wrong) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || !object->getObject("itemInfoEntries") ||
      !object->getString("rootModelIdentifier")) {
    wrong = "it is not the manifest of a Core ML package";
    return false;
  }
  files = {manifestFile.str(), modelFile.str(), weightFile.str()};
  return true;
}

const FolderKind &coreml::coreMLFolder() {
  static constexpr FolderKind kind = {manifestFile, mayHoldPackage,
                                      listPackage};
  return kind;
}

/// An identifier in the form of a UUID: version 8, of bytes that are the
/// writer's own (RFC 9562).
static std::string identifier(StringRef item, StringRef model) {
  std::string digits =
      llvm::StringRef(sha256({llvm::arrayRefFromStringRef(item),
                              llvm::arrayRefFromStringRef(model)}))
          .take_front(32)
          .upper();
  digits[12] = '8';
  digits[16] = '8';
  for (size_t dash : {20, 16, 12, 8})
    digits.insert(dash, 1, '-');
  return digits;
}

std::string coreml::manifestOf(StringRef model, bool hasWeights) {
  struct Item {
    StringRef name, path, description;
  };
  constexpr StringRef author = "com.apple.CoreML";
  std::vector<Item> items = {{"model.mlmodel", "com.apple.CoreML/model.mlmodel",
                              "CoreML Model Specification"}};
  if (hasWeights)
    items.push_back(
        {"weights", "com.apple.CoreML/weights", "CoreML Model Weights"});
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream, 4);
  out.object([&] {
    out.attribute("fileFormatVersion", "1.0.0");
    out.attributeObject("itemInfoEntries", [&] {
      for (const Item &item : items)
        out.attributeObject(identifier(item.name, model), [&] {
          out.attribute("author", author);
          out.attribute("description", item.description);
          out.attribute("name", item.name);
          out.attribute("path", item.path);
        });
    });
    out.attribute("rootModelIdentifier", identifier(items[0].name, model));
  });
  return text + "\n";
}
