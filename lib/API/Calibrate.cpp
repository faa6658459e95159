//===- Calibrate.cpp - what quantization knows of activations -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/API/Calibrate.h"
#include "anec/Runtime/Backends.h"
#include "anec/Runtime/Session.h"
#include "lib/API/Diags.h"
#include "lib/Arrays/Npy.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Elements.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Runtime/InputArrays.h"
#include "lib/Runtime/MomentsBackend.h"
#include "lib/Runtime/ProgramRun.h"
#include "lib/Runtime/QuantizedErrorsBackend.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace anec;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The elements of an input for each run: one for all, or one for each.
using Runs = std::vector<ConstantRef>;

/// Runs of `array`, which is for `port`; empty, with the reason reported, when
/// it does not fit.
static Runs runsOf(const ConstantRef &array, llvm::StringRef path,
                   const Port &port, Diagnostics &diags) {
  const TensorType &type = array->type();
  Shape wanted = withoutOnes(port.type.shape);
  bool isOne = withoutOnes(type.shape) == wanted;
  bool isSeveral =
      !isOne && type.rank() > 0 &&
      withoutOnes(llvm::ArrayRef(type.shape).drop_front()) == wanted;
  if ((!isOne && !isSeveral) ||
      isFloat(type.dtype) != isFloat(port.type.dtype)) {
    diags.reportFile(path, diag::CalibrationArray, port.name, port.type.str(),
                     type.str());
    return {};
  }
  int64_t size = port.type.numElements();
  Runs runs;
  int64_t numNaN = 0;
  for (int64_t run = 0; run < type.numElements() / size; ++run) {
    ConstantRef part = array->part(run * size, port.type.shape);
    std::vector<double> elements = part->asDoubles();
    numNaN += llvm::count_if(elements, [](double x) { return std::isnan(x); });
    runs.push_back(Constant::fromDoubles(port.type, elements));
  }
  if (numNaN)
    diags.reportFile(path, diag::CalibrationNaN, port.name, numNaN,
                     type.numElements());
  if (runs.empty())
    diags.reportFile(path, diag::CalibrationArray, port.name, port.type.str(),
                     type.str());
  return runs;
}

/// Runs a program on the arrays of `arguments`. `needs` says which inputs must
/// be given; others are zeros.
static bool runOnArrays(
    llvm::ArrayRef<std::string> arguments, llvm::ArrayRef<Port> inputs,
    llvm::ArrayRef<Port> outputs, llvm::function_ref<bool(size_t input)> needs,
    llvm::function_ref<bool(llvm::ArrayRef<llvm::ArrayRef<uint8_t>>,
                            llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>>)>
        run,
    Diagnostics &diags) {
  std::vector<Runs> given(inputs.size());
  for (const std::string &argument : arguments) {
    auto [name, path] = llvm::StringRef(argument).split('=');
    const Port *port = llvm::find_if(inputs, [name = name](const Port &other) {
      return other.name == name;
    });
    if (port == inputs.end()) {
      diags.reportFile(path, diag::NoCalibrationInput, name);
      return false;
    }
    ConstantRef array = readNpy(path, diags);
    Runs &runs = given[size_t(port - inputs.begin())];
    if (array)
      runs = runsOf(array, path, *port, diags);
    if (runs.empty())
      return false;
  }
  size_t count = 1;
  for (const Runs &runs : given)
    count = std::max(count, runs.size());
  for (auto [index, runs] : llvm::enumerate(given)) {
    if (runs.empty() && needs(index)) {
      diags.report({}, diag::CalibrationInputMissing, inputs[index].name,
                   inputs[index].type.str());
      return false;
    }
    if (runs.empty())
      runs.push_back(Constant::fromDoubles(
          inputs[index].type,
          std::vector<double>(size_t(inputs[index].type.numElements()))));
    if (runs.size() > 1 && runs.size() < count) {
      diags.report({}, diag::CalibrationRuns, inputs[index].name, runs.size(),
                   count);
      return false;
    }
  }
  std::vector<std::vector<uint8_t>> results;
  for (const Port &port : outputs)
    results.emplace_back(port.type.numBytes());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(results.begin(),
                                                        results.end());
  for (size_t number = 0; number < count; ++number) {
    llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
    for (const Runs &runs : given)
      in.push_back(runs[runs.size() > 1 ? number : 0]->bytes());
    if (!run(in, out))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static bool runModel(ModelPackage package, Backend &backend,
                     const LoadOptions &load, const CalibrationData &data,
                     Diagnostics &diags) {
  SessionOptions options;
  options.load = load;
  std::unique_ptr<Session> session =
      Session::open(std::move(package), backend, options, diags);
  if (!session)
    return false;
  if (!data.texts.empty())
    return runOnTexts(*session, data, diags);
  std::vector<const PackagedEntry *> candidates;
  for (const PackagedEntry &entry : session->package().entries)
    candidates.push_back(&entry);
  const PackagedEntry *entry =
      chooseEntry(session->package(), "", candidates, diags);
  if (!entry || !session->prepare(entry->name, diags))
    return false;
  return runOnArrays(
      data.arrays, session->inputs(entry->name), session->outputs(entry->name),
      [&](size_t input) {
        return entry->inputs[input].role != ValueRole::Target;
      },
      [&](auto in, auto out) {
        return session->run(entry->name, in, out, diags, Gradients::None);
      },
      diags);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
/// A source without quantization: a package, or the files of a program.
struct Prepared {
  std::optional<ModelPackage> package;
  NamedFiles program;
  explicit operator bool() const { return package || !program.empty(); }
};
} // namespace

static Prepared prepare(llvm::StringRef path, const CompileOptions &options,
                        Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return {};
  Compiled compiled = compileSource(*source, options, "", diags);
  if (!compiled.program)
    return {std::move(compiled.package), {}};
  NamedFiles program;
  if (!compiled.program->write(program, diags))
    return {};
  return {std::nullopt, std::move(program)};
}

static bool runProgram(const NamedFiles &program, llvm::StringRef wanted,
                       Backend &backend, LoadOptions load,
                       const CalibrationData &data, Diagnostics &diags) {
  if (!data.texts.empty()) {
    diags.reportFile(data.texts.front(), diag::CalibrationNeedsArrays);
    return false;
  }
  std::unique_ptr<Module> module =
      readMILOf(program, CompiledProgram::textFile, diags);
  const Function *function =
      module ? findFunctionToRun(*module, wanted, diags) : nullptr;
  if (!function)
    return false;
  load.milVersion = module->version;
  std::unique_ptr<Executable> executable = backend.load(*function, load, diags);
  return executable &&
         runOnArrays(
             data.arrays, executable->inputs(), executable->outputs(),
             [](size_t) { return true; },
             [&](auto in, auto out) { return executable->run(in, out, diags); },
             diags);
}

std::shared_ptr<const InputMoments>
anec::collectMoments(llvm::StringRef path, const CompileOptions &given,
                     const CalibrationData &data, Diagnostics &diags) {
  CompileOptions options = given;
  options.quantization.reset();
  options.quantizationReport = nullptr;
  options.inputMoments = nullptr;
  options.train = false;
  options.decode = false;
  options.weightMode = WeightMode::Baked;
  options.coreML = {};
  options.passes.passes.clear();
  options.remarks = options.passes.remarks = false;
  // A target can widen inputs.
  options.passes.target = PassManagerOptions().target;
  options.passes.targetChosen = false;
  options.passes.verifyNumerics = false;
  options.passes.afterPass = nullptr;
  // Compiling with quantization says again what this says, except errors.
  Diagnostics repeated;
  Prepared prepared = prepare(path, options, repeated);
  if (!prepared)
    prepared = prepare(path, options, diags);
  if (!prepared)
    return nullptr;
  LoadOptions load;
  load.numerics = Numerics::FP32;
  std::shared_ptr<Executor> executor = options.weights.executor;
  load.workspace = executor ? std::make_shared<Workspace>(executor)
                            : std::make_shared<Workspace>();
  BackendSettings settings;
  settings.executor = load.workspace->sharedExecutor();
  std::unique_ptr<Backend> cpu =
      Backends::builtin().open("cpu", settings, diags);
  if (!cpu)
    return nullptr;
  auto runOn = [&](Backend &backend) {
    if (!prepared.package)
      return runProgram(prepared.program, given.function, backend, load, data,
                        diags);
    // A session takes the package.
    std::optional<ModelPackage> package = readAgain(*prepared.package, diags);
    return package && runModel(std::move(*package), backend, load, data, diags);
  };
  bool hasActivations = given.quantization && given.quantization->activations;
  MomentsBackend backend(*cpu, hasActivations);
  if (!runOn(backend))
    return nullptr;
  if (!hasActivations || !given.quantizationReport)
    return backend.moments();
  // What the scales of the first run change.
  QuantizedErrorsBackend measuring(*cpu, backend.moments(), *given.quantization,
                                   *settings.executor);
  return runOn(measuring) ? backend.moments() : nullptr;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// The largest magnitude of `value`, as [1, 1, 1, 1].
static Value *largestOf(Builder &builder, Value *value) {
  auto whole = [&](const OpDef &op, Value *of) {
    llvm::SmallVector<int64_t> axes;
    for (unsigned axis = 0; axis < of->type.rank(); ++axis)
      axes.push_back(axis);
    return axes.empty()
               ? of
               : builder.build(op, {of},
                               {{param::axes, llvm::ArrayRef<int64_t>(axes)},
                                {param::keepDims, false}});
  };
  Value *largest = whole(ops::ReduceMax, builder.build(ops::Abs, {value}));
  int64_t shape[] = {1, 1, 1, 1};
  return builder.build(ops::Reshape, {largest},
                       {{param::shape, llvm::ArrayRef<int64_t>(shape)}});
}

/// Runs a copy of `function`, whose results are the largest magnitudes of its
/// values.
static bool measure(const Function &function, const CompileOptions &options,
                    const CalibrationData &data, ExampleRanges &ranges,
                    Diagnostics &diags) {
  Module copies;
  Function *copy = copies.addFunction(function.kind, function.name);
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  std::vector<Value *> values = measuredValues(*copy);
  Builder builder(*copy);
  llvm::SmallVector<Value *> results;
  std::vector<std::string> names;
  for (Value *value : values) {
    names.push_back("largest " + std::to_string(results.size()));
    results.push_back(largestOf(builder, value));
  }
  llvm::SmallVector<llvm::StringRef> views(names.begin(), names.end());
  copy->setResults(results, views);
  LoadOptions load;
  load.numerics = Numerics::FP32;
  load.workspace = options.weights.executor
                       ? std::make_shared<Workspace>(options.weights.executor)
                       : std::make_shared<Workspace>();
  BackendSettings settings;
  settings.executor = load.workspace->sharedExecutor();
  std::unique_ptr<Backend> cpu =
      Backends::builtin().open("cpu", settings, diags);
  std::unique_ptr<Executable> executable =
      cpu ? cpu->load(*copy, load, diags) : nullptr;
  return executable &&
         runOnArrays(
             data.arrays, executable->inputs(), executable->outputs(),
             [](size_t) { return true; },
             [&](auto in, auto out) {
               if (!executable->run(in, out, diags))
                 return false;
               std::vector<double> magnitudes;
               for (llvm::ArrayRef<uint8_t> bytes : out) {
                 double largest = loadElement(DType::FP32, bytes.data(), 0);
                 magnitudes.push_back(
                     std::isfinite(largest)
                         ? largest
                         : std::numeric_limits<double>::infinity());
               }
               ranges.raise(function.name, magnitudes);
               return true;
             },
             diags);
}

std::shared_ptr<const ExampleRanges>
anec::collectRanges(llvm::StringRef path, const CompileOptions &options,
                    const CalibrationData &data, Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  return source ? collectRanges(*source, options, data, diags) : nullptr;
}

std::shared_ptr<const ExampleRanges>
anec::collectRanges(const Source &source, const CompileOptions &given,
                    const CalibrationData &data, Diagnostics &diags) {
  CompileOptions options = given;
  options.calibration.clear();
  options.quantization.reset();
  options.remarks = options.passes.remarks = false;
  options.passes.verifyNumerics = false;
  options.passes.afterPass = nullptr;
  const SourceFormat &format = *source.format;
  // What runs in front of `narrow`, and the first part of it.
  std::vector<const PassDef *> &passes = options.passes.passes;
  if (passes.empty())
    passes = withPrecision(kernelPipeline(format, options.passes), options);
  passes.erase(llvm::find(passes, &anec::passes::Narrow), passes.end());
  passes.push_back(&anec::passes::FoldScales);
  std::unique_ptr<Module> module = readSource(source, options, diags);
  if (!module)
    return nullptr;
  std::optional<CompiledProgram> program =
      compile(std::move(module), format, options, diags);
  if (!program)
    return nullptr;
  auto ranges = std::make_shared<ExampleRanges>();
  for (const auto &function : program->program->functions) {
    if (!hasWeightValues(*function, diags) ||
        !measure(*function, options, data, *ranges, diags))
      return nullptr;
  }
  return ranges;
}
