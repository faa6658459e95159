//===- RunTimes.cpp - where the time of a run goes ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/RunTimes.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// `1:02:03`, `2:03`.
static std::string formatTime(double seconds) {
  uint64_t whole = uint64_t(seconds + 0.5);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (whole >= 3600)
    out << whole / 3600 << ':'
        << llvm::format("%02u", unsigned(whole / 60 % 60));
  else
    out << whole / 60;
  out << ':' << llvm::format("%02u", unsigned(whole % 60));
  return text;
}

/// How often something that is done every `every` steps, and after the last,
/// is done after steps `first` to `last`.
static uint64_t timesDue(uint64_t first, uint64_t last, uint64_t every) {
  if (first > last)
    return 0;
  if (!every)
    return 1;
  return last / every - (first - 1) / every + (last % every != 0);
}

/// "2 checkpoints".
static std::string counted(uint64_t count, llvm::StringRef name) {
  return (llvm::Twine(count) + " " + name + (count == 1 ? "" : "s")).str();
}

std::string RunTimes::remaining(uint64_t step) const {
  uint64_t toValidate = schedule.validates ? timesDue(step + 1, schedule.steps,
                                                      schedule.validateEvery)
                                           : 0;
  uint64_t toSave = timesDue(step, schedule.steps, schedule.saveEvery);
  uint64_t toDo = schedule.steps > step ? schedule.steps - step : 0;
  std::string text = formatTime(
      double(toDo) * steps.mean() + double(toValidate) * validations.mean() +
      (toSave ? double(toSave - 1) * waits.mean() + checkpoints.mean() : 0));
  if (toValidate && !validations.count)
    text += " + " + counted(toValidate, "validation");
  if (toSave && !checkpoints.count)
    text += " + " + counted(toSave, "checkpoint");
  return text;
}

std::string RunTimes::others() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (validations.count)
    out << counted(validations.count, "validation")
        << llvm::format(" in %.1f s", validations.seconds);
  if (checkpoints.count)
    out << (text.empty() ? "" : ", ")
        << counted(checkpoints.count, "checkpoint")
        << llvm::format(" in %.1f s", checkpoints.seconds)
        << llvm::format(" (steps waited %.1f s)", waits.seconds);
  return text;
}
