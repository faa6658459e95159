//===- Build.cpp - compiling to files by the C API ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Handles.h"
#include "lib/Driver/RefusedFlag.h"
#include "lib/Report/QuantizationPrinter.h"
#include "lib/Support/Endings.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace anec::c;

anec_status anec_build_options_init(anec_build_options *options,
                                    size_t struct_size) {
  return init(options, struct_size);
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
    return refuse(
        "path", "it is a package, which can be written as " + packageOutputs(),
        diags);
  return true;
}

/// A flag as a member of the structs.
static std::string memberOf(RequestFlag flag) {
  switch (flag) {
  case RequestFlag::Define:
  case RequestFlag::Shape:
  case RequestFlag::Block:
  case RequestFlag::Prefill:
    return spelling(flag).str() + "s";
  case RequestFlag::Fix:
    return "fixes";
  case RequestFlag::Init:
    return "seed";
  case RequestFlag::Assume:
    return "assumptions";
  case RequestFlag::OS:
    return "macos";
  case RequestFlag::Fuse:
    return "fusion";
  case RequestFlag::Cache:
    return "cache_states";
  case RequestFlag::Calibrate:
    return "calibration";
  case RequestFlag::CalibrateTokenizer:
    return "calibration_tokenizer";
  case RequestFlag::CalibrateTokens:
    return "calibration_tokens";
  case RequestFlag::Interface:
    return "floats";
  default: {
    std::string name = spelling(flag).str();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  }
}

static GivenFlags givenFlags(const Order &order) {
  const anec_compile_options &given = order.given;
  const anec_build_options &build = order.build;
  const std::pair<RequestFlag, bool> members[] = {
      {RequestFlag::Define, given.define_count},
      {RequestFlag::Shape, given.shape_count},
      {RequestFlag::Fix, given.fix_count},
      {RequestFlag::Function, given.function},
      {RequestFlag::Part, given.part},
      {RequestFlag::Kernel, given.kernel},
      {RequestFlag::Weights, given.weights},
      {RequestFlag::WeightMap, given.weight_map},
      {RequestFlag::Init, given.seed},
      {RequestFlag::Target, given.target},
      {RequestFlag::Assume, given.assumption_count},
      {RequestFlag::OS, given.macos},
      {RequestFlag::Passes, build.passes},
      {RequestFlag::SkipPasses, build.skip_passes},
      {RequestFlag::Remarks, given.remarks},
      {RequestFlag::Precision, given.precision},
      {RequestFlag::ForwardOnly, given.forward_only},
      {RequestFlag::Fuse, given.fusion},
      {RequestFlag::IO, given.io},
      {RequestFlag::WeightMode, given.weight_mode},
      {RequestFlag::Lora, given.lora},
      {RequestFlag::Loss, given.loss},
      {RequestFlag::TrainWeights, given.train_weight_count},
      {RequestFlag::Decode, given.decode},
      {RequestFlag::Cache, build.cache_states},
      {RequestFlag::Context, given.context},
      {RequestFlag::Batch, given.batch > 1},
      {RequestFlag::Block, given.block_count},
      {RequestFlag::Prefill, given.prefill_count},
      {RequestFlag::Ladder, given.ladder_count},
      {RequestFlag::Quantize, given.quantize},
      {RequestFlag::QuantizeSkip, given.quantize_skip_count},
      {RequestFlag::QuantizeReport, build.quantize_report},
      {RequestFlag::ActivationScales, given.activation_scales},
      {RequestFlag::ActivationMargin, given.activation_margin},
      {RequestFlag::Calibrate,
       given.calibration_count || given.calibration_text_count},
      {RequestFlag::CalibrateTokenizer, given.calibration_tokenizer},
      {RequestFlag::CalibrateTokens, given.calibration_tokens},
      {RequestFlag::Deployment, build.deployment},
      {RequestFlag::Interface, build.floats},
      {RequestFlag::Describe, build.describe || build.describe_text},
      {RequestFlag::MILVersion, given.mil_version},
      {RequestFlag::Canonical, build.canonical}};
  GivenFlags flags;
  for (auto [flag, isGiven] : members)
    if (isGiven)
      flags.flags.add(flag);
  flags.cachesAreStates = build.cache_states;
  std::string why; // readQuantization reports it
  std::optional<Quantization> form =
      Quantization::parse(orEmpty(given.quantize), why);
  flags.quantizesActivations = form && form->activations;
  llvm::StringRef passes = orEmpty(build.passes);
  flags.runsModelPasses =
      passes.contains("model") || passes.contains("incremental");
  return flags;
}

/// Whether all options change something of the output.
static bool checkOptions(const Order &order, Diagnostics &diags) {
  static constexpr FlagSpelling spellings = {
      [](RequestFlag flag) { return "`" + memberOf(flag) + "`"; }, "",
      "`cache_states`", "`quantize` as `w8a8`"};
  if (order.given.folder)
    return refuse("folder", "`output` says where the package goes", diags);
  std::optional<RefusedFlag> refused = findRefusedFlag(
      givenFlags(order), sourceFormat(order.path), order.format, spellings);
  if (refused)
    return refuse(memberOf(refused->flag), "it " + refused->reason, diags);
  return !(order.build.cache_states && order.given.kernel) ||
         refuse("cache_states", "it is for whole models", diags);
}

/// The passes of `request`.
static bool readPasses(const anec_build_options &build, BuildRequest &request,
                       Diagnostics &diags) {
  request.hasPasses = build.passes != nullptr;
  return parsePipeline(orEmpty(build.skip_passes), request.skipped, diags) &&
         parsePipeline(orEmpty(build.passes),
                       request.options.modelPipelineOptions(),
                       request.options.passes.passes, diags);
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
  request.canonical = order.build.canonical;
  if (!readPasses(order.build, request, diags))
    return false;
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
  return call.end(checkPaths(order, own) && checkOptions(order, own) &&
                  buildOrder(order, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
