//===- StackTrace.cpp - places in the user's Python -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StackTrace.h"

using namespace anec;
using namespace anec::torch;

namespace {
struct Frame {
  StringRef file, line, function, source;

  bool isOfUser() const {
    return !file.contains("-packages/torch/") &&
           !file.contains("/torch/nn/modules/") &&
           !file.ends_with("/torch/nn/functional.py") && !file.starts_with("<");
  }
};
} // namespace

/// The frames, outermost first: `File "model.py", line 3, in forward` and the
/// source behind it.
static std::vector<Frame> framesOf(StringRef text) {
  std::vector<Frame> frames;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.trim();
    if (line.consume_front("File \"")) {
      Frame &frame = frames.emplace_back();
      std::tie(frame.file, line) = line.split("\", line ");
      std::tie(frame.line, frame.function) = line.split(", in ");
    } else if (!frames.empty() && frames.back().source.empty()) {
      frames.back().source = line;
    }
  }
  return frames;
}

/// The path of the innermost module: `layers.0`.
static StringRef moduleOf(StringRef stack) {
  StringRef last = stack.rsplit(';').second;
  if (last.empty())
    last = stack;
  return last.split(',').second.split(',').first;
}

std::string torch::placeOf(const GraphNode &node) {
  std::vector<Frame> frames = framesOf(node.stackTrace);
  const Frame *place = nullptr;
  for (const Frame &frame : frames)
    if (frame.isOfUser())
      place = &frame;
  std::string text;
  if (place) {
    text = place->file.str() + ":" + place->line.str() + ", in " +
           place->function.str();
    if (!place->source.empty())
      text += ": `" + place->source.str() + "`";
  }
  StringRef module = moduleOf(node.moduleStack);
  if (!module.empty())
    text += (text.empty() ? "module `" : ", module `") + module.str() + "`";
  return text;
}
