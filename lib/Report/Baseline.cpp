//===- Baseline.cpp - findings that are known -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/Baseline.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Json.h"
#include "lib/Support/Listing.h"
#include "lib/Target/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <filesystem>

using namespace anec;

/// `file`, relative to the folder of the file at `path`.
static std::string relativeTo(llvm::StringRef path, llvm::StringRef file) {
  std::error_code code;
  std::filesystem::path folder =
      std::filesystem::absolute(path.str(), code).parent_path();
  std::filesystem::path absolute = std::filesystem::absolute(file.str(), code);
  if (code || file.empty())
    return file.str();
  return absolute.lexically_normal()
      .lexically_relative(folder.lexically_normal())
      .generic_string();
}

Baseline::Key Baseline::keyOf(const Target &target, const Finding &finding,
                              const Diagnostics &diags) const {
  std::optional<SourcePlace> place = diags.locate(finding.range);
  std::string message = finding.what;
  if (place && place->line == 0)
    message = (listedWords(finding.range) + ": " + message).str();
  return {target.name.str(), finding.rule->id.str(),
          place ? relativeTo(path, place->file) : "",
          llvm::json::fixUTF8(message)};
}

Baseline::Baseline(llvm::StringRef path, const CheckResult &result,
                   Severity severity, const Diagnostics &diags)
    : path(path) {
  for (const Finding &finding : result.findings)
    if (result.assumptions.severityOf(*finding.rule) <= severity)
      for (const Target *target : finding.targets)
        ++counts[keyOf(*target, finding, diags)];
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::optional<Baseline> Baseline::read(llvm::StringRef path,
                                       Diagnostics &diags) {
  std::optional<llvm::json::Value> json =
      readJson(path, diag::BaselineForm, diags);
  if (!json)
    return std::nullopt;
  auto refuse = [&](llvm::StringRef why) {
    diags.reportFile(path, diag::BaselineForm, why);
    return std::nullopt;
  };
  const llvm::json::Object *object = json->getAsObject();
  if (!object || object->getInteger("anecBaseline") != 1)
    return refuse("it has no member `anecBaseline` that is 1");
  const llvm::json::Array *findings = object->getArray("findings");
  if (!findings)
    return refuse("it has no list `findings`");
  Baseline baseline(path);
  for (const llvm::json::Value &value : *findings) {
    const llvm::json::Object *finding = value.getAsObject();
    auto text = [&](llvm::StringRef name) {
      return finding ? finding->getString(name) : std::nullopt;
    };
    std::optional<llvm::StringRef> target = text("target"), rule = text("rule"),
                                   file = text("file"),
                                   message = text("message");
    std::optional<int64_t> count =
        finding ? finding->getInteger("count") : std::nullopt;
    if (!target || !rule || !file || !message || !count || *count < 1)
      return refuse("a finding has `target`, `rule`, `file`, `message` and a "
                    "`count` of at least 1");
    baseline
        .counts[{target->str(), rule->str(), file->str(), message->str()}] +=
        uint64_t(*count);
  }
  return baseline;
}

bool Baseline::write(Diagnostics &diags) const {
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  llvm::json::OStream json(*file, 1);
  json.object([&] {
    json.attribute("anecBaseline", 1);
    json.attributeArray("findings", [&] {
      for (const auto &entry : counts)
        json.object([&] {
          const auto &[target, rule, path, message] = entry.first;
          json.attribute("target", target);
          json.attribute("rule", rule);
          json.attribute("file", path);
          json.attribute("message", message);
          json.attribute("count", int64_t(entry.second));
        });
    });
  });
  *file << '\n';
  return files.commit();
}

size_t Baseline::size() const {
  size_t sum = 0;
  for (const auto &[key, count] : counts)
    sum += count;
  return sum;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

void Baseline::apply(CheckResult &result, const Diagnostics &diags) const {
  std::map<Key, uint64_t> left = counts;
  auto isKnown = [&](const Target *target, const Finding &finding) {
    auto found = left.find(keyOf(*target, finding, diags));
    return found != left.end() && found->second != 0 && found->second-- != 0;
  };
  std::vector<Finding> news;
  for (Finding &finding : result.findings) {
    std::vector<const Target *> knownFor, newFor;
    for (const Target *target : finding.targets)
      (isKnown(target, finding) ? knownFor : newFor).push_back(target);
    if (!knownFor.empty()) {
      result.known.push_back(finding);
      result.known.back().targets = std::move(knownFor);
    }
    if (!newFor.empty()) {
      finding.targets = std::move(newFor);
      news.push_back(std::move(finding));
    }
  }
  result.findings = std::move(news);
  result.hasBaseline = true;
  // What was found for other targets is not missed.
  for (const auto &entry : left)
    if (llvm::any_of(result.targets, [&](const Target *target) {
          return target->name == std::get<0>(entry.first);
        }))
      result.gone += entry.second;
}
