//===- Backends.cpp - the backends of a program ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Backends.h"
#include "anec/Runtime/ANE/AneBackend.h"
#include "anec/Runtime/CoreML/CoreMLBackend.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>

using namespace anec;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

bool Backend::checkPorts(const Function &function, Diagnostics &diags) const {
  auto check = [&](const Value &value) {
    if (ownCapabilities.portTypes.contains(value.type.dtype))
      return true;
    diags.report(value.range(), diag::BackendLacksType, name(),
                 value.type.str());
    return false;
  };
  bool ok = true;
  for (const auto &param : function.parameters())
    ok &= check(*param);
  for (const Value *result : function.resultValues())
    ok &= check(*result);
  return ok;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::string BackendOption::check(llvm::StringRef text) const {
  switch (kind) {
  case Switch:
    return text == "true" || text == "false"
               ? ""
               : (name + " is `true` or `false`").str();
  case Count: {
    unsigned count = 0;
    return !text.getAsInteger(10, count) && count > 0
               ? ""
               : (name + " is at least 1").str();
  }
  case Index: {
    unsigned index = 0;
    return !text.getAsInteger(10, index)
               ? ""
               : (name + " is a whole number from 0").str();
  }
  case Seconds: {
    double seconds = -1;
    return !text.getAsDouble(seconds) && seconds >= 0
               ? ""
               : (name + " takes a number of seconds").str();
  }
  case Choice: {
    if (llvm::any_of(choices,
                     [&](const Value &each) { return each.name == text; }))
      return "";
    std::string known;
    for (const Value &each : choices)
      known += (known.empty() ? "`" : ", `") + each.name.str() + "`";
    return (name + " is one of " + known).str();
  }
  case Path:
    return "";
  }
  return "";
}

const BackendOption *BackendRow::findOption(llvm::StringRef wanted) const {
  const BackendOption *found = llvm::find_if(
      options, [&](const BackendOption &each) { return each.name == wanted; });
  return found == options.end() ? nullptr : found;
}

llvm::StringRef BackendRow::valueOf(llvm::StringRef wanted,
                                    const BackendSettings &settings) const {
  const BackendOption *option = findOption(wanted);
  auto given = settings.values.find(wanted);
  return !option                          ? ""
         : given == settings.values.end() ? llvm::StringRef(option->initial)
                                          : llvm::StringRef(given->second);
}

bool BackendRow::check(const BackendSettings &settings,
                       Diagnostics &diags) const {
  bool ok = true;
  for (const auto &[option, value] : settings.values) {
    const BackendOption *known = findOption(option);
    std::string wrong = known ? known->check(value) : "";
    if (!known)
      diags.report({}, diag::NoSuchBackendOption, name, option);
    else if (!wrong.empty())
      diags.report({}, diag::BackendOptionValue, name, wrong);
    ok &= known && wrong.empty();
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

Backends Backends::builtin() {
  Backends backends;
  backends.add(cpuBackend());
  backends.add(aneBackendNotBuilt());
  backends.add(coreMLBackendNotBuilt());
  return backends;
}

void Backends::add(BackendRow row) {
  for (BackendRow &each : table)
    if (each.name == row.name) {
      each = std::move(row);
      return;
    }
  table.push_back(std::move(row));
}

const BackendRow *Backends::find(llvm::StringRef name) const {
  for (const BackendRow &row : table)
    if (row.name == name)
      return &row;
  return nullptr;
}

const BackendRow &Backends::defaultFor(const Platform &platform) const {
  auto find = [&](auto isWanted) {
    return llvm::find_if(table, [&](const BackendRow &row) {
      return row.isBuilt && isWanted(row.capabilities);
    });
  };
  if (platform.hasEngine())
    if (auto engine = find(
            [](const BackendCapabilities &can) { return can.runsOnEngine; });
        engine != table.end())
      return *engine;
  auto processor = find(
      [](const BackendCapabilities &can) { return can.computesOnProcessor; });
  assert(!table.empty() && "a program without backends");
  return processor == table.end() ? table.front() : *processor;
}

const BackendRow &Backends::choose(
    const BackendRow &preferred,
    llvm::ArrayRef<std::function<bool(const BackendRow &)>> needs) const {
  auto meetsAll = [&](const BackendRow &row) {
    return llvm::all_of(needs, [&](const auto &need) { return need(row); });
  };
  if (meetsAll(preferred))
    return preferred;
  auto found = llvm::find_if(table, meetsAll);
  return found == table.end() ? preferred : *found;
}

std::unique_ptr<Backend> Backends::open(llvm::StringRef name,
                                        const BackendSettings &settings,
                                        Diagnostics &diags) const {
  const BackendRow *row = find(name);
  if (!row) {
    std::string known;
    for (const BackendRow &each : table)
      known += (known.empty() ? "`" : ", `") + each.name + "`";
    diags.report({}, diag::NoSuchBackend, name, known);
    return nullptr;
  }
  return row->check(settings, diags) ? row->open(settings, diags) : nullptr;
}
