//===- CompiledMetadata.cpp - metadata of compiled models -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The keys and spellings of metadata that `coremlc` 3520 and 3600 wrote (the
/// fixtures of rebeckerspecialties/mlmodelc-export), and of features in
/// coremltools (mlmodel/src/DataType.cpp).
///
//===----------------------------------------------------------------------===//

#include "CompiledMetadata.h"
#include "FeatureSchema.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Systems
//===----------------------------------------------------------------------===//

namespace {
/// The oldest systems that have a version of the specification.
struct Availability {
  int specification;
  StringRef macOS, iOS, watchOS, visionOS;
};
} // namespace

static constexpr Availability systems[] = {
    {6, "12.0", "15.0", "8.0", "1.0"},    {7, "13.0", "16.0", "9.0", "1.0"},
    {8, "14.0", "17.0", "10.0", "1.0"},   {9, "15.0", "18.0", "11.0", "2.0"},
    {10, "26.0", "26.0", "26.0", "26.0"},
};

static void writeAvailability(json::OStream &out, int specification) {
  out.attributeObject("availability", [&] {
    for (const Availability &row : systems) {
      if (row.specification != specification)
        continue;
      out.attribute("macOS", row.macOS);
      out.attribute("tvOS", row.iOS);
      out.attribute("visionOS", row.visionOS);
      out.attribute("watchOS", row.watchOS);
      out.attribute("iOS", row.iOS);
      out.attribute("macCatalyst", row.iOS);
    }
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static void writeSchema(json::OStream &out, StringRef key,
                        llvm::ArrayRef<proto::FeatureDescription> features) {
  out.attributeArray(key, [&] {
    for (const proto::FeatureDescription &feature : features)
      writeFeature(out, feature);
  });
}

/// Writes what a function and a model have in common. `Description` is that of
/// either.
template <typename Description>
static void writeFunction(json::OStream &out, const Description &description,
                          const FunctionStatistics &statistics) {
  writeSchema(out, "inputSchema", description.input);
  writeSchema(out, "outputSchema", description.output);
  writeSchema(out, "stateSchema", description.state);
  out.attribute("computePrecision", describeTypes(statistics.computed));
  out.attributeObject("mlProgramOperationTypeHistogram", [&] {
    for (const auto &[name, count] : statistics.operations)
      out.attribute(name, count);
  });
}

/// Writes all functions, and the default one as that of the model.
static void writeFunctions(json::OStream &out,
                           const CompiledMetadata &metadata) {
  const proto::ModelDescription &description = metadata.description;
  if (description.functions.empty())
    return writeFunction(out, description, metadata.functions[0]);
  for (auto [function, statistics] :
       llvm::zip_equal(description.functions, metadata.functions))
    if (function.name == description.defaultFunctionName)
      writeFunction(out, function, statistics);
  out.attribute("defaultFunctionName", description.defaultFunctionName);
  out.attributeArray("functions", [&] {
    for (const auto &pair :
         llvm::zip_equal(description.functions, metadata.functions))
      out.object([&] {
        out.attribute("name", std::get<0>(pair).name);
        writeFunction(out, std::get<0>(pair), std::get<1>(pair));
      });
  });
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static void writeStorage(json::OStream &out,
                         llvm::ArrayRef<FunctionStatistics> functions) {
  std::set<std::string> stored;
  for (const FunctionStatistics &function : functions)
    stored.insert(function.stored.begin(), function.stored.end());
  if (!stored.empty())
    out.attribute("storagePrecision", describeTypes(stored));
}

/// The author's words, those that are there.
static void writeAuthor(json::OStream &out, const proto::Metadata &metadata) {
  for (auto [key, text] : {
           std::pair<StringRef, StringRef>{"shortDescription",
                                           metadata.shortDescription},
           {"version", metadata.versionString},
           {"author", metadata.author},
           {"license", metadata.license},
       })
    if (!text.empty())
      out.attribute(key, json::fixUTF8(text));
  out.attributeObject("userDefinedMetadata", [&] {
    for (const auto &[key, text] : metadata.userDefined)
      out.attribute(json::fixUTF8(key), json::fixUTF8(text));
  });
}

/// A name that Swift can have: the model's, other characters as `_`.
static std::string className(StringRef name) {
  std::string result;
  for (char letter : name)
    result += llvm::isAlnum(letter) ? letter : '_';
  if (result.empty() || llvm::isDigit(result[0]))
    result.insert(0, "_");
  return result;
}

std::string CompiledMetadata::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream, 2);
  out.array([&] {
    out.object([&] {
      out.attribute("metadataOutputVersion", "3.0");
      out.attribute("specificationVersion", deployment.specification);
      out.attributeObject(
          "modelType", [&] { out.attribute("name", "MLModelType_mlProgram"); });
      out.attribute("generatedClassName", className(name));
      out.attribute("method", "predict");
      out.attribute("isUpdatable", "0");
      out.attributeArray("modelParameters", [] {});
      writeAvailability(out, deployment.specification);
      writeStorage(out, functions);
      writeFunctions(out, *this);
      writeAuthor(out, *description.metadata);
    });
  });
  return text + "\n";
}
