//===- Printer.cpp - IR to MIL text and weights ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Printer.h"
#include "DerivedNumbers.h"
#include "Emitter.h"
#include "ReservedNames.h"
#include "TextPrinter.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/MIL/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

namespace {

struct PrintedFunction {
  const Function *function;
  std::string name;
  std::string opset;
};

/// Prints a module: first places all constants, then writes the text.
class Printing {
public:
  Printing(const Module &module, const MILPrintOptions &options)
      : module(module), options(options), weights(options),
        version(options.version.empty() ? module.version : options.version) {}

  bool place(Diagnostics &diags);
  void printText(raw_ostream &out,
                 function_ref<void(ProgramSink &)> emit) const;
  void printText(raw_ostream &out) const {
    printText(out, [this](ProgramSink &sink) { emit(sink); });
  }
  void emit(ProgramSink &sink) const;

  const Module &module;
  const MILPrintOptions &options;
  WeightLayout weights;

private:
  std::string opsetOf(const Function &function) const;
  bool check(const Function &function, Diagnostics &diags) const;

  std::string version;
  std::vector<PrintedFunction> functions;
};

} // namespace

std::string Printing::opsetOf(const Function &function) const {
  if (!options.opset.empty())
    return options.opset;
  if (version == "1.0" && function.opset >= "ios18")
    return "ios16";
  return function.opset;
}

static bool isPrintable(const OpDef &def) {
  return def.has(trait::Mil) || def.has(trait::Stored);
}

bool Printing::check(const Function &function, Diagnostics &diags) const {
  bool ok = true;
  if (function.kind != FunctionKind::Kernel) {
    diags.report(function.range, diag::NotAKernel, function.name,
                 spelling(function.kind));
    ok = false;
  }
  for (const Op &op : function.body()) {
    if (isPrintable(op.def()))
      continue;
    auto report = diags.report(op.range(), diag::NotMil, op.def().name);
    if (op.def().valueSlot(ValueRole::Logits) >= 0)
      report.note({}, diag::LossOfSeveral);
    ok = false;
  }
  return ok;
}

/// Says what the inputs and outputs are called whose names MIL does not have.
static void remarkRenamed(const Function &function, Diagnostics &diags) {
  std::optional<ValueNames> names;
  auto remark = [&](StringRef kind, StringRef name, StringRef fallback,
                    const Value *value) {
    std::string wanted = sanitizeName(name, fallback);
    if (wanted == name)
      return;
    if (!names)
      names.emplace(function, isReservedName);
    // A parameter has one name; a result can have a second one.
    StringRef written = (*names)[value];
    if (kind == "output" && !written.starts_with(wanted))
      written = wanted;
    diags.report(value->range(), diag::Renamed, kind, name, written);
  };
  for (const auto &parameter : function.parameters())
    remark("input", parameter->name, "value", parameter.get());
  for (unsigned i = 0; i < function.numResults(); ++i)
    remark("output", function.resultNames()[i], "result", function.result(i));
}

bool Printing::place(Diagnostics &diags) {
  NameSet names;
  bool ok = true;
  for (const auto &function : module.functions) {
    if (options.only && options.only != function.get())
      continue;
    ok &= check(*function, diags);
    remarkRenamed(*function, diags);
    std::string wanted =
        options.only ? "main" : sanitizeName(function->name, "main");
    if (isReservedName(wanted))
      wanted += '_';
    StringRef name = names.unique(wanted);
    functions.push_back({function.get(), name.str(), opsetOf(*function)});
    if (ok)
      weights.add(*function, functions.back().opset);
  }
  return ok;
}

void Printing::printText(raw_ostream &out,
                         function_ref<void(ProgramSink &)> emit) const {
  TextPrinter printer(out,
                      version == "1.0" ? Scalars::RankZero : Scalars::Bare);
  auto buildInfo = module.buildInfo.empty() ? ownBuildInfo() : module.buildInfo;
  if (any_of(functions, [](const PrintedFunction &function) {
        return hasDerivedNumbers(*function.function);
      })) {
    DerivedNumbers numbers;
    emit(numbers);
    buildInfo.emplace_back(derivedNumbersKey, numbers.text());
  }
  printer.printHeader(version, buildInfo);
  emit(printer);
  printer.printFooter();
}

void Printing::emit(ProgramSink &sink) const {
  Emitter emitter(sink, weights);
  for (const PrintedFunction &function : functions)
    emitter.emit(*function.function, function.name, function.opset);
}

std::vector<std::pair<std::string, std::string>> anec::ownBuildInfo() {
  // The keys and values of the callers that are known to be accepted.
  return {{"coremlc-component-MIL", "3510.2.1"},
          {"coremlc-version", "3505.4.1"}};
}

bool anec::printMIL(const Module &module, raw_ostream &out,
                    const MILPrintOptions &options, Diagnostics &diags) {
  Printing printing(module, options);
  if (!printing.place(diags))
    return false;
  printing.printText(out);
  return true;
}

/// Writes the text where `addText` says, and the weight file `STEM.bin` in
/// `weights` in `folder`.
static bool writeMIL(const Module &module, AtomicFiles &files, StringRef folder,
                     StringRef stem, const MILPrintOptions &options,
                     Diagnostics &diags, function_ref<OutputFile *()> addText) {
  std::string weights = ("weights/" + stem + ".bin").str();
  MILPrintOptions gathered = options;
  gathered.placement = MILPrintOptions::Placement::Gather;
  gathered.weightPath = "@model_path/" + weights;
  size_t errors = diags.errorCount();
  Printing printing(module, gathered);
  // Missing weights have been reported here.
  if (!printing.place(diags) || diags.errorCount() != errors)
    return false;
  // The weights first: the text must not exist before the files that it refers
  // to.
  if (!printing.weights.write(folder, weights, gathered.resolve, files, diags))
    return false;
  OutputFile *text = addText();
  if (!text)
    return false;
  printing.printText(*text);
  return files.commit();
}

bool anec::writeMIL(const Module &module, StringRef path,
                    const MILPrintOptions &options, Diagnostics &diags) {
  AtomicFiles files(diags);
  return ::writeMIL(module, files, sys::path::parent_path(path),
                    sys::path::stem(path), options, diags,
                    [&] { return files.add(path); });
}

bool anec::writeMIL(const Module &module, StringRef folder, StringRef name,
                    const MILPrintOptions &options, Diagnostics &diags) {
  AtomicFiles files(diags);
  return ::writeMIL(module, files, folder, sys::path::stem(name), options,
                    diags, [&] { return files.add(folder, name); });
}

bool anec::writeMIL(const Module &module, AtomicFiles &files, StringRef name,
                    const MILPrintOptions &options, Diagnostics &diags) {
  return ::writeMIL(module, files, /*folder=*/"", sys::path::stem(name),
                    options, diags, [&] { return files.add(name); });
}

//===----------------------------------------------------------------------===//
// One text for several weight files
//===----------------------------------------------------------------------===//

struct PlacedMIL::Impl {
  Impl(const Module &module, MILPrintOptions given)
      : options(std::move(given)), printing(module, options) {}

  MILPrintOptions options;
  Printing printing;
};

PlacedMIL::PlacedMIL(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
PlacedMIL::PlacedMIL(PlacedMIL &&) noexcept = default;
PlacedMIL::~PlacedMIL() = default;

std::optional<PlacedMIL> PlacedMIL::place(const Module &module,
                                          MILPrintOptions options,
                                          Diagnostics &diags) {
  options.resolve = nullptr;
  auto impl = std::make_unique<Impl>(module, std::move(options));
  if (!impl->printing.place(diags))
    return std::nullopt;
  return PlacedMIL(std::move(impl));
}

void PlacedMIL::printText(raw_ostream &out) const {
  impl->printing.printText(out);
}

void PlacedMIL::printText(raw_ostream &out,
                          function_ref<void(ProgramSink &)> emit) const {
  impl->printing.printText(out, emit);
}

void PlacedMIL::emit(ProgramSink &sink) const { impl->printing.emit(sink); }

std::vector<PlacedMIL::Record> PlacedMIL::weights() const {
  std::vector<Record> records;
  impl->printing.weights.forEachWeight([&](const Op &op, uint64_t offset) {
    records.push_back({&op, offset});
  });
  return records;
}

bool PlacedMIL::needsWeightFile() const {
  return impl->printing.weights.hasRecords();
}

bool PlacedMIL::hasOnlyWeights() const {
  return !impl->printing.weights.hasConstants();
}

bool PlacedMIL::addWeightFile(StringRef folder, StringRef name,
                              const ResolveWeight &resolve, AtomicFiles &files,
                              Diagnostics &diags) const {
  return impl->printing.weights.write(folder, name, resolve, files, diags);
}
