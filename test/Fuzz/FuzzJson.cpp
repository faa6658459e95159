//===- FuzzJson.cpp - any bytes as a file of JSON -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, each reader of JSON gives a result or an error. The
/// first byte chooses the reader.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Train/TrainLog.h"
#include "lib/Bench/OtherReport.h"
#include "lib/Import/LlamaWeights.h"
#include "lib/Probe/ProbeFile.h"
#include "lib/Support/Json.h"
#include "lib/Train/Checkpoint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

/// The parser of llvm::json is the reference, but for the limits.
static void fuzzText(llvm::ArrayRef<uint8_t> bytes) {
  llvm::StringRef text = llvm::toStringRef(bytes);
  JsonError error;
  std::optional<llvm::json::Value> value = parseJson(text, error);
  llvm::StringRef message = error.message;
  if (message.starts_with("it is nested") || message.starts_with("it has"))
    return;
  llvm::Expected<llvm::json::Value> expected = llvm::json::parse(text);
  if (!expected)
    llvm::consumeError(expected.takeError());
  if (value.has_value() != bool(expected) || (value && *value != *expected))
    std::abort();
}

static void fuzzManifest(llvm::ArrayRef<uint8_t> bytes) {
  Diagnostics diags;
  llvm::StringRef text = diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::toStringRef(bytes), "manifest.json"));
  ModelPackage package;
  bool ok = parseManifest(text, "manifest.json", package, diags);
  expectOneOf(ok, diags);
  if (!ok)
    return;
  // What was read is written, and read again.
  std::string printed, error;
  llvm::raw_string_ostream out(printed);
  ModelPackage again;
  if (!printManifest(package, out, error) ||
      !parseManifest(
          diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(printed)),
          "again.json", again, diags) ||
      again.isChanged)
    std::abort();
}

/// With a digest that fits, so that fields are reached.
static void fuzzState(llvm::ArrayRef<uint8_t> bytes) {
  std::string text = llvm::toStringRef(bytes).str();
  JsonError error;
  if (std::optional<llvm::json::Value> value = parseJson(text, error))
    if (llvm::json::Object *object = value->getAsObject()) {
      (*object)["sha256"] = digestOf(*object);
      text.clear();
      llvm::raw_string_ostream(text) << *value;
    }
  (void)fileOfBytes("state.json", llvm::arrayRefFromStringRef(text));
  Diagnostics diags;
  expectOneOf(readCheckpoint(fuzzFolder().path(), diags).has_value(), diags);
}

static void fuzzMapping(llvm::ArrayRef<uint8_t> bytes) {
  WeightOptions options;
  options.mapping = fileOfBytes("map.json", bytes);
  options.executor = std::make_shared<Executor>(1);
  Diagnostics diags;
  expectOneOf(WeightBinding::open(options, diags).has_value(), diags);
}

static void fuzzConfig(llvm::ArrayRef<uint8_t> bytes) {
  std::string folder = fuzzFolder().file("llama");
  (void)llvm::sys::fs::create_directories(folder);
  writeFile(folder + "/config.json", bytes);
  Diagnostics diags;
  expectOneOf(readLlamaWeights(folder, WeightFormat::HuggingFace, {}, diags)
                  .has_value(),
              diags);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  llvm::ArrayRef<uint8_t> bytes(data + 1, size - 1);
  Diagnostics diags;
  switch (data[0] % 8) {
  case 0:
    fuzzManifest(bytes);
    break;
  case 1:
    fuzzState(bytes);
    break;
  case 2:
    fuzzMapping(bytes);
    break;
  case 3:
    fuzzConfig(bytes);
    break;
  case 4:
    expectOneOf(
        readTrainLog(fileOfBytes("train.jsonl", bytes), diags).has_value(),
        diags);
    break;
  case 5:
    expectOneOf(
        readSuiteReport(fileOfBytes("report.json", bytes), diags).has_value(),
        diags);
    break;
  case 6:
    expectOneOf(
        readProbeFile(fileOfBytes("probe.json", bytes), diags).has_value(),
        diags);
    break;
  case 7:
    fuzzText(bytes);
    break;
  }
  return 0;
}
