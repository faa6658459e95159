//===- Measured.cpp - what was measured on machines -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Measured.h"
#include "lib/Probe/Diags.h"
#include "lib/Probe/Verdicts.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;
namespace json = llvm::json;

static constexpr int64_t measuredVersion = 1;

/// The program that does almost nothing.
static constexpr llvm::StringLiteral floorKernel = "add";

namespace {
struct BuiltInFile {
  const char *name, *text;
};
} // namespace

// Without a file, there is one without a name.
static constexpr BuiltInFile builtIn[] = {
#include "measured.inc"
    {nullptr, nullptr},
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string textAt(const json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

/// The machine that `value` describes; nothing when it does not.
static std::optional<MeasuredMachine> readMachine(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  const json::Array *rows = object ? object->getArray("rows") : nullptr;
  const json::Array *assume = object ? object->getArray("assume") : nullptr;
  if (!rows || !assume || object->getInteger("measured") != measuredVersion)
    return std::nullopt;
  MeasuredMachine machine{textAt(*object, "chip"),
                          textAt(*object, "macos"),
                          textAt(*object, "target"),
                          {},
                          {}};
  if (machine.chip.empty() || !findTarget(machine.target))
    return std::nullopt;
  for (const json::Value &entry : *rows) {
    const json::Object *row = entry.getAsObject();
    if (!row)
      return std::nullopt;
    machine.kernels.push_back({textAt(*row, "path"), textAt(*row, "hazard"),
                               textAt(*row, "kernel"), textAt(*row, "verdict"),
                               row->getNumber("median_ms").value_or(0)});
  }
  for (const json::Value &entry : *assume)
    machine.assumptions.push_back(entry.getAsString().value_or("").str());
  return machine;
}

static bool add(llvm::StringRef name, llvm::StringRef text,
                std::vector<MeasuredMachine> &machines, Diagnostics &diags) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  std::optional<MeasuredMachine> machine =
      value ? readMachine(*value) : std::nullopt;
  if (!machine) {
    diags.reportFile(name, diag::NotMeasured);
    return false;
  }
  machines.push_back(std::move(*machine));
  return true;
}

/// The files of a folder, in the order of their names.
static std::vector<std::string> filesIn(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       it != end && !code; it.increment(code))
    if (llvm::StringRef(it->path()).ends_with(".json"))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

std::optional<std::vector<MeasuredMachine>>
anec::readMeasured(llvm::StringRef folder, Diagnostics &diags) {
  std::vector<MeasuredMachine> machines;
  if (folder.empty()) {
    for (const BuiltInFile &file : builtIn)
      if (file.name && !add(file.name, file.text, machines, diags))
        return std::nullopt;
    return machines;
  }
  for (const std::string &file : filesIn(folder)) {
    std::optional<llvm::StringRef> text = diags.addFile(file);
    if (!text || !add(file, *text, machines, diags))
      return std::nullopt;
  }
  return machines;
}

//===----------------------------------------------------------------------===//
// In place of predictions
//===----------------------------------------------------------------------===//

static llvm::StringRef majorOf(llvm::StringRef macOS) {
  return macOS.split('.').first;
}

/// The microseconds of the program that does almost nothing, by the first path
/// that it is right by.
static std::optional<double> floorOf(llvm::ArrayRef<MeasuredKernel> kernels) {
  for (const MeasuredKernel &kernel : kernels)
    if (kernel.kernel == floorKernel &&
        parseWord<ProgramOutcome>(kernel.verdict) == ProgramOutcome::Right &&
        kernel.milliseconds > 0)
      return kernel.milliseconds * 1000;
  return std::nullopt;
}

Measurements anec::measurementsOf(llvm::ArrayRef<MeasuredMachine> machines,
                                  llvm::StringRef target,
                                  llvm::StringRef macOS) {
  auto isOf = [&](const MeasuredMachine &machine, bool sameMajor) {
    return machine.target == target &&
           (!sameMajor || majorOf(machine.macOS) == majorOf(macOS));
  };
  bool sameMajor = llvm::any_of(machines, [&](const MeasuredMachine &machine) {
    return isOf(machine, true);
  });
  Measurements found;
  for (const MeasuredMachine &machine : machines) {
    if (!isOf(machine, sameMajor))
      continue;
    if (std::optional<double> floor = floorOf(machine.kernels))
      found.floor = std::max(found.floor.value_or(0), *floor);
    for (const std::string &assumption : machine.assumptions)
      if (!llvm::is_contained(found.assumptions, assumption))
        found.assumptions.push_back(assumption);
  }
  return found;
}

std::optional<double> anec::measuredFloor(const ProbeFile &report) {
  std::vector<MeasuredKernel> kernels;
  // Times of a processor say nothing about an engine.
  if (!report.isOfEngine())
    return std::nullopt;
  for (const json::Object &trial : report.trials)
    if (const json::Object *measured = trial.getObject("measured"))
      kernels.push_back({textAt(trial, "path"), "", textAt(trial, "trial"),
                         textAt(trial, "verdict"),
                         measured->getNumber("median_ms").value_or(0)});
  return floorOf(kernels);
}

Target anec::withFloor(const Target &target, double microseconds) {
  Target measured = target;
  measured.cost.floorMicroseconds = {
      microseconds, "measured by `ane-run doctor --run`", Confidence::Medium};
  return measured;
}
