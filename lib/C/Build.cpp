//===- Build.cpp - compiling to files by the C API ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Build.h"
#include "Choices.h"
#include "Handles.h"
#include "lib/Report/QuantizationPrinter.h"
#include "lib/Support/Endings.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace anec::c;

anec_status anec_build_options_init(anec_build_options *options,
                                    size_t struct_size) {
  if (!options || struct_size < sizeof(size_t) ||
      struct_size > sizeof(anec_build_options))
    return ANEC_USAGE_ERROR;
  std::memset(options, 0, struct_size);
  options->struct_size = struct_size;
  return ANEC_OK;
}

/// Finds the output that `emit` or the ending of `path` names. Returns false,
/// with the reason reported, when there is none.
static bool findFormat(const char *emit, llvm::StringRef path,
                       const OutputFormat *&format, Diagnostics &diags) {
  if (path.empty() || path == "-")
    return refuse("output", "it is the path of a file", diags);
  format = emit ? findOutputFormat(emit) : outputFormat(path);
  if (format)
    return true;
  if (!emit)
    return refuse("output", wrongOutput(path), diags);
  std::vector<llvm::StringRef> known;
  for (const OutputFormat *row : outputFormats())
    known.push_back(row->name);
  return refuse("emit", wrongChoice(emit, known), diags);
}

namespace {
/// What is written, from which options.
struct Order {
  const char *path, *output;
  const OutputFormat &format;
  const anec_compile_options &given;
  const anec_build_options &build;

  SourceStage stage() const { return sourceFormat(path).stage; }
  bool is(const OutputFormat &other) const { return &format == &other; }
};
} // namespace

/// Whether the input and the output fit each other.
static bool checkPaths(const Order &order, Diagnostics &diags) {
  if (llvm::sys::fs::equivalent(order.path, order.output) &&
      (sourceFormat(order.path).name != order.format.name ||
       order.is(outputs::Program)))
    return refuse("output", "it would overwrite the input", diags);
  if (order.stage() == SourceStage::Package && !order.format.show)
    return refuse("path",
                  "it is a package, of which a report, a graph, IR, and "
                  "programs for Core ML can be written",
                  diags);
  return true;
}

/// Whether options that only some outputs have are for this one.
static bool checkOutputs(const Order &order, Diagnostics &diags) {
  const anec_compile_options &given = order.given;
  const std::pair<const char *, const char *> ofCoreML[] = {
      {"deployment", order.build.deployment},
      {"floats", order.build.floats},
      {"describe", order.build.describe},
      {"describe_text", order.build.describe_text}};
  for (auto [name, value] : ofCoreML)
    if (value && !order.format.isCoreML)
      return refuse(name, "it is for `coreml` and `compiled-coreml`", diags);
  bool hasWeights = order.is(outputs::MIL) || order.is(outputs::Package) ||
                    order.format.isCoreML;
  if (given.quantize && (!hasWeights || order.stage() == SourceStage::Package))
    return refuse("quantize",
                  "it is for sources that are compiled to `mil`, `package`, "
                  "`coreml` or `compiled-coreml`",
                  diags);
  if (order.build.quantize_report && !given.quantize)
    return refuse("quantize_report", "it is for `quantize`", diags);
  if (given.loss && !order.is(outputs::Package) && !order.is(outputs::IR) &&
      !order.is(outputs::Program))
    return refuse("loss", "it is for `package`, `tdsl` and `ir`", diags);
  if (order.is(outputs::Program) && (given.lora || given.seed))
    return refuse(given.lora ? "lora" : "seed",
                  "it is for what is compiled, not for `tdsl`", diags);
  if (given.folder)
    return refuse("folder", "`output` says where the package goes", diags);
  if (given.precision && order.is(outputs::Package) &&
      order.stage() == SourceStage::Program)
    return refuse("precision", "a program of a model says its types", diags);
  return true;
}

static bool checkDecode(const Order &order, Diagnostics &diags) {
  const anec_compile_options &given = order.given;
  if (!given.decode)
    return !order.build.cache_states ||
           refuse("cache_states", "it is for `decode`", diags);
  if (order.stage() != SourceStage::Program)
    return refuse("decode", "it is for models in .tdsl or .ir", diags);
  if (!order.build.cache_states)
    return !(order.format.isCoreML && !given.kernel) ||
           refuse("decode",
                  "a program for Core ML has caches as states; set "
                  "`cache_states`",
                  diags);
  if (!order.format.isCoreML && !order.is(outputs::MIL))
    return refuse("cache_states",
                  "it is for `coreml`, `compiled-coreml` and `mil`", diags);
  if (given.kernel)
    return refuse("cache_states", "it is for whole models", diags);
  return given.batch <= 1 ||
         refuse("batch", "a program with states keeps one text", diags);
}

/// Writes what quantization changed of each weight.
static bool writeReport(const char *path, const QuantizationReport &report,
                        Diagnostics &diags) {
  OutputPlace place{path, nullptr};
  return place.write(
      [&](llvm::raw_ostream &out) { printQuantizationJson(report, out); },
      diags);
}

static bool buildOrder(const Order &order, Diagnostics &diags) {
  BuildRequest request;
  request.input = order.path;
  CompileOptions &options = request.options;
  // As in build(): examples are for fp16.
  anec_compile_options given = order.given;
  if (order.format.isCoreML && sourceFormat(order.path).isOfTraining &&
      !given.precision)
    given.precision = ANEC_PRECISION_FP16;
  anec_coreml_options coreML = {
      sizeof(anec_coreml_options), order.build.deployment, order.build.floats,
      order.build.describe, order.build.describe_text};
  if (!readOptions(given, options, diags))
    return false;
  if (std::string wrong = readCoreML(coreML, options.coreML); !wrong.empty())
    return refuse("build_options", wrong, diags);
  if (!readWanted(coreML, options.coreML, diags))
    return false;
  options.weights.program = order.path;
  options.weights.executor = std::make_shared<Executor>(0);
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  options.cachesAreStates = order.build.cache_states;
  // Core ML runs what the engine does not take elsewhere.
  if (order.format.isCoreML && !given.framework)
    options.passes.assumptions.path = EnginePath::CoreML;
  QuantizationReport report;
  if (order.build.quantize_report)
    options.quantizationReport = &report;
  BuildResult result;
  return calibrate(order.path, given, options, diags) &&
         build(request, order.format, {order.output}, result, diags) &&
         (!order.build.quantize_report ||
          writeReport(order.build.quantize_report, report, diags));
}

anec_status anec_build(const char *path, const char *output,
                       const anec_compile_options *options,
                       const anec_build_options *build_options,
                       anec_diagnostics *diags) try {
  Call call(diags);
  if (!path || !output)
    return call.refuseNull(path ? "output" : "path");
  std::optional<anec_compile_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  std::optional<anec_build_options> build = take(build_options, {});
  if (!build)
    return call.refuse("build_options", badSize);
  Diagnostics &own = call.diagnostics();
  const OutputFormat *format = nullptr;
  if (!findFormat(build->emit, output, format, own))
    return call.end(false);
  Order order{path, output, *format, *given, *build};
  return call.end(checkPaths(order, own) && checkOutputs(order, own) &&
                  checkDecode(order, own) && buildOrder(order, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
