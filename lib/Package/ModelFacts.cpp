//===- ModelFacts.cpp - what weights depend on in a model -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelFacts.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Rope.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Package/Diags.h"
#include "lib/Package/RopeScaling.h"
#include "lib/Package/ScheduleWalk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace anec;

static constexpr llvm::StringLiteral names[] = {
    fact::ropeStyle,  fact::ropeTheta, fact::ropeScaling,   fact::ropeChannels,
    fact::rmsNormEps, fact::loraScale, fact::loraTransposed};

/// Between the values of a fact that has several.
static constexpr llvm::StringLiteral separator = ", ";

std::string ModelFacts::spell(double number) {
  bool isWhole = number == std::floor(number) && std::fabs(number) < 1e9;
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text)
        << (isWhole ? llvm::format("%.*f", 0, number)
                    : llvm::format("%.*g", digits, number));
    if (float(std::strtod(text.c_str(), nullptr)) == float(number))
      break;
  }
  return text;
}

static void addOp(const Op &op, ModelFacts &facts) {
  if (op.is(ops::Rope)) {
    facts.add(fact::ropeStyle, spelling(op.get(param::style)));
    facts.add(fact::ropeTheta, ModelFacts::spell(op.get(param::theta)));
    facts.add(fact::ropeScaling, RopeScaling::of(op).text());
    if (int64_t channels = op.get(param::rotary); channels >= 0)
      facts.add(fact::ropeChannels, std::to_string(channels));
  } else if (op.is(ops::RmsNorm)) {
    facts.add(fact::rmsNormEps, ModelFacts::spell(op.get(param::epsilon)));
  }
}

ModelFacts ModelFacts::of(const Module &module) {
  ModelFacts facts;
  std::set<std::string> called;
  std::vector<const Function *> entries = entryPoints(module);
  for (const Function *entry : entries)
    walkSchedule(module, *entry, [&](const Op &op, const KnownIntegers &) {
      if (op.is(ops::Call))
        called.insert(op.get(param::callee).str());
      addOp(op, facts);
    });
  // Layers that no model uses do not matter.
  for (const auto &function : module.functions)
    if (entries.empty() || called.contains(function->name))
      for (const Op &op : function->body())
        addOp(op, facts);
  return facts;
}

ModelFacts ModelFacts::from(const Entries &metadata) {
  ModelFacts facts;
  for (const auto &[name, text] : metadata) {
    if (!llvm::is_contained(names, name))
      continue;
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(text).split(parts, separator);
    for (llvm::StringRef part : parts)
      facts.add(name, part);
  }
  return facts;
}

void ModelFacts::add(llvm::StringRef name, llvm::StringRef value) {
  values[name.str()].insert(value.str());
}

void ModelFacts::complete(const ModelFacts &other) {
  for (const auto &[name, known] : other.values)
    values.try_emplace(name, known);
}

std::string ModelFacts::find(llvm::StringRef name) const {
  auto known = values.find(name.str());
  return known == values.end() ? "" : llvm::join(known->second, separator);
}

bool ModelFacts::has(llvm::StringRef name, llvm::StringRef value) const {
  auto known = values.find(name.str());
  return known != values.end() && known->second.count(value.str());
}

std::optional<std::string> ModelFacts::only(llvm::StringRef name) const {
  auto known = values.find(name.str());
  if (known == values.end() || known->second.size() != 1)
    return std::nullopt;
  return *known->second.begin();
}

ModelFacts::Entries ModelFacts::entries() const {
  Entries entries;
  for (const auto &[name, known] : values)
    entries.emplace_back(name, llvm::join(known, separator));
  return entries;
}

std::vector<std::string>
ModelFacts::differences(const ModelFacts &other) const {
  auto includes = [](const std::set<std::string> &all,
                     const std::set<std::string> &some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  std::vector<std::string> different;
  for (const auto &[name, here] : values) {
    auto there = other.values.find(name);
    if (there != other.values.end() && !includes(here, there->second) &&
        !includes(there->second, here))
      different.push_back(name);
  }
  return different;
}

bool anec::checkFacts(const ModelFacts &model, const ModelFacts &weights,
                      llvm::StringRef path, Diagnostics &diags) {
  std::vector<std::string> different = model.differences(weights);
  for (const std::string &name : different) {
    auto report = diags.reportFile(path, diag::OtherFact, name,
                                   weights.find(name), model.find(name));
    if (name == fact::ropeStyle)
      report.note({}, diag::MoveRopeRows);
  }
  return different.empty();
}
