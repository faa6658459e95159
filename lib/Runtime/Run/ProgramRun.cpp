//===- ProgramRun.cpp - one run of a program ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/ProgramRun.h"
#include "anec/Runtime/OutputFiles.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/SuppressBoxes.h"
#include "lib/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

std::optional<RunBuffers> RunBuffers::make(Executable &executable,
                                           const ProgramArrays &given,
                                           Diagnostics &diags) {
  RunBuffers buffers;
  buffers.inputs = given.inputs;
  for (const Port &port : executable.outputs())
    buffers.results.emplace_back(port.type.numBytes());
  for (auto [index, state] : llvm::enumerate(given.states))
    if (!executable.setState(unsigned(index), state->bytes(), diags))
      return std::nullopt;
  return buffers;
}

bool RunBuffers::run(Executable &executable, Diagnostics &diags) {
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
  for (const ConstantRef &input : inputs)
    in.push_back(input->bytes());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(results.begin(),
                                                        results.end());
  return executable.run(in, out, diags);
}

std::optional<std::vector<ConstantRef>>
RunBuffers::outputs(Executable &executable, Diagnostics &diags) const {
  std::vector<ConstantRef> arrays;
  for (auto [port, bytes] : llvm::zip_equal(executable.outputs(), results))
    arrays.push_back(Constant::copy(port.type, bytes));
  for (auto [index, port] : llvm::enumerate(executable.states())) {
    std::vector<uint8_t> bytes(port.type.numBytes());
    if (!executable.getState(unsigned(index), bytes, diags))
      return std::nullopt;
    arrays.push_back(Constant::copy(port.type, bytes));
  }
  return arrays;
}

const Function *anec::findFunctionToRun(const Module &module,
                                        llvm::StringRef wanted,
                                        Diagnostics &diags) {
  const Function *found = nullptr;
  std::vector<std::string> names;
  for (const auto &function : module.functions) {
    names.push_back("`" + function->name + "`");
    if (wanted.empty() || function->name == wanted)
      found = function.get();
  }
  if (wanted.empty() && names.size() > 1) {
    diags.report({}, diag::SeveralFunctions, llvm::join(names, ", "));
    return nullptr;
  }
  if (!found)
    diags.report({}, diag::NoSuchFunction, wanted, llvm::join(names, ", "));
  return found;
}

bool anec::hasWeightValues(const Function &function, Diagnostics &diags) {
  for (const Op &op : function.body())
    if (op.is(ops::Weight)) {
      diags.report(op.range(), diag::WeightsNotCompiled, op.get(param::name));
      return false;
    }
  return true;
}

static constexpr llvm::StringLiteral referenceName =
    "the double-precision reference";

/// The outputs and states of the program in double precision, in which only
/// constants and inputs are rounded. Returns nothing, with the reason reported,
/// when it cannot be evaluated.
static std::optional<std::vector<std::vector<double>>>
evaluateItself(const Function &function, const ProgramArrays &given,
               Diagnostics &diags) {
  std::vector<RefTensor> in, reference, states;
  auto input = given.inputs.begin(), state = given.states.begin();
  for (const auto &param : function.parameters()) {
    const Constant &array =
        param->holder == Holder::State ? **state++ : **input++;
    in.push_back({param->type, array.asDoubles()});
  }
  if (!interpret(function, in, reference, diags, {}, &states))
    return std::nullopt;
  llvm::append_range(reference, states);
  std::vector<std::vector<double>> values;
  for (RefTensor &tensor : reference)
    values.push_back(std::move(tensor.data));
  return values;
}

/// Whether a constant can have been narrowed from another program's.
static bool hasHalfConstants(const Function &function) {
  auto isHalf = [](const Value *value) {
    return value->type.dtype == DType::FP16;
  };
  for (const Op &op : function.body()) {
    bool hasConstants = llvm::any_of(op.constants(), [](const auto &constant) {
      return constant && constant->dtype() == DType::FP16;
    });
    if (hasConstants ||
        (op.numOperands() == 0 && llvm::any_of(op.resultValues(), isHalf)))
      return true;
  }
  return false;
}

/// Compares every output with the reference that `options` name.
static std::optional<std::vector<OutputComparison>>
compareOutputs(const Function &function, const Executable &executable,
               const ProgramArrays &given, llvm::ArrayRef<Port> ports,
               llvm::ArrayRef<ConstantRef> outputs, const Tolerance &tolerance,
               const RunOptions &options, Diagnostics &diags) {
  auto reference =
      options.reference
          ? evaluateSource(*options.reference,
                           {executable.inputs(), executable.states(), given,
                            options.inputs, options.description},
                           ports, diags)
          : evaluateItself(function, given, diags);
  if (!reference)
    return std::nullopt;
  std::vector<OutputComparison> compared;
  for (auto [port, output, exact] : llvm::zip_equal(ports, outputs, *reference))
    compared.push_back(
        compareOutput(port, output->asDoubles(), exact, tolerance));
  return compared;
}

/// What the reference was made of.
static void printReference(const Function &function, const RunOptions &options,
                           llvm::raw_ostream &out) {
  if (options.reference)
    out << "  reference: " << options.reference->file
        << ", in double precision\n";
  else if (hasHalfConstants(function))
    out << "  reference: the program's own constants; --reference=FILE "
           "compares with the model that it was made of\n";
}

static void printJson(llvm::StringRef function, llvm::StringRef backend,
                      double milliseconds,
                      llvm::ArrayRef<OutputComparison> compared,
                      const std::optional<SourceReference> &source,
                      llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("function", function);
    json.attribute("backend", backend);
    json.attribute("run_ms", milliseconds);
    json.attribute("reference", referenceName);
    json.attribute("reference_file", source ? llvm::json::Value(source->file)
                                            : llvm::json::Value(nullptr));
    json.attribute("passed",
                   llvm::all_of(compared, [](const OutputComparison &output) {
                     return output.isRight();
                   }));
    json.attributeArray("outputs", [&] {
      for (const OutputComparison &output : compared)
        printComparison(output, json);
    });
  });
  out << '\n';
}

static void printHazards(llvm::ArrayRef<OpHazards> hazards,
                         llvm::raw_ostream &out) {
  out << "hazards (counted, in emulation):"
      << (hazards.empty() ? " none\n" : "\n");
  for (const OpHazards &op : hazards) {
    out << "  " << op.op << " " << op.result << ": " << op.type.str() << '\n';
    auto line = [&](uint64_t count, const char *what) {
      if (count)
        out << "    " << count << ' ' << what << '\n';
    };
    line(op.partialSums, "results with a partial sum of 2^15 or more");
    line(op.products, "products taken for zero");
    line(op.overflows, "finite results beyond 65504");
  }
}

/// Replaces indices of labels by the labels.
static void setLabels(const FunctionDescription &description,
                      std::vector<Port> &ports,
                      std::vector<ConstantRef> &outputs) {
  for (auto [port, value] : llvm::zip_equal(ports, outputs)) {
    const FeatureDescription *feature = description.output(port.name);
    if (!feature || !feature->classes)
      continue;
    const Constant &classes = *feature->classes;
    int64_t index = value->intAt(0);
    if (index < 0 || index >= classes.numElements())
      continue;
    value = classes.dtype() == DType::String
                ? Constant::string(classes.asStrings()[size_t(index)])
                : classes.part(index, {});
    port.type = value->type();
  }
}

/// Engines compute fp16; what a program has in fp32 is no emulation of one.
static void warnOfFloats(const Function &function, Numerics numerics,
                         Diagnostics &diags) {
  int64_t ops = 0, wide = 0;
  for (const Op &op : function.body()) {
    if (op.def().has(trait::Stored) || op.is(ops::Const) || op.is(ops::Cast) ||
        op.numResults() == 0)
      continue;
    ++ops;
    wide += llvm::any_of(op.resultValues(), [](const Value *value) {
      return value->type.dtype == DType::FP32;
    });
  }
  if (isEmulated(numerics) && wide != 0)
    diags.report({}, diag::EmulatesHalf, function.name, wide, ops);
}

bool anec::runOnce(const Function &function, Backend &backend,
                   const RunOptions &options, llvm::raw_ostream &out,
                   Diagnostics &diags) {
  std::unique_ptr<Executable> executable =
      backend.load(function, options.load, diags);
  if (!executable)
    return false;
  if (backend.capabilities().hasNumerics)
    warnOfFloats(function, options.load.numerics, diags);
  std::optional<ProgramArrays> given =
      readArrays(*executable, options.inputs, options.states, "", diags,
                 options.description);
  if (!given)
    return false;
  std::optional<RunBuffers> buffers =
      RunBuffers::make(*executable, *given, diags);
  if (!buffers)
    return false;
  Stopwatch watch;
  if (!buffers->run(*executable, diags))
    return false;
  double elapsed = watch.milliseconds();

  std::optional<std::vector<ConstantRef>> outputs =
      buffers->outputs(*executable, diags);
  if (!outputs)
    return false;
  std::vector<Port> ports = executable->outputs();
  llvm::append_range(ports, executable->states());
  std::optional<std::vector<OutputComparison>> compared;
  if (options.compare) {
    Tolerance tolerance = *options.compare;
    tolerance.ofLargest = defaultTolerance(backend, options.load.numerics);
    compared = compareOutputs(function, *executable, *given, ports, *outputs,
                              tolerance, options, diags);
    if (!compared)
      return false;
  }
  std::vector<Port> shownPorts = ports;
  std::vector<ConstantRef> shown = *outputs;
  if (options.description) {
    setLabels(*options.description, shownPorts, shown);
    if (options.description->suppression)
      suppressBoxes(*options.description, shownPorts, shown);
  }
  if (options.json) {
    printJson(function.name, backend.name(), elapsed, *compared,
              options.reference, out);
  } else {
    out << function.name << llvm::format(": ran in %.3f ms on ", elapsed)
        << backend.name() << " (measured, first run)\n";
    if (std::optional<double> seconds = executable->engineSeconds())
      out << llvm::format("  of them %.3f ms in the engine\n", *seconds * 1e3);
    for (auto [port, value] : llvm::zip_equal(shownPorts, shown))
      printSummary(port, *value, out);
    if (options.reportHazards)
      printHazards(executable->hazards(), out);
    if (compared) {
      for (const OutputComparison &output : *compared)
        printComparison(output, referenceName, out);
      printReference(function, options, out);
    }
  }
  bool isRight = true;
  if (compared && options.comparisons)
    *options.comparisons = std::move(*compared);
  else if (compared)
    for (const OutputComparison &output : *compared)
      isRight &= checkComparison(output, diags);
  // Wrong outputs too: they say what is wrong.
  bool isWritten = options.outputDir.empty() ||
                   writeOutputs(shownPorts, shown, options.outputDir, diags);
  return isRight && isWritten;
}
