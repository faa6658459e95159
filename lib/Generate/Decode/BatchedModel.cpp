//===- BatchedModel.cpp - texts that are read side by side ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BatchedModel.h"
#include "lib/Generate/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace anec;

/// Each rung of the ladder has states of its own, which texts leave behind when
/// one of them grows.
uint64_t BatchedTextModel::cacheBytes() const {
  std::map<int64_t, uint64_t> rungs;
  for (const DecodeEntry &entry : entries)
    rungs[entry.context] = entry.stateBytes();
  uint64_t all = 0;
  for (auto [context, bytes] : rungs)
    all += bytes;
  return all;
}

/// The entry of the sizes of `size` whose states have room for all texts after
/// `step`: the one with the fewest positions. From larger states, it is only
/// chosen with room to grow, as tokens that are taken back come again.
DecodeEntry *BatchedTextModel::onBestRung(const DecodeEntry &size,
                                          const Step &step) {
  size_t longest = *std::max_element(lengths.begin(), lengths.end());
  for (auto [reading, count] : step.parts)
    longest = std::max(longest, lengths[reading->feed->sequence] + count);
  bool isFirst = llvm::all_of(step.parts, [&](const auto &part) {
    return lengths[part.first->feed->sequence] == 0;
  });
  DecodeEntry *best = nullptr;
  for (DecodeEntry &entry : entries) {
    if (entry.block != size.block || entry.read != size.read ||
        (entry.starts && !isFirst))
      continue;
    int64_t room = entry.context;
    if (!isFirst && rung && entry.context < rung->context)
      room -= entry.context / 4;
    if (int64_t(longest) <= room && entry.isCheaperThan(best))
      best = &entry;
  }
  return best;
}

/// The step that reads a token at the least cost.
BatchedTextModel::Step
BatchedTextModel::choose(llvm::MutableArrayRef<Reading> readings) {
  Step best;
  double bestCost = 0;
  auto consider = [&](const DecodeEntry &size,
                      llvm::MutableArrayRef<Reading> some) {
    Step step;
    for (Reading &reading : some) {
      size_t count = std::min(reading.left(), size_t(size.block));
      // Where fewer tokens get logits than want them, the last ones wait.
      if (size.selection)
        count = std::min(count, reading.unwanted() + size_t(size.wanted));
      if (count)
        step.parts.push_back({&reading, count});
      step.tokens += count;
    }
    step.entry = step.tokens ? onBestRung(size, step) : nullptr;
    if (!step.entry)
      return;
    double cost = size.cost() / double(step.tokens);
    if (!best.entry || cost < bestCost ||
        (cost == bestCost && step.tokens > best.tokens)) {
      best = std::move(step);
      bestCost = cost;
    }
  };
  for (const DecodeEntry &size : entries) {
    if (size.read > 1)
      consider(size, readings);
    else
      for (Reading &reading : readings)
        consider(size, reading);
  }
  return best;
}

/// Brings the texts into the states of `entry`.
bool BatchedTextModel::enter(DecodeEntry &entry, Diagnostics &diags) {
  if (!entry.prepare(session, diags))
    return false;
  if (rung && rung->context != entry.context) {
    llvm::ArrayRef<NamedFloats> to = session.states(entry.name);
    for (auto [index, from] : llvm::enumerate(session.states(rung->name)))
      for (auto [text, length] : llvm::enumerate(lengths))
        copyVectors(from.elements.data() + int64_t(text) * rung->context,
                    rung->slots(),
                    to[index].elements.data() + int64_t(text) * entry.context,
                    entry.slots(), entry.vectors(index), length);
  }
  rung = &entry;
  return true;
}

bool BatchedTextModel::run(const Step &step, Diagnostics &diags) {
  DecodeEntry &entry = *step.entry;
  if (!enter(entry, diags))
    return false;
  entry.clearTokens();
  for (int64_t place = 0; place < entry.read; ++place)
    entry.setPosition(place, -1); // not used
  auto placeOf = [&](const Reading &reading) {
    return entry.read > 1 ? int64_t(reading.feed->sequence) : 0;
  };
  for (auto [reading, count] : step.parts) {
    int64_t text = reading->feed->sequence;
    entry.setPosition(placeOf(*reading),
                      int32_t(text * entry.context + int64_t(lengths[text])));
    for (size_t i = 0; i < count; ++i)
      entry.setToken(placeOf(*reading) * entry.block + int64_t(i),
                     reading->feed->tokens[reading->done + i]);
    if (entry.selection)
      for (int64_t i = 0; i < entry.wanted; ++i)
        entry.setWanted(
            i, int32_t(std::min(reading->unwanted() + size_t(i), count - 1)));
  }
  if (!entry.run(session, diags))
    return false;
  for (auto [reading, count] : step.parts) {
    const TokenFeed &feed = *reading->feed;
    size_t unwanted = reading->unwanted();
    for (size_t i = unwanted; i < count; ++i) {
      size_t column = entry.selection
                          ? i - unwanted
                          : size_t(placeOf(*reading) * entry.block) + i;
      size_t row = reading->done + i - reading->firstWanted();
      entry.readLogits(session, column,
                       feed.logits.slice(row * vocabulary(), vocabulary()));
    }
    reading->done += count;
    lengths[feed.sequence] = feed.keep + reading->done;
  }
  return true;
}

bool BatchedTextModel::feed(llvm::ArrayRef<TokenFeed> feeds,
                            Diagnostics &diags) {
  std::vector<Reading> readings;
  for (const TokenFeed &feed : feeds) {
    assert(feed.sequence < lengths.size() && !feed.tokens.empty() &&
           feed.keep <= lengths[feed.sequence] &&
           feed.keep + feed.tokens.size() <= positions() &&
           feed.wanted <= feed.tokens.size() &&
           feed.logits.size() == feed.wanted * vocabulary());
    lengths[feed.sequence] = feed.keep;
    readings.push_back({&feed});
  }
  auto isLeft = [](const Reading &reading) { return reading.left() > 0; };
  while (true) {
    auto next = llvm::find_if(readings, isLeft);
    if (next == readings.end())
      return true;
    Step step = choose(readings);
    if (!step.entry) {
      diags.reportFile(session.package().folder, diag::NoProgramFor,
                       lengths[next->feed->sequence]);
      return false;
    }
    if (!run(step, diags))
      return false;
  }
}
