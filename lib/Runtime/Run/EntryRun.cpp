//===- EntryRun.cpp - runs of a package's entry ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/EntryRun.h"
#include "anec/Runtime/OutputFiles.h"
#include "lib/Package/MaskDraw.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/InputArrays.h"
#include "lib/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// The entry called `wanted`; or the only one that trains or does not, as
/// `trains` says; or the only one.
static const PackagedEntry *findEntry(const ModelPackage &package,
                                      llvm::StringRef wanted, bool trains,
                                      Diagnostics &diags) {
  std::vector<const PackagedEntry *> all, fitting;
  for (const PackagedEntry &entry : package.entries) {
    all.push_back(&entry);
    if ((entry.role == FunctionRole::Train) == trains)
      fitting.push_back(&entry);
  }
  return chooseEntry(package, wanted, fitting.empty() ? all : fitting, diags);
}

/// The elements of a random mask that is not given.
static ConstantRef maskFor(const PackagedValue &input, size_t index,
                           std::optional<uint64_t> seed) {
  std::vector<uint8_t> elements(input.type.numBytes());
  if (seed)
    MaskDraw{*seed}.draw(*input.mask, input.type, index, elements);
  else
    fillMean(*input.mask, input.type, elements);
  return Constant::copy(input.type, elements);
}

bool EntryRun::open(ModelPackage package, Backend &backend,
                    const EntryOptions &options, bool backward,
                    llvm::StringRef fallback, Diagnostics &diags) {
  const PackagedEntry *chosen =
      findEntry(package, options.entry, backward, diags);
  if (!chosen)
    return false;
  name = chosen->name;
  std::optional<size_t> scale = chosen->inputOf(ValueRole::LossScale);
  std::string scaleName = scale ? chosen->inputs[*scale].name : "";
  std::vector<PackagedValue> declared = chosen->inputs;
  SessionOptions sessionOptions;
  sessionOptions.load = options.load;
  sessionOptions.weights = options.weights;
  opened = Session::open(std::move(package), backend, sessionOptions, diags);
  if (!opened || !opened->prepare(name, diags))
    return false;
  llvm::ArrayRef<Port> ports = opened->inputs(name);
  std::vector<std::string> arguments = options.inputs;
  auto given = [&](llvm::StringRef input) {
    return llvm::any_of(arguments, [&](llvm::StringRef argument) {
      return argument.split('=').first == input;
    });
  };
  // The loss scale is 1 unless it is given.
  if (scale && !given(scaleName))
    arguments.push_back(scaleName + "=ones");
  // Zeros stand for masks until these are drawn.
  llvm::SmallVector<size_t> masks;
  for (auto [index, input] : llvm::enumerate(declared))
    if (input.mask && !given(input.name)) {
      masks.push_back(index);
      arguments.push_back(input.name + "=zeros");
    }
  auto arrays = readPorts("input", ports, arguments, fallback, diags);
  if (!arrays)
    return false;
  inputs = std::move(*arrays);
  for (size_t index : masks)
    inputs[index] = maskFor(declared[index], index, options.seed);
  for (const Port &port : opened->outputs(name))
    results.emplace_back(port.type.numBytes());
  return true;
}

bool EntryRun::run(Diagnostics &diags) {
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
  for (const ConstantRef &input : inputs)
    in.push_back(input->bytes());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(results.begin(),
                                                        results.end());
  return opened->run(name, in, out, diags);
}

std::vector<ConstantRef> EntryRun::outputs() const {
  std::vector<ConstantRef> arrays;
  for (auto [port, bytes] : llvm::zip_equal(opened->outputs(name), results))
    arrays.push_back(Constant::copy(port.type, bytes));
  return arrays;
}

bool anec::runEntryOnce(ModelPackage package, Backend &backend,
                        const EntryOptions &options, llvm::StringRef outputDir,
                        llvm::StringRef gradients, llvm::raw_ostream &out,
                        Diagnostics &diags) {
  EntryRun run;
  bool backward = !gradients.empty();
  std::string path = package.folder;
  if (!run.open(std::move(package), backend, options, backward, "", diags))
    return false;
  Stopwatch watch;
  if (!run.run(diags))
    return false;
  double elapsed = watch.milliseconds();
  out << run.entry() << llvm::format(": ran in %.3f ms on ", elapsed)
      << backend.name() << " (measured, first run)\n";
  std::vector<ConstantRef> outputs = run.outputs();
  llvm::ArrayRef<Port> ports = run.session().outputs(run.entry());
  for (auto [port, value] : llvm::zip_equal(ports, outputs))
    printSummary(port, *value, out);
  if (backward) {
    std::vector<NamedFloats> all;
    llvm::copy_if(run.session().gradients(), std::back_inserter(all),
                  [](const NamedFloats &each) { return !each.isChange; });
    if (all.empty()) {
      diags.reportFile(path, diag::NoGradients, run.entry());
      return false;
    }
    out << "  gradients of " << all.size() << " arrays: " << gradients << '\n';
    if (!writeArrays(all, {}, gradients, diags))
      return false;
  }
  return outputDir.empty() || writeOutputs(ports, outputs, outputDir, diags);
}
