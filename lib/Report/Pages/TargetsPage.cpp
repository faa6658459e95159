//===- TargetsPage.cpp - docs/reference/targets.md, from the chips -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "anec/Target/Predict.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace anec;

/// Prints one limit of all targets as a row of the table, and adds its sources
/// to `sources`.
template <typename Get>
static void printLimit(llvm::StringRef what, Get get, llvm::raw_ostream &out,
                       std::vector<std::string> &sources) {
  out << "| " << what << " |";
  llvm::MapVector<llvm::StringRef, std::vector<llvm::StringRef>> cited;
  for (const Target &target : allTargets()) {
    const auto &figure = get(target);
    out << ' ' << figure.value << " |";
    cited[figure.source].push_back(target.name);
  }
  out << '\n';
  std::string text = "- " + what.str() + ": ";
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      cited, stream,
      [&](const auto &entry) {
        stream << entry.first << " (" << llvm::join(entry.second, ", ") << ")";
      },
      "; ");
  sources.push_back(text);
}

/// The targets without a row in `publishedTimes`.
static std::string unpublishedTargets() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (llvm::none_of(publishedTimes(), [&](const PublishedTime &time) {
          return time.target == target.name;
        }))
      names.push_back("`" + target.name.str() + "`");
  std::string last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " and " + last;
}

static void printHardwareNames(llvm::raw_ostream &out) {
  out << "\n## Hardware names\n\n"
         "`--target=` also takes the name of an engine, as the vendor's "
         "compiler "
         "has it, or of\n"
         "a phone chip that has the same engine. Its figures are those of the "
         "target: none of\n"
         "this table was published for a phone, whose memory and clock "
         "differ.\n\n"
         "| target | also called |\n|---|---|\n";
  for (const Target &target : allTargets()) {
    std::vector<std::string> names;
    for (const HardwareName &other : hardwareNames())
      if (other.target == target.name)
        names.push_back("`" + other.name.str() + "`");
    if (!names.empty())
      out << "| " << target.name << " | " << llvm::join(names, ", ") << " |\n";
  }
  out << "\nA14 to A19 Pro, and the numbers of engines, are those of "
         "mil-hwx-compiler's table of\n"
         "generations; names with a letter are from coremltools, ANEForge and "
         "the ANE\n"
         "microarchitecture study. The study's M6 compiles for `h18g`, which "
         "divides a program\n"
         "between two engines. With 387 convolutions that overflows the "
         "compiler's stack\n"
         "([op-limit](rules.md#op-limit)), long chains of elementwise ops take "
         "minutes\n"
         "([elementwise-chain](rules.md#elementwise-chain)), and a Whisper "
         "encoder took 78 GB of\n"
         "swap files. Compiling for `h18`, one engine, has none of the three. "
         "Of the rules that\n"
         "name chips, those two and [topk-count](rules.md#topk-count) are for "
         "`m6`: nothing\n"
         "published shows the others there, and\n"
         "no program that was accepted for H18 breaks a rule that is an error "
         "([accuracy](accuracy.md)).\n";
}

static void printErrors(llvm::raw_ostream &out) {
  out << "\n### Error\n\n"
         "A program is held out if the first byte of the SHA-256 of its "
         "operations and bytes is\n"
         "odd and no row of it is marked *fitted*. Nothing is fitted to such a "
         "row. To all others\n"
         "together, one figure was fitted: how fast ops that are not products "
         "read and write\n"
         "their elements. An error is the factor between the predicted and the "
         "published time.\n\n"
         "| rows | model | number | median | typical | worst |\n"
         "|---|---|--:|--:|--:|--:|\n";
  double rate = genericTarget().cost.elementGigabytesPerSecond;
  for (bool heldOut : {false, true})
    for (double elementRate : {0.0, rate}) {
      PredictionError error = errorOfPredictions(heldOut, elementRate);
      out << "| " << (heldOut ? "held out" : "others") << " | "
          << (elementRate ? "with elements" : "without elements")
          << llvm::format(" | %u | %.2f | %.2f | %.2f |\n", error.count,
                          error.median, error.typical, error.worst);
    }
  out << "\n*Typical* is the root of the mean square, of logarithms. The gain "
         "on "
         "rows that are held\n"
         "out is all in the four of elementwise ops: the others are products, "
         "of "
         "which nothing\n"
         "better was found. In rows of a training step, which are not held "
         "out, "
         "the typical error\n"
         "falls from 1.64 to 1.36.\n\n"
         "A time for each task of a program (see [accuracy](accuracy.md)) was "
         "tried and left out:\n"
         "0.6 us a task is the best for the rows that are not held out, where "
         "the typical error is\n"
         "1.40 instead of 1.42, and the study of the M6 has 0.013 us. Also "
         "left "
         "out are programs\n"
         "with 4-bit weights, which are not read at their stored size, and "
         "reductions, whose\n"
         "programs are not described well enough to count.\n";
}

static void printRates(llvm::raw_ostream &out) {
  out << "\n### Anchors and published rates\n\n"
         "No anchor was fitted to these. A target stands for chips whose "
         "bandwidths differ by up\n"
         "to 2.1, so that no anchor can be within 1.4 of all of them; those of "
         "`m1` and `m2` are\n"
         "low because their other sources are.\n\n"
         "| target | chips | what | source | published | anchor | ratio |\n"
         "|---|---|---|---|---|---|---|\n";
  llvm::SmallVector<double> logs;
  for (const PublishedRate &rate : publishedRates()) {
    double ratio = rate.anchor() / rate.rate;
    logs.push_back(std::fabs(std::log(ratio)));
    out << "| " << rate.target << " | " << rate.chips << " | "
        << (rate.isBandwidth ? "bandwidth, GB/s" : "other ops, TFLOP/s")
        << " | " << rate.source
        << llvm::format(" | %.1f | %.4g | %.2f |\n", rate.rate, rate.anchor(),
                        ratio);
  }
  PredictionError error = summarizeErrors(std::move(logs));
  out << llvm::format("\nThe factor between the two is %.2f in the median, and "
                      "%.2f at the worst.\n",
                      error.median, error.worst);
}

static void printPublished(llvm::raw_ostream &out) {
  out << "\n"
         "## Predicted and published\n\n"
         "`t = dispatch + max(operations / peak, bytes / bandwidth) + element "
         "bytes / element rate`,\n"
         "for each program that runs. *Element bytes* are what ops that are "
         "not "
         "products read and\n"
         "write on the chip. Anchors of the target were fitted to rows marked "
         "*fitted*, and to no\n"
         "others. The ratio is predicted over published time. The error factor "
         "of a target was\n"
         "widened until it covered all its rows, fitted or not: it states how "
         "far off these\n"
         "predictions were, and no more. "
      << unpublishedTargets()
      << " have no row: their error\nfactors are guesses.\n";
  printErrors(out);
  printRates(out);
  out << "\n### Rows\n\n"
         "| target | what | source | published ms | predicted ms | ratio | "
         "used |\n"
         "|---|---|---|---|---|---|---|\n";
  for (const PublishedTime &time : publishedTimes()) {
    double predicted = predictMilliseconds(time);
    out << "| " << time.target << " | " << time.what << " | " << time.source
        << llvm::format(" | %.3f | %.3f | %.2f | ", time.milliseconds,
                        predicted, predicted / time.milliseconds)
        << (time.fitted        ? "fitted"
            : time.isHeldOut() ? "held out"
                               : "elements")
        << " |\n";
  }
}

void anec::printTargetsPage(llvm::raw_ostream &out) {
  out << "# Targets\n\n"
         "Published figures of each chip's neural engine. Nothing here was "
         "measured by this\n"
         "project. `generic`, the default, is conservative for all chips.\n\n"
         "With `--target=NAME`, `legalize` rewrites ops that break one of the "
         "target's\n"
         "[rules](rules.md), changes inputs and outputs to follow them (padded "
         "rows, fp16,\n"
         "sorted by name; `--remarks` lists the changes), and reports rules "
         "that are still\n"
         "broken as errors. Without it, inputs and outputs stay as declared, "
         "and nothing is\n"
         "reported.\n\n"
         "|  |";
  for (const Target &target : allTargets())
    out << ' ' << target.name << " |";
  out << "\n|---|";
  for (size_t i = 0; i < allTargets().size(); ++i)
    out << "---|";
  out << '\n';
  std::vector<std::string> sources;
#define LIMIT(WHAT, FIELD)                                                     \
  printLimit(                                                                  \
      WHAT, [](const Target &target) -> const auto & { return target.FIELD; }, \
      out, sources)
  LIMIT("on-chip bytes", limits.sramBytes);
  LIMIT("bytes of an input or output", limits.surfaceBytes);
  LIMIT("bytes of weights", limits.weightBytes);
  LIMIT("weight files", limits.weightFiles);
  LIMIT("ops in a program", limits.opsPerProgram);
  LIMIT("rank", limits.rank);
  LIMIT("channels", limits.channels);
  LIMIT("width and height", limits.spatial);
  LIMIT("input channels of `conv`", limits.convInputChannels);
  LIMIT("output channels of `conv`", limits.convOutputChannels);
  LIMIT("kernel width", limits.convKernelWidth);
  LIMIT("kernel height", limits.convKernelHeight);
  LIMIT("contraction of `matmul`", limits.matmulContraction);
  LIMIT("rows and columns of `matmul`", limits.matmulExtent);
  LIMIT("compilations per process", limits.compilesPerProcess);
  LIMIT("loaded programs", limits.loadedPrograms);
  LIMIT("rows start at multiples of", surface.rowAlignment);
  LIMIT("minimum bytes of an input or output", surface.minimumBytes);
  LIMIT("MIL version", milVersion);
  LIMIT("numerics", numerics);
  LIMIT("dispatch, us", cost.floorMicroseconds);
  LIMIT("convolutions, TFLOP/s", cost.convTeraflops);
  LIMIT("other ops, TFLOP/s", cost.matmulTeraflops);
  LIMIT("bandwidth, GB/s", cost.gigabytesPerSecond);
  LIMIT("elements, GB/s", cost.elementGigabytesPerSecond);
#undef LIMIT
  out << "| times are within a factor of |";
  for (const Target &target : allTargets())
    out << ' ' << target.cost.errorFactor << " |";
  out << "\n\n## Sources\n\n";
  for (const std::string &source : sources)
    out << source << '\n';
  printHardwareNames(out);
  printPublished(out);
}
