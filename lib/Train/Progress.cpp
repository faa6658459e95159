//===- Progress.cpp - what a person sees while a model trains -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Progress.h"
#include "lib/Support/ShownText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace anec;

void Progress::start(uint64_t done, uint64_t steps, uint64_t units,
                     DataUnit name) {
  first = done + 1;
  last = steps;
  unitsPerStep = units;
  unit = name;
  shown = Clock::now();
}

/// "  accuracy 0.2500".
static void
addMetrics(const std::vector<std::pair<std::string, double>> &metrics,
           std::string &text) {
  llvm::raw_string_ostream out(text);
  for (const auto &[name, value] : metrics)
    out << "  " << name << llvm::format(" %.4f", value);
}

std::string Progress::format(const StepRecord &record, const RunTimes &times,
                             unsigned columns) const {
  std::string head, speed, parts, tail;
  llvm::raw_string_ostream(head) << "step " << record.step << '/' << last
                                 << llvm::format("  loss %.4f", record.loss);
  addMetrics(record.metrics, head);
  if (validationLoss)
    llvm::raw_string_ostream(head)
        << llvm::format("  val %.4f", *validationLoss);
  if (record.validationLoss)
    llvm::raw_string_ostream(head)
        << llvm::format(" in %.1f s", record.validationMs * 1e-3);
  addMetrics(record.validationMetrics, head);
  llvm::raw_string_ostream(speed) << llvm::format(
      "  %.0f %s/s  %.1f ms/step", double(unitsPerStep) * 1e3 / meanMs.step,
      spelling(unit).data(), meanMs.step);
  llvm::raw_string_ostream(parts)
      << llvm::format(" (kernels %.1f, host %.1f, optimizer %.1f, I/O %.1f)",
                      meanMs.kernels, meanMs.host, meanMs.optimizer, meanMs.io);
  if (record.skipped)
    llvm::raw_string_ostream(tail)
        << llvm::format("  skipped: loss scale %g", record.lossScale);
  tail += "  ETA " + times.remaining(record.step);
  // A line that wraps cannot be redrawn.
  std::string line = head + speed + parts + tail;
  for (const std::string &shorter : {head + speed + tail, head + tail})
    if (columns && line.size() >= columns)
      line = shorter;
  if (columns && line.size() >= columns)
    line.resize(columns - 1);
  return line;
}

void Progress::show(const StepRecord &record, const RunTimes &times) {
  auto update = [&](double &mean, double now) {
    mean = record.step == first ? now : 0.9 * mean + 0.1 * now;
  };
  update(meanMs.step, record.ms);
  update(meanMs.kernels, record.kernelMs);
  update(meanMs.host, record.hostMs);
  update(meanMs.optimizer, record.optimizerMs);
  update(meanMs.io, record.ioMs);
  if (record.validationLoss)
    validationLoss = record.validationLoss;
  Clock::time_point now = Clock::now();
  std::chrono::duration<double> since = now - shown;
  bool isDue = record.step == first || record.step >= last ||
               since.count() >= (width ? 0.1 : 5.0) ||
               (record.validationLoss && !width);
  if (!isDue)
    return;
  shown = now;
  // A terminal of no known width is as one of 80 columns.
  unsigned columns = width ? width() : 0;
  std::string line = format(record, times, width && !columns ? 80 : columns);
  if (!width) {
    out << line << '\n';
    out.flush();
    return;
  }
  // Overwrites the rest of a longer line.
  size_t length = line.size();
  if (length < shownLength)
    line.append(shownLength - length, ' ');
  out << '\r' << line;
  out.flush();
  shownLength = length;
  isOpen = true;
}

void Progress::showCheckpoint(uint64_t step, double seconds, double waited) {
  if (!width)
    say("checkpoint of step " + llvm::Twine(step) +
        llvm::formatv(" in {0:F1} s (steps waited {1:F1} s)", seconds, waited)
            .str());
}

void Progress::showWait(uint64_t step, double seconds) {
  if (!width)
    say("checkpoint of step " + llvm::Twine(step) +
        llvm::formatv(" waited {0:F1} s for the one before", seconds).str());
}

void Progress::end() {
  if (isOpen)
    out << '\n';
  isOpen = false;
  shownLength = 0;
}

void Progress::say(const llvm::Twine &text) {
  end();
  out << showText(text.str()) << '\n';
  out.flush();
}
