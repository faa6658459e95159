//===- CompiledData.cpp - binary files of compiled models -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Apple does not publish these forms. Two projects that write compiled models
/// describe them alike: rebeckerspecialties/mlmodelc-export, whose tests
/// compare bytes with those of `coremlc` 3520 and 3600 and run the models on
/// macOS 15 and watchOS 11, and tmc/apple (x/coremlcompiler). Classifiers are
/// in neither.
///
//===----------------------------------------------------------------------===//

#include "CompiledData.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

/// Little-endian.
template <typename Number>
static void append(std::string &out, Number number) {
  for (unsigned shift = 0; shift < 8 * sizeof(Number); shift += 8)
    out += char(number >> shift & 0xff);
}

static void append(std::string &out, StringRef text) {
  append(out, uint64_t(text.size()));
  out += text;
}

/// The number of the field of ML programs in the message `Model`.
static constexpr uint32_t modelKind = proto::model::MLProgram;

std::optional<std::string> coreml::compiledData(const PreparedModel &prepared,
                                                const SerializedModel &model) {
  if (!prepared.classifiers.empty())
    return std::nullopt;
  auto version = uint32_t(prepared.deployment.specification);
  std::string out;
  append(out, modelKind);
  append(out, version);
  out.append(20, '\0');
  append(out, StringRef("generic"));
  append(out, version);
  out.append(28, '\0');
  append(out, StringRef(serialize(model.description)));
  for (size_t i = 0; i < prepared.module.functions.size(); ++i) {
    append(out, modelKind);
    out.append(12, '\0');
  }
  return out;
}

std::string coreml::analyticsData(const SerializedModel &model,
                                  StringRef name) {
  std::string hash =
      llvm::fromHex(sha256(llvm::arrayRefFromStringRef(model.bytes)));
  std::string out;
  auto section =
      [&](StringRef title,
          std::initializer_list<std::pair<StringRef, StringRef>> entries) {
        append(out, title);
        append(out, uint64_t(entries.size()));
        for (auto [key, value] : entries) {
          append(out, key);
          append(out, value);
        }
      };
  section("NeuralNetworkModelDetails",
          {{"containsCustomLayer", "0"}, {"modelDimension", "0"}});
  section("SpecificationDetails",
          {{"modelHash", llvm::encodeBase64(hash)}, {"modelName", name}});
  return out;
}
