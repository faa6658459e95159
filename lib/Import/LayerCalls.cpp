//===- LayerCalls.cpp - how a model calls its layers ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LayerCalls.h"
#include "Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cstdlib>

using namespace anec;

std::string anec::spellNumber(double number) {
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, number);
    if (std::strtod(text.c_str(), nullptr) == number)
      break;
  }
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  llvm::erase(text, '+');
  // 1e06 is 1000000.0: exponents are for what is small, or has no end.
  if (size_t at = text.find('e');
      at != std::string::npos && number >= 1 && number < 1e15) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.1f", number);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The factor of scaling by one; 1 without scaling.
static double factorOf(const Rotary &rotary) {
  return rotary.scaling.kind == RopeScalingKind::LongRope
             ? 1
             : rotary.scaling.factor;
}

KindParameters::KindParameters(const std::vector<LayerKind> &kinds) {
  for (const LayerKind &kind : kinds) {
    const Rotary &rotary = kind.rotary;
    hasWindow |= kind.window != kinds.front().window;
    hasRotary |= rotary.channels != kinds.front().rotary.channels;
    if (rotary.channels == 0)
      continue;
    if (!first)
      first = firstScaled = &rotary;
    if (firstScaled->scaling.kind == RopeScalingKind::None)
      firstScaled = &rotary;
    hasTheta |= rotary.theta != first->theta;
    hasFactor |= factorOf(rotary) != factorOf(*first);
    hasMagnitude |= rotary.scaling.magnitude != first->scaling.magnitude;
  }
}

bool anec::canWriteKinds(const std::vector<LayerKind> &kinds) {
  KindParameters parameters(kinds);
  for (const LayerKind &kind : kinds) {
    if (kind.rotary.channels == 0)
      continue;
    RopeScaling one = kind.rotary.scaling, other = parameters.scaled()->scaling;
    bool isPlain =
        one.kind == RopeScalingKind::None && isPlainWithFactor1(other.kind);
    one.magnitude = other.magnitude;
    one.factor = other.factor;
    if (!isPlain && (one.kind != other.kind || one.text() != other.text()))
      return false;
  }
  return true;
}

std::string KindParameters::layerParameters() const {
  std::string text;
  if (hasWindow)
    text += ", window: int";
  if (hasTheta)
    text += ", theta: float";
  if (hasRotary)
    text += ", rotary: int";
  if (hasFactor)
    text += ", factor: float";
  if (hasMagnitude)
    text += ", magnitude: float";
  return text;
}

std::string KindParameters::rotationParameters() const {
  std::string text;
  if (hasTheta)
    text += ", theta";
  if (hasRotary)
    text += ", rotary";
  if (hasFactor)
    text += ", factor";
  if (hasMagnitude)
    text += ", magnitude";
  return text;
}

std::string KindParameters::arguments(const LayerKind &kind) const {
  // A layer without rotation has the numbers of the others, so that it is
  // compiled once.
  const Rotary *rotary = kind.rotary.channels > 0 ? &kind.rotary : first;
  std::string text;
  if (hasWindow)
    text += ", window = " + std::to_string(kind.window);
  if (hasTheta)
    text += ", theta = " + spellNumber(rotary->theta);
  if (hasRotary)
    text += ", rotary = " + std::to_string(kind.rotary.channels);
  if (hasFactor)
    text += ", factor = " + spellNumber(factorOf(*rotary));
  if (hasMagnitude)
    text += ", magnitude = " + spellNumber(rotary->scaling.magnitude);
  return text;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Layers `begin` to `begin + period * count`, whose kinds repeat.
struct Run {
  size_t begin, period, count;
};
} // namespace

/// The run from `begin` on that covers the most layers, with the shortest
/// period.
static Run longestRun(llvm::ArrayRef<std::string> calls, size_t begin) {
  static constexpr size_t longestPeriod = 16;
  Run best = {begin, 1, 1};
  for (size_t period = 1; period <= longestPeriod; ++period) {
    size_t end = begin + period;
    if (end > calls.size())
      break;
    while (end < calls.size() && calls[end] == calls[end - period])
      ++end;
    size_t count = (end - begin) / period;
    // A pattern that does not repeat is not one.
    if ((count > 1 || period == 1) && count * period > best.count * best.period)
      best = {begin, period, count};
  }
  return best;
}

static void writeCall(const Decoder &decoder, const std::string &index,
                      std::string arguments, llvm::StringRef indent,
                      llvm::raw_ostream &out) {
  if (decoder.dividesByDepth)
    arguments += ", depth = " + index + " + 1";
  if (decoder.isParallel)
    out << indent << "x = block[" << index << "](x" << arguments << ");\n";
  else if (arguments.empty())
    out << indent << "x = feed_forward[" << index << "](attention[" << index
        << "](x));\n";
  else
    out << indent << "x = attention[" << index << "](x" << arguments << ");\n"
        << indent << "x = feed_forward[" << index << "](x);\n";
}

/// `2 * i + 1`
static std::string indexOf(size_t period, size_t offset) {
  std::string text = period > 1 ? std::to_string(period) + " * i" : "i";
  return offset ? text + " + " + std::to_string(offset) : text;
}

void anec::writeLayerCalls(const Decoder &decoder,
                           const KindParameters &parameters,
                           llvm::raw_ostream &out) {
  std::vector<std::string> calls;
  for (const LayerKind &kind : decoder.kinds)
    calls.push_back(parameters.arguments(kind));
  for (size_t at = 0; at < calls.size();) {
    Run run = longestRun(calls, at);
    bool isAll = run.count * run.period == calls.size();
    // One kind of layers is counted by its numbers.
    size_t first = run.period == 1 ? run.begin : 0, end = first + run.count;
    std::string last = isAll ? "layers" : std::to_string(end);
    if (isAll && run.period > 1)
      last += " / " + std::to_string(run.period);
    out << "  repeat i in " << first << ".." << last << " {\n";
    for (size_t i = 0; i < run.period; ++i)
      writeCall(decoder, indexOf(run.period, run.begin + i - first),
                calls[at + i], "    ", out);
    out << "  }\n";
    at += run.count * run.period;
  }
}
