//===- ModelCheck.cpp - compile, run and compare one model ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelCheck.h"
#include "BlockBuilder.h"
#include "Reference.h"
#include "anec/API/Inspect.h"
#include "anec/API/ProgramSession.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/MIL/Blob.h"
#include "lib/Support/TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace anec;
using namespace anec::fuzz;

/// Of a gradient's largest element, in fp32 throughout.
static constexpr double fp32Tolerance = 2e-4;
/// Of what rounded tables of the lowered program, such as rope's, move.
static constexpr double tableFactor = 2;
/// A gradient that is so much smaller than the largest of the model is noise.
static constexpr double smallGradient = 1e-3;
/// What remains of terms of about 1 when they cancel, as where every gradient
/// is 0, has no digits.
static constexpr double fp32Noise = 1e-6;
/// What an op in fp32 may change, and then some.
static constexpr double fp32Nudge = 1e-6;
static constexpr int fp32Bits = 20;
/// Half a unit in the last place of fp16, and as much again.
static constexpr double fp16Nudge = 0x1p-10;
/// Times what the emulation of the undivided model is off by.
static constexpr double fp16Factor = 8;
static constexpr double fp16Floor = 4e-3;
/// Smaller gradients come from subnormal ones.
static constexpr double fp16Underflow = 0.05;
/// A gradient that fp16 moves as far says nothing.
static constexpr double fp16Useless = 0.1;

namespace {

class Checker {
public:
  Checker(const std::string &text, const Configuration &configuration,
          uint64_t seed)
      : text(configuration.textOf(text)), configuration(configuration),
        seed(seed), reference(seed, !configuration.isForwardOnly) {}

  Outcome run();

private:
  bool fail(std::string kind, std::string details = "");
  /// A failure whose kind is that of the first error.
  bool failWithErrors(const char *where);

  bool evaluateReference();
  bool checkGradientRules();
  bool writeWeights(llvm::StringRef path);
  bool compile();
  bool checkFiles();
  bool checkBlobs(const PackagedKernel &kernel);
  bool runSession();
  bool checkRecomputed(ProgramSessionOptions run, const std::string &entry,
                       llvm::ArrayRef<InputArray> inputs, float loss,
                       llvm::ArrayRef<NamedFloats> gradients);
  bool compare(double loss, llvm::ArrayRef<NamedFloats> gradients);
  bool compareGradient(const std::string &name, const Elements &got);
  bool isConditioned(double factor, unsigned count);
  bool evaluateLowered();
  /// How far something of `size` may be off, when rounding errors move it so
  /// far, and whether they leave nothing of it.
  double toleranceOf(double size, double moved, double off) const;
  bool isUseless(double size, double moved) const;

  const std::string text;
  const Configuration &configuration;
  uint64_t seed;
  Diagnostics diags;
  Reference reference;
  std::shared_ptr<TemporaryFolder> folder;
  CompileOptions options;
  std::optional<ModelPackage> package;

  Results exact;
  std::map<std::string, double> moved; ///< by what may happen to each gradient
  const bool isHalf = configuration.numerics == Numerics::FP16;
  /// By what lowering adds, in fp16.
  std::map<std::string, double> gradientsOff;
  double lossOff = 0;
  /// Ops that lowering adds, such as the scores of attention, exceed fp16.
  bool isBeyondHalf = false;
  double lossMoved = 0, largestGradient = 0;
  Outcome outcome;
};

} // namespace

/// Whether an error names something that a chip does not have, as rules of that
/// name do, or not along all axes or for all counts.
static bool isLimit(llvm::StringRef id) {
  return (id.starts_with("no-") || id == "gather-last-axis" ||
          id == "topk-count") &&
         findRule(id);
}

bool Checker::fail(std::string kind, std::string details) {
  outcome.status = Outcome::Failed;
  outcome.kind = std::move(kind);
  llvm::raw_string_ostream stream(outcome.details);
  stream << details;
  if (!details.empty() && details.back() != '\n')
    stream << '\n';
  // Warnings are about what the generator does not use.
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.severity() != Severity::Error)
      continue;
    if (std::optional<SourcePlace> place = diags.locate(diagnostic.range))
      stream << llvm::sys::path::filename(place->file) << ':' << place->line
             << ':' << place->column << ": ";
    stream << diagnostic.message << '\n';
  }
  return false;
}

bool Checker::failWithErrors(const char *where) {
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.severity() != Severity::Error)
      continue;
    std::string id = diagnostic.kind->id.str();
    if (configuration.target && isLimit(id)) {
      outcome.status = Outcome::Limit;
      outcome.kind = id;
      return false;
    }
    // That a pass left something malformed stands behind what is.
    for (const Diagnostic &other : diags.all())
      if (other.kind->id.starts_with("pass-"))
        id += ", " + other.message;
    return fail(std::string(where) + ": " + id);
  }
  return fail(std::string(where) + ": no reason");
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

static double largestOf(llvm::ArrayRef<double> elements) {
  double largest = 0;
  for (double element : elements)
    largest = std::max(largest,
                       std::isfinite(element) ? std::fabs(element) : INFINITY);
  return largest;
}

static double largestDifference(llvm::ArrayRef<double> lhs,
                                llvm::ArrayRef<double> rhs) {
  double largest = 0;
  for (auto [x, y] : llvm::zip_equal(lhs, rhs)) {
    double by = std::fabs(x - y);
    largest = std::max(largest, std::isnan(by) ? INFINITY : by);
  }
  return largest;
}

bool Checker::evaluateReference() {
  if (!reference.open(text, diags))
    return failWithErrors("front end");
  double ignored;
  Evaluation plain;
  plain.lossScale = configuration.lossScale;
  if (!reference.loss({}, ignored, diags) ||
      !reference.evaluate(plain, exact, diags))
    return failWithErrors("reference");
  bool isFinite = std::isfinite(exact.loss) && std::isfinite(exact.largest);
  for (const auto &[name, gradient] : exact.gradients) {
    isFinite &= std::isfinite(largestOf(gradient));
    largestGradient = std::max(largestGradient, largestOf(gradient));
  }
  if (isFinite && exact.largest < 1e6)
    return true;
  outcome.status = Outcome::IllConditioned;
  outcome.kind = "large values";
  return false;
}

/// How far changes of the size of rounding errors, times `factor`, move loss
/// and gradients.
bool Checker::isConditioned(double factor, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Random random(seed + 77 * i);
    Evaluation evaluation;
    evaluation.lossScale = configuration.lossScale;
    evaluation.seed = seed + i + 1;
    if (isHalf) {
      evaluation.rounds = true;
      evaluation.nudge = i == 0 ? 0 : fp16Nudge * factor;
    } else if (i == 0) {
      evaluation.disturb = [](double x) { return double(float(x)); };
    } else {
      evaluation.nudge = fp32Nudge * factor;
      double scale = 1 + double(random.number(0, 1 << 20)) / (1 << 20);
      int bits = factor > 1 ? fp32Bits - 3 : fp32Bits;
      evaluation.disturb = [=](double x) {
        return roundTo(bits, x * scale) / scale;
      };
    }
    Results results;
    if (!reference.evaluate(evaluation, results, diags))
      return false;
    lossMoved = std::max(lossMoved, std::fabs(results.loss - exact.loss));
    if (!std::isfinite(results.loss) || std::isinf(results.largest))
      lossMoved = INFINITY;
    for (const auto &[name, gradient] : exact.gradients) {
      double &by = moved[name];
      by = std::max(by, largestDifference(results.gradients[name], gradient));
    }
  }
  return true;
}

/// Of the model in fp32: in fp16, rules have constants, such as 1/3, that are
/// rounded to it.
bool Checker::checkGradientRules() {
  std::string wideText = replaceAll(text, "fp16", "fp32");
  Reference wide(seed, !configuration.isForwardOnly);
  Results results;
  std::string difference;
  if (!wide.open(wideText, diags) || !wide.evaluate({}, results, diags) ||
      !compareWithDifferences(wide, results, seed, difference, diags))
    return failWithErrors("reference in fp32");
  return difference.empty() || fail("gradient rule", difference);
}

/// How far rounding what lowering adds moves loss and gradients.
bool Checker::evaluateLowered() {
  const Target *target = configuration.target;
  Results results;
  Evaluation evaluation;
  evaluation.lossScale = configuration.lossScale;
  evaluation.isLowered = true;
  evaluation.rounds = isHalf;
  if (!reference.lower(text, target ? *target : genericTarget()) ||
      !reference.evaluate(evaluation, results, diags))
    return failWithErrors("lowered reference");
  lossOff = std::fabs(results.loss - exact.loss);
  isBeyondHalf = isHalf && std::isinf(results.largest);
  for (const auto &[name, gradient] : exact.gradients)
    gradientsOff[name] = largestDifference(results.gradients[name], gradient);
  return true;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

bool Checker::writeWeights(llvm::StringRef path) {
  Safetensors contents;
  for (const auto &[name, weight] : reference.weights())
    contents.arrays.push_back(
        {name, Constant::fromDoubles(weight.type, weight.elements)});
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  return !error && writeSafetensors(out, contents);
}

bool Checker::compile() {
  folder = TemporaryFolder::create(diags);
  std::string weights = folder ? folder->file("model.safetensors") : "";
  if (!folder || !writeWeights(weights))
    return fail("no temporary folder");
  options = configuration.compileOptions(weights);
  Source source = textSource(
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "model.tdsl")),
      "model.tdsl");
  std::unique_ptr<Module> module = readSource(source, options, diags);
  std::string path = folder->file("model.anepkg");
  if (!module || !compileModel(std::move(module), options, path, diags))
    return failWithErrors("compile");
  package = readPackage(path, diags);
  return package || failWithErrors("read package");
}

/// Whether the records that the manifest names are in the weight files of all
/// instances.
bool Checker::checkBlobs(const PackagedKernel &kernel) {
  for (const PackagedInstance &instance : kernel.instances) {
    if (instance.weights.empty()) {
      if (!kernel.constants.empty())
        return fail("blob: constants without a file", kernel.name);
      continue;
    }
    std::optional<BlobReader> file =
        BlobReader::open(package->pathOf(instance.weights), {}, diags);
    if (!file)
      return failWithErrors("blob");
    std::map<uint64_t, BlobRecord> records;
    for (const BlobRecord &record : file->records(diags))
      records.insert({record.offset, record});
    if (diags.hasErrors())
      return failWithErrors("blob");
    if (records.size() != file->declaredCount())
      return fail("blob: count", instance.weights);
    for (const PackagedConstant &constant : kernel.constants) {
      auto record = records.find(constant.offset);
      TensorType type = constant.view.type();
      if (record == records.end())
        return fail("blob: no record", constant.view.str());
      if (record->second.dtype != type.dtype ||
          record->second.size != type.numBytes())
        return fail("blob: type", constant.view.str());
    }
  }
  return true;
}

bool Checker::checkFiles() {
  for (const PackagedKernel &kernel : package->kernels) {
    for (const PackagedInstance &instance : kernel.instances)
      if (!loadKernel(*package, kernel, instance, diags))
        return failWithErrors("read back");
    if (!checkBlobs(kernel))
      return false;
  }
  if (!configuration.target)
    return true;
  std::vector<Finding> findings =
      checkFile(package->folder, options, diags).findings;
  if (diags.hasErrors())
    return failWithErrors("check");
  for (const Finding &finding : findings) {
    if (!options.passes.assumptions.isError(*finding.rule))
      continue;
    reportFinding(finding, options.passes.assumptions, diags);
    return fail("check: " + finding.rule->id.str());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static std::vector<float> toFloats(llvm::ArrayRef<double> elements) {
  return {elements.begin(), elements.end()};
}

bool Checker::runSession() {
  ProgramSessionOptions run;
  run.numerics = configuration.numerics;
  run.threads = 1;
  // What the host trains has no values in a package that has baked it.
  if (!configuration.isBaked || !configuration.isForwardOnly)
    run.weights.source = folder->file("model.safetensors");
  std::unique_ptr<ProgramSession> session =
      ProgramSession::open(std::move(*package), run, diags);
  if (!session)
    return failWithErrors("session");
  std::string name = session->defaultEntry(!configuration.isForwardOnly).str();
  const PackagedEntry *entry = session->findEntry(name);
  if (!entry)
    return fail("session: no entry");
  std::deque<std::vector<float>> floatArrays;
  std::deque<std::vector<int32_t>> integerArrays;
  std::vector<InputArray> inputs;
  for (const PackagedValue &input : entry->inputs) {
    if (input.role == ValueRole::LossScale) {
      floatArrays.push_back({float(configuration.lossScale)});
      inputs.push_back({input.name, floatArrays.back()});
      continue;
    }
    const RefTensor &given = reference.inputs().at(input.name);
    if (isFloat(given.type.dtype)) {
      floatArrays.push_back(toFloats(given.data));
      inputs.push_back({input.name, floatArrays.back()});
    } else {
      integerArrays.emplace_back(given.data.begin(), given.data.end());
      inputs.push_back({input.name, integerArrays.back()});
    }
  }
  std::optional<size_t> output = entry->outputOf(ValueRole::Loss);
  if (!output)
    return fail("session: no loss");
  float loss = 0;
  OutputArray outputs(entry->outputs[*output].name,
                      llvm::MutableArrayRef<float>(loss));
  if (!session->run(name, inputs, outputs, diags))
    return failWithErrors("run");
  return compare(loss, session->gradients()) &&
         (configuration.isForwardOnly ||
          checkRecomputed(run, name, inputs, loss, session->gradients()));
}

static bool haveSameBits(llvm::ArrayRef<float> lhs, llvm::ArrayRef<float> rhs) {
  return lhs.size() == rhs.size() &&
         std::memcmp(lhs.data(), rhs.data(), lhs.size() * sizeof(float)) == 0;
}

/// Whether gradients are the same when the backward computes the forward again.
bool Checker::checkRecomputed(ProgramSessionOptions run,
                              const std::string &entry,
                              llvm::ArrayRef<InputArray> inputs, float loss,
                              llvm::ArrayRef<NamedFloats> gradients) {
  run.recompute = true;
  std::unique_ptr<ProgramSession> session =
      ProgramSession::openFile(folder->file("model.anepkg"), run, diags);
  if (!session)
    return failWithErrors("session that recomputes");
  float again = 0;
  const PackagedEntry &packaged = *session->findEntry(entry);
  OutputArray output(packaged.outputs[*packaged.outputOf(ValueRole::Loss)].name,
                     llvm::MutableArrayRef<float>(again));
  if (!session->run(entry, inputs, output, diags))
    return failWithErrors("run that recomputes");
  if (!haveSameBits(loss, again))
    return fail("recomputed: loss");
  for (auto [lhs, rhs] : llvm::zip_equal(gradients, session->gradients()))
    if (lhs.name != rhs.name || !haveSameBits(lhs.elements, rhs.elements))
      return fail("recomputed: gradient", lhs.name);
  return true;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string describeNumbers(double got, double expected) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << got << " in place of " << expected;
  return text;
}

double Checker::toleranceOf(double size, double moved, double off) const {
  if (isHalf)
    return fp16Factor * std::max(moved, off) + fp16Floor * size;
  return fp32Tolerance * size + tableFactor * off;
}
bool Checker::isUseless(double size, double moved) const {
  return !(moved <= (isHalf ? fp16Useless : 0.25 * fp32Tolerance) * size);
}

bool Checker::compareGradient(const std::string &name, const Elements &got) {
  Elements &expected = exact.gradients[name];
  if (expected.empty())
    expected.resize(got.size());
  if (expected.size() != got.size())
    return fail("gradient: size", name);
  if (!isHalf && std::max(largestOf(expected), largestOf(got)) < fp32Noise) {
    ++outcome.skipped;
    return true;
  }
  // A difference of two that are nearly equal is as far off as they are.
  double size = std::max({largestOf(expected), smallGradient * largestGradient,
                          isHalf ? fp16Underflow : fp32Noise});
  if (!std::isfinite(gradientsOff[name]) || isUseless(size, moved[name])) {
    ++outcome.skipped;
    return true;
  }
  double error = largestDifference(got, expected);
  if (error <= toleranceOf(size, moved[name], gradientsOff[name])) {
    ++outcome.gradients;
    return true;
  }
  if (isBeyondHalf && !std::isfinite(error)) {
    ++outcome.skipped;
    return true;
  }
  // A kink that few changes meet, or what is left of a difference.
  if (!isConditioned(10, 12))
    return failWithErrors("reference");
  if (isUseless(size, moved[name]) ||
      error <= toleranceOf(size, moved[name], gradientsOff[name])) {
    ++outcome.skipped;
    return true;
  }
  size_t worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - expected[i]) < error)) {
      worst = i;
      break;
    }
  return fail(std::isfinite(error) ? "gradient" : "gradient: not finite",
              "the gradient of `" + name + "` is off by " +
                  std::to_string(error / size) + "; element " +
                  std::to_string(worst) + " is " +
                  describeNumbers(got[worst], expected[worst]));
}

bool Checker::compare(double loss, llvm::ArrayRef<NamedFloats> gradients) {
  if (!isConditioned(1, 4) || !evaluateLowered())
    return failWithErrors("reference");
  double size = std::max(0.1, std::fabs(exact.loss));
  // What becomes of infinite values and NaN after that can differ: clip removes
  // them, or not.
  bool overflows = isBeyondHalf && !std::isfinite(loss);
  if (overflows || isUseless(size, lossMoved)) {
    outcome.status = Outcome::IllConditioned;
    outcome.kind = overflows ? "beyond fp16" : "the loss moves";
    return true;
  }
  double error = std::fabs(loss - exact.loss);
  if (!(error <= toleranceOf(size, lossMoved, lossOff))) {
    if (!isConditioned(10, 12))
      return failWithErrors("reference");
    if (!isUseless(size, lossMoved) &&
        !(error <= toleranceOf(size, lossMoved, lossOff)))
      return fail("loss", "the loss is " + describeNumbers(loss, exact.loss));
  }
  outcome.status = Outcome::Compared;
  if (configuration.isForwardOnly)
    return true;
  std::set<std::string> seen;
  for (const NamedFloats &gradient : gradients) {
    seen.insert(gradient.name);
    if (!compareGradient(gradient.name, Elements(gradient.elements.begin(),
                                                 gradient.elements.end())))
      return false;
  }
  for (const auto &[name, gradient] : exact.gradients)
    if (!seen.contains(name) && largestOf(gradient) != 0)
      return fail("gradient: missing", name);
  if (outcome.gradients == 0 && outcome.skipped != 0)
    outcome.status = Outcome::IllConditioned;
  return true;
}

Outcome Checker::run() {
  // Each says itself what is wrong.
  [[maybe_unused]] bool ok = evaluateReference() && checkGradientRules() &&
                             compile() && checkFiles() && runSession();
  return std::move(outcome);
}

Outcome anec::fuzz::checkModel(const std::string &text,
                               const Configuration &configuration,
                               uint64_t seed) {
  return Checker(text, configuration, seed).run();
}
