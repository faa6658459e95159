//===- IncrementalModel.cpp - texts that are read once --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/IncrementalModel.h"
#include "Decode/BatchedModel.h"
#include "lib/Generate/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace anec;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {

class IncrementalTextModel : public TextModel {
public:
  IncrementalTextModel(Session &session, std::vector<DecodeEntry> programs,
                       unsigned sequences)
      : session(session), programs(std::move(programs)), texts(sequences) {}

  size_t positions() const override { return size_t(longestContext(programs)); }
  size_t vocabulary() const override {
    return size_t(programs.front().vocabulary);
  }
  unsigned sequences() const override { return unsigned(texts.size()); }
  uint64_t cacheBytes() const override;
  bool feed(llvm::ArrayRef<TokenFeed> feeds, Diagnostics &diags) override;

private:
  /// A sequence: how many tokens it has and, while another one is in the
  /// states, what it has in each.
  struct Text {
    size_t length = 0;
    std::vector<std::vector<float>> kept;
  };
  /// A program, and how many tokens it reads next.
  struct Choice {
    DecodeEntry *program = nullptr;
    size_t count = 0;
  };

  bool read(const TokenFeed &feed, Diagnostics &diags);
  Choice choose(size_t position, size_t left, size_t unwanted);
  DecodeEntry *onBestRung(int64_t block, size_t position, size_t count);
  bool enter(unsigned sequence, size_t keep, DecodeEntry &program,
             Diagnostics &diags);
  bool run(DecodeEntry &program, llvm::ArrayRef<int32_t> tokens,
           size_t position, size_t firstWanted,
           llvm::MutableArrayRef<float> logits, Diagnostics &diags);
  llvm::ArrayRef<NamedFloats> statesOf(const DecodeEntry &program) const {
    return session.states(program.name);
  }

  Session &session;
  std::vector<DecodeEntry> programs;
  std::vector<Text> texts;
  unsigned active = 0; ///< the sequence in the states
  /// A program whose states have it; null when none do.
  const DecodeEntry *rung = nullptr;
};

} // namespace

/// Each rung of the ladder has states of its own, which a text leaves behind
/// when it grows; texts that wait are kept once.
uint64_t IncrementalTextModel::cacheBytes() const {
  std::map<int64_t, uint64_t> rungs;
  for (const DecodeEntry &program : programs)
    rungs[program.context] = program.stateBytes();
  uint64_t all = 0;
  for (auto [context, bytes] : rungs)
    all += bytes;
  return all + (texts.size() - 1) * rungs.rbegin()->second;
}

//===----------------------------------------------------------------------===//
// Choosing programs
//===----------------------------------------------------------------------===//

/// The program of `block` that reads `count` tokens at `position` and whose
/// states have room for them: the one with the fewest positions. From larger
/// states, it is only chosen with room to grow, as tokens that are taken back
/// come again. A text that begins leaves no states behind.
DecodeEntry *IncrementalTextModel::onBestRung(int64_t block, size_t position,
                                              size_t count) {
  DecodeEntry *best = nullptr;
  for (DecodeEntry &program : programs) {
    if (program.block != block || (program.starts && position != 0))
      continue;
    int64_t room = program.context;
    if (position != 0 && rung && program.context < rung->context)
      room -= program.context / 4;
    if (int64_t(position + count) <= room && program.isCheaperThan(best))
      best = &program;
  }
  return best;
}

/// The cheapest program for the next of `left` tokens, of which the first
/// `unwanted` need no logits.
IncrementalTextModel::Choice
IncrementalTextModel::choose(size_t position, size_t left, size_t unwanted) {
  Choice best;
  double bestCost = 0;
  std::vector<int64_t> blocks;
  for (const DecodeEntry &program : programs)
    if (!llvm::is_contained(blocks, program.block))
      blocks.push_back(program.block);
  for (int64_t block : blocks) {
    size_t count = std::min(left, size_t(block));
    DecodeEntry *program = onBestRung(block, position, count);
    if (!program)
      continue;
    // Where fewer tokens get logits than want them, the last ones wait.
    count = std::min(count, unwanted + size_t(program->wanted));
    double cost = program->cost() / double(count);
    if (!best.program || cost < bestCost ||
        (cost == bestCost && count > best.count)) {
      best = {program, count};
      bestCost = cost;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Running them
//===----------------------------------------------------------------------===//

/// Brings the first `keep` tokens of the sequence into the states of `program`.
bool IncrementalTextModel::enter(unsigned sequence, size_t keep,
                                 DecodeEntry &program, Diagnostics &diags) {
  if (!program.prepare(session, diags))
    return false;
  llvm::ArrayRef<NamedFloats> states = statesOf(program);
  auto vectorsOf = [&](size_t state) { return program.vectors(state); };
  if (rung && active == sequence) {
    if (rung->context != program.context)
      for (auto [index, from] : llvm::enumerate(statesOf(*rung)))
        copyVectors(from.elements.data(), rung->context,
                    states[index].elements.data(), program.context,
                    vectorsOf(index), keep);
    rung = &program;
    return true;
  }
  if (rung) {
    Text &other = texts[active];
    other.kept.resize(states.size());
    for (auto [index, from] : llvm::enumerate(statesOf(*rung))) {
      int64_t vectors = vectorsOf(index);
      other.kept[index].resize(size_t(vectors) * other.length);
      copyVectors(from.elements.data(), rung->context, other.kept[index].data(),
                  int64_t(other.length), vectors, other.length);
    }
  }
  Text &text = texts[sequence];
  for (size_t index = 0; index < text.kept.size(); ++index)
    copyVectors(text.kept[index].data(), int64_t(text.length),
                states[index].elements.data(), program.context,
                vectorsOf(index), keep);
  text.kept.clear();
  active = sequence;
  rung = &program;
  return true;
}

/// Reads tokens at `position`, and writes rows of logits for those from index
/// `firstWanted` on.
bool IncrementalTextModel::run(DecodeEntry &program,
                               llvm::ArrayRef<int32_t> tokens, size_t position,
                               size_t firstWanted,
                               llvm::MutableArrayRef<float> logits,
                               Diagnostics &diags) {
  // What follows the tokens is not seen by them, and not kept.
  program.clearTokens();
  for (auto [index, id] : llvm::enumerate(tokens))
    program.setToken(int64_t(index), id);
  program.setPosition(0, int32_t(position));
  if (program.selection)
    for (int64_t i = 0; i < program.wanted; ++i)
      program.setWanted(
          i, int32_t(std::min(firstWanted + size_t(i), tokens.size() - 1)));
  if (!program.run(session, diags))
    return false;
  size_t count = tokens.size() - firstWanted;
  size_t first = program.selection ? 0 : firstWanted;
  for (size_t i = 0; i < count; ++i)
    program.readLogits(session, first + i,
                       logits.slice(i * vocabulary(), vocabulary()));
  return true;
}

bool IncrementalTextModel::read(const TokenFeed &feed, Diagnostics &diags) {
  assert(feed.sequence < texts.size() && !feed.tokens.empty() &&
         feed.keep <= texts[feed.sequence].length &&
         feed.keep + feed.tokens.size() <= positions() &&
         feed.wanted <= feed.tokens.size() &&
         feed.logits.size() == feed.wanted * vocabulary());
  size_t all = feed.tokens.size(), firstWanted = all - feed.wanted;
  for (size_t done = 0; done < all;) {
    size_t position = feed.keep + done;
    size_t unwanted = std::max(firstWanted, done) - done;
    Choice next = choose(position, all - done, unwanted);
    if (!next.program) {
      diags.reportFile(session.package().folder, diag::NoProgramFor, position);
      return false;
    }
    if (!enter(feed.sequence, position, *next.program, diags))
      return false;
    size_t wanted = std::min(unwanted, next.count);
    size_t row = std::max(done + wanted, firstWanted) - firstWanted;
    if (!run(*next.program, feed.tokens.slice(done, next.count), position,
             wanted, feed.logits.drop_front(row * vocabulary()), diags))
      return false;
    done += next.count;
    texts[feed.sequence].length = feed.keep + done;
  }
  return true;
}

bool IncrementalTextModel::feed(llvm::ArrayRef<TokenFeed> feeds,
                                Diagnostics &diags) {
  return llvm::all_of(feeds,
                      [&](const TokenFeed &feed) { return read(feed, diags); });
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

bool anec::hasDecodePrograms(const ModelPackage &package) {
  return llvm::any_of(package.entries, [](const PackagedEntry &entry) {
    return isDecodeRole(entry.role);
  });
}

/// The only model of the package that decodes, or the one called `name`.
static std::optional<std::string> chooseModel(const ModelPackage &package,
                                              llvm::StringRef name,
                                              Diagnostics &diags) {
  std::vector<const PackagedEntry *> firsts; // of each model
  for (const PackagedEntry &entry : package.entries) {
    bool isKnown = llvm::any_of(firsts, [&](const PackagedEntry *other) {
      return other->owner == entry.owner;
    });
    if (isDecodeRole(entry.role) && !isKnown &&
        (name.empty() || entry.owner == name))
      firsts.push_back(&entry);
  }
  if (firsts.empty()) {
    diags.reportFile(package.folder, diag::NoDecodePrograms,
                     name.empty() ? "this package" : name);
    return std::nullopt;
  }
  const PackagedEntry *chosen = chooseEntry(package, "", firsts, diags);
  return chosen ? std::optional(chosen->owner) : std::nullopt;
}

std::unique_ptr<TextModel>
anec::openIncrementalModel(Session &session,
                           const IncrementalModelOptions &options,
                           Diagnostics &diags) {
  const ModelPackage &package = session.package();
  std::optional<std::string> model = chooseModel(package, options.model, diags);
  if (!model)
    return nullptr;
  std::optional<std::vector<DecodeEntry>> entries =
      decodeEntries(package, *model, diags);
  if (!entries)
    return nullptr;
  if (!entries->front().isOfSlots)
    return std::make_unique<IncrementalTextModel>(
        session, std::move(*entries), std::max(options.sequences, 1u));
  if (int64_t(options.sequences) > entries->front().texts) {
    diags.reportFile(package.folder, diag::BatchTooSmall, *model,
                     entries->front().texts, options.sequences);
    return nullptr;
  }
  return std::make_unique<BatchedTextModel>(session, std::move(*entries));
}
