//===- TrainLog.cpp - what happened at each step --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TrainLog.h"
#include "anec/Support/MappedFile.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Train/Diags.h"
#include "llvm/Support/Format.h"
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

using namespace anec;
namespace json = llvm::json;

void LossSeries::add(uint64_t step, double loss) {
  if (!kept.empty() && inLast < each) {
    Point &last = kept.back();
    ++inLast;
    last = {step, last.loss + (loss - last.loss) / double(inLast)};
    return;
  }
  if (kept.size() == most) {
    for (size_t i = 0; i < most / 2; ++i)
      kept[i] = {kept[2 * i + 1].step,
                 (kept[2 * i].loss + kept[2 * i + 1].loss) / 2};
    kept.resize(most / 2);
    each *= 2;
  }
  kept.push_back({step, loss});
  inLast = 1;
}

void LossHistory::add(const StepRecord &record) {
  if (std::isfinite(record.loss))
    training.add(record.step, record.loss);
  addValidation(record);
}

void LossHistory::addValidation(const StepRecord &record) {
  if (record.validationLoss && std::isfinite(*record.validationLoss))
    validation.add(record.step, *record.validationLoss);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// JSON has no infinities; `format` gives the number of digits.
static void attribute(json::OStream &out, llvm::StringRef name,
                      const char *format, double value) {
  out.attributeBegin(name);
  if (std::isfinite(value))
    out.rawValue(
        [&](llvm::raw_ostream &text) { text << llvm::format(format, value); });
  else
    out.value(nullptr);
  out.attributeEnd();
}

static void
attribute(json::OStream &out, llvm::StringRef name,
          const std::vector<std::pair<std::string, double>> &metrics) {
  if (metrics.empty())
    return;
  out.attributeObject(name, [&] {
    for (const auto &[metric, value] : metrics)
      attribute(out, metric, "%.17g", value);
  });
}

static std::string toLine(const StepRecord &record) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  json::OStream out(stream);
  out.object([&] {
    out.attribute("step", record.step);
    // All digits of a loss, so that runs can be compared exactly.
    attribute(out, "loss", "%.17g", record.loss);
    if (record.validationLoss)
      attribute(out, "val_loss", "%.17g", *record.validationLoss);
    attribute(out, "metrics", record.metrics);
    attribute(out, "val_metrics", record.validationMetrics);
    attribute(out, "lr", "%.6g", record.learningRate);
    attribute(out, "grad_norm", "%.6g", record.gradientNorm);
    attribute(out, "loss_scale", "%.6g", record.lossScale);
    if (record.skipped)
      out.attribute("skipped", true);
    out.attribute("epoch", record.epoch);
    out.attribute(spelling(record.unit), record.units);
    attribute(out, "ms", "%.3f", record.ms);
    attribute(out, "kernels_ms", "%.3f", record.kernelMs);
    attribute(out, "host_ms", "%.3f", record.hostMs);
    attribute(out, "optimizer_ms", "%.3f", record.optimizerMs);
    attribute(out, "io_ms", "%.3f", record.ioMs);
    if (record.validationLoss)
      attribute(out, "val_ms", "%.3f", record.validationMs);
    for (const auto &[name, ms] :
         {std::pair("checkpoint_ms", record.checkpointMs),
          {"checkpoint_wait_ms", record.checkpointWaitMs},
          {"checkpoint_copy_ms", record.checkpointCopyMs},
          {"checkpoint_write_ms", record.checkpointWriteMs}})
      if (ms)
        attribute(out, name, "%.3f", *ms);
  });
  line += '\n';
  return line;
}

TrainLog::~TrainLog() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void TrainLog::report(int error, Diagnostics &diags) const {
  diags.reportFile(folder->pathOf(name), diag::CannotWrite,
                   std::generic_category().message(error));
}

/// One write per line, so that readers see whole lines.
bool TrainLog::add(const StepRecord &record, Diagnostics &diags) {
  past.add(record);
  int error = writeAll(descriptor, toLine(record));
  if (error)
    report(error, diags);
  return error == 0;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The fields of a line that a curve needs; nothing when it is not a record.
static std::optional<StepRecord> parseLine(llvm::StringRef line) {
  JsonError error;
  std::optional<json::Value> value = parseJson(line, error);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  std::optional<int64_t> step =
      object ? object->getInteger("step") : std::nullopt;
  if (!step || *step < 0 || !object->get("loss"))
    return std::nullopt;
  StepRecord record;
  record.step = uint64_t(*step);
  record.loss = object->getNumber("loss").value_or(NAN);
  record.validationLoss = object->getNumber("val_loss");
  return record;
}

std::optional<LossHistory> anec::readTrainLog(llvm::StringRef path,
                                              Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  if (!text)
    return std::nullopt;
  LossHistory history;
  while (!text->empty()) {
    auto [line, rest] = text->split('\n');
    if (std::optional<StepRecord> record = parseLine(line)) {
      history.add(*record);
      // A step that is being written, or was when its run ended.
    } else if (line.end() != text->end() && !line.trim().empty()) {
      diags.report({llvm::SMLoc::getFromPointer(line.begin()),
                    llvm::SMLoc::getFromPointer(line.end())},
                   diag::BadLogLine);
      return std::nullopt;
    }
    text = rest;
  }
  if (history.training.points().empty()) {
    diags.reportFile(path, diag::EmptyLog);
    return std::nullopt;
  }
  return history;
}

/// The complete lines of `text` up to step `most`.
static std::string keepSteps(llvm::StringRef text, uint64_t most,
                             LossHistory &history) {
  std::string kept;
  uint64_t last = 0;
  while (text.contains('\n')) {
    auto [line, rest] = text.split('\n');
    text = rest;
    std::optional<StepRecord> record = parseLine(line);
    if (!record || record->step > most || record->step <= last)
      continue;
    last = record->step;
    history.add(*record);
    kept += line;
    kept += '\n';
  }
  return kept;
}

bool TrainLog::replaceFile(llvm::StringRef text, Diagnostics &diags) {
  AtomicFiles files(folder, diags);
  OutputFile *file = files.add(name);
  if (!file)
    return false;
  *file << text;
  return files.commit();
}

std::unique_ptr<TrainLog> TrainLog::open(std::shared_ptr<const Folder> folder,
                                         llvm::StringRef name,
                                         uint64_t keptSteps,
                                         Diagnostics &diags) {
  std::unique_ptr<TrainLog> log(new TrainLog(std::move(folder), name.str()));
  std::string kept;
  bool changed = true;
  if (log->folder->has(name)) {
    MappedFile before = mapFile(*log->folder, name, diags);
    if (!before)
      return nullptr;
    kept = keepSteps(before->getBuffer(), keptSteps, log->past);
    changed = before->getBuffer() != kept;
  }
  if (changed && !log->replaceFile(kept, diags))
    return nullptr;
  return log->openFile(diags) ? std::move(log) : nullptr;
}

bool TrainLog::openFile(Diagnostics &diags) {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor =
      ::openat(folder->descriptor(), name.c_str(),
               O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0)
    return true;
  report(errno, diags);
  return false;
}

bool TrainLog::addValidation(const StepRecord &record, Diagnostics &diags) {
  if (!record.validationLoss)
    return true;
  MappedFile before = mapFile(*folder, name, diags);
  if (!before)
    return false;
  llvm::StringRef text = before->getBuffer().rtrim('\n');
  llvm::StringRef line = text.substr(text.rfind('\n') + 1);
  std::optional<StepRecord> last = parseLine(line);
  if (!last || last->step != record.step || last->validationLoss)
    return true;
  std::string fields;
  llvm::raw_string_ostream stream(fields);
  json::OStream out(stream);
  out.object([&] {
    attribute(out, "val_loss", "%.17g", *record.validationLoss);
    attribute(out, "val_metrics", record.validationMetrics);
    attribute(out, "val_ms", "%.3f", record.validationMs);
  });
  // In place of the brace that closes the line's object.
  std::string changed = (text.drop_back() + ",").str();
  changed += llvm::StringRef(fields).drop_front();
  changed += '\n';
  past.addValidation(record);
  return replaceFile(changed, diags) && openFile(diags);
}
