//===- GenerationConfig.cpp - how a model is meant to write ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Generate/GenerationConfig.h"
#include "lib/Generate/Diags.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdint>

using namespace anec;
namespace json = llvm::json;

namespace {
/// A number of the file, and what it can be.
struct Field {
  llvm::StringLiteral name;
  double SamplingOptions::*member;
  double least, most;
};
} // namespace

static constexpr Field fields[] = {
    {"temperature", &SamplingOptions::temperature, 0, 1e6},
    {"top_p", &SamplingOptions::topP, 0x1p-60, 1},
    {"min_p", &SamplingOptions::minP, 0, 1},
    {"repetition_penalty", &SamplingOptions::repeatPenalty, 0x1p-60, 1e6},
};

/// The member, unless it is null.
static const json::Value *memberOf(const json::Object &object,
                                   llvm::StringRef name) {
  const json::Value *value = object.get(name);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

bool anec::readGenerationConfig(llvm::StringRef folder,
                                SamplingOptions &options, Diagnostics &diags) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "generation_config.json");
  if (!llvm::sys::fs::exists(path))
    return true;
  std::optional<json::Value> value =
      readJson(path, diag::BadGenerationConfig, diags);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    if (value)
      diags.reportFile(path, diag::BadGenerationConfig, "it is not an object");
    return false;
  }
  auto fail = [&](llvm::StringRef name) {
    diags.reportFile(path, diag::BadGenerationConfig,
                     ("its `" + name + "` is out of range").str());
    return false;
  };
  for (const Field &field : fields) {
    const json::Value *found = memberOf(*object, field.name);
    if (!found)
      continue;
    std::optional<double> number = found->getAsNumber();
    if (!number || !(*number >= field.least && *number <= field.most))
      return fail(field.name);
    options.*field.member = *number;
    if (field.member == &SamplingOptions::repeatPenalty)
      options.repeatWindow = 0;
  }
  if (const json::Value *topK = memberOf(*object, "top_k")) {
    std::optional<int64_t> number = topK->getAsInteger();
    if (!number || *number < 0 || *number > INT32_MAX)
      return fail("top_k");
    options.topK = unsigned(*number);
  }
  if (object->getBoolean("do_sample") == false)
    options.temperature = 0;
  return true;
}
