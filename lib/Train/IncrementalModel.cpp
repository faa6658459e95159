//===- IncrementalModel.cpp - texts that are read once --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/IncrementalModel.h"
#include "anec/Support/Half.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <map>

using namespace anec;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

/// An entry that reads `block` tokens after at most `context` others, and gives
/// logits for `wanted` of them.
struct Program {
  std::string entry;
  int64_t context = 0, block = 0, wanted = 0, vocabulary = 0;
  // Indices of inputs and outputs.
  size_t tokens = 0, position = 0, logits = 0;
  std::optional<size_t> selection; ///< of the wanted positions; none for all
  /// Shapes of the states, without their last axis.
  std::vector<Shape> states;
  /// The buffers of a run; empty until the program is loaded.
  std::vector<std::vector<uint8_t>> inputs, outputs;
};

} // namespace

static bool isDecodeRole(FunctionRole role) {
  return role == FunctionRole::Decode || role == FunctionRole::Prefill;
}

/// What keeps `entry` from being `program`, which is made of it; empty for
/// nothing.
static std::string makeProgram(const PackagedEntry &entry, Program &program) {
  program.entry = entry.name;
  std::optional<size_t> tokens, position;
  size_t number = 0; // without states, as the session counts them
  for (const PackagedValue &input : entry.inputs) {
    if (input.role == ValueRole::State) {
      if (input.type.shape.empty())
        return "its state `" + input.name + "` is a scalar";
      int64_t context = input.type.shape.back();
      if (!program.states.empty() && context != program.context)
        return "its states differ in their number of positions";
      program.context = context;
      program.states.push_back(
          Shape(input.type.shape.begin(), input.type.shape.end() - 1));
      continue;
    }
    auto take = [&](std::optional<size_t> &place) {
      bool isFirst = !place;
      place = number++;
      return isFirst && input.type.dtype == DType::Int32;
    };
    bool ok = input.role == ValueRole::Input      ? take(tokens)
              : input.role == ValueRole::Position ? take(position)
              : input.role == ValueRole::Wanted   ? take(program.selection)
                                                  : false;
    if (!ok)
      return "it has an input `" + input.name + "` of `" + input.type.str() +
             "` and the role `" + spelling(input.role).str() + "`";
    if (input.role == ValueRole::Input) {
      if (input.type.rank() != 1)
        return "its tokens `" + input.name + "` are `" + input.type.str() +
               "`, of several texts";
      program.block = input.type.shape[0];
    }
    if (input.role == ValueRole::Position && !input.type.isScalar())
      return "its position is no scalar";
    if (input.role == ValueRole::Wanted) {
      if (input.type.rank() != 1)
        return "`" + input.name + "` is no list";
      program.wanted = input.type.shape[0];
    }
  }
  std::optional<size_t> logits = entry.outputOf(ValueRole::Logits);
  if (!tokens || !position || !logits)
    return "it lacks tokens, a position or logits";
  if (program.states.empty())
    return "it has no states, in which texts are kept";
  if (!program.selection)
    program.wanted = program.block;
  const TensorType &type = entry.outputs[*logits].type;
  if (type.dtype != DType::FP16 && type.dtype != DType::FP32)
    return "its logits are `" + type.str() + "`";
  if (type.rank() != 2 || type.shape[1] != program.wanted)
    return "its logits are `" + type.str() + "`, no column for each of " +
           std::to_string(program.wanted) + " positions";
  program.vocabulary = type.shape[0];
  program.tokens = *tokens;
  program.position = *position;
  program.logits = *logits;
  return "";
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {

class IncrementalTextModel : public TextModel {
public:
  IncrementalTextModel(Session &session, std::vector<Program> programs,
                       unsigned sequences)
      : session(session), programs(std::move(programs)), texts(sequences) {}

  size_t positions() const override { return size_t(longest()); }
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
    Program *program = nullptr;
    size_t count = 0;
  };

  int64_t longest() const {
    int64_t context = 0;
    for (const Program &program : programs)
      context = std::max(context, program.context);
    return context;
  }
  bool read(const TokenFeed &feed, Diagnostics &diags);
  bool prepare(Program &program, Diagnostics &diags);
  Choice choose(size_t position, size_t left, size_t unwanted);
  Program *onBestRung(int64_t block, size_t end);
  bool enter(unsigned sequence, size_t keep, Program &program,
             Diagnostics &diags);
  bool run(Program &program, llvm::ArrayRef<int32_t> tokens, size_t position,
           size_t firstWanted, llvm::MutableArrayRef<float> logits,
           Diagnostics &diags);
  llvm::ArrayRef<NamedFloats> statesOf(const Program &program) const {
    return session.states(program.entry);
  }

  Session &session;
  std::vector<Program> programs;
  std::vector<Text> texts;
  unsigned active = 0; ///< the sequence in the states
  /// A program whose states have it; null when none do.
  const Program *rung = nullptr;
};

} // namespace

/// Copies the first `count` elements of vectors of `from` elements to those of
/// vectors of `to`.
static void copyVectors(const float *source, int64_t from, float *target,
                        int64_t to, int64_t vectors, size_t count) {
  for (int64_t i = 0; i < vectors; ++i)
    std::memcpy(target + i * to, source + i * from, count * sizeof(float));
}

/// Each rung of the ladder has states of its own, which a text leaves behind
/// when it grows; texts that wait are kept once.
uint64_t IncrementalTextModel::cacheBytes() const {
  std::map<int64_t, uint64_t> rungs;
  for (const Program &program : programs) {
    uint64_t &bytes = rungs[program.context];
    bytes = 0;
    for (const Shape &vectors : program.states)
      bytes += uint64_t(TensorType(DType::FP32, vectors).numElements()) *
               uint64_t(program.context) * sizeof(float);
  }
  uint64_t all = 0;
  for (auto [context, bytes] : rungs)
    all += bytes;
  return all + (texts.size() - 1) * rungs.rbegin()->second;
}

bool IncrementalTextModel::prepare(Program &program, Diagnostics &diags) {
  if (!program.inputs.empty())
    return true;
  if (!session.prepare(program.entry, diags))
    return false;
  for (const Port &port : session.inputs(program.entry))
    program.inputs.emplace_back(port.type.numBytes());
  for (const Port &port : session.outputs(program.entry))
    program.outputs.emplace_back(port.type.numBytes());
  return true;
}

//===----------------------------------------------------------------------===//
// Choosing programs
//===----------------------------------------------------------------------===//

/// The program of `block` whose states can have `end` tokens: the one with the
/// fewest positions. From larger states, it is only chosen with room to grow,
/// as tokens that are taken back come again.
Program *IncrementalTextModel::onBestRung(int64_t block, size_t end) {
  Program *best = nullptr;
  for (Program &program : programs) {
    if (program.block != block)
      continue;
    int64_t room = program.context;
    if (rung && program.context < rung->context)
      room -= program.context / 4;
    if (int64_t(end) <= room && (!best || program.context < best->context))
      best = &program;
  }
  return best;
}

/// The cheapest program for the next of `left` tokens, of which the first
/// `unwanted` need no logits. A run costs what reading the weights does, and
/// about as much again for every 16 positions, used or not.
IncrementalTextModel::Choice
IncrementalTextModel::choose(size_t position, size_t left, size_t unwanted) {
  Choice best;
  double bestCost = 0;
  std::vector<int64_t> blocks;
  for (const Program &program : programs)
    if (!llvm::is_contained(blocks, program.block))
      blocks.push_back(program.block);
  for (int64_t block : blocks) {
    size_t count = std::min(left, size_t(block));
    Program *program = onBestRung(block, position + count);
    if (!program)
      continue;
    // Where fewer tokens get logits than want them, the last ones wait.
    count = std::min(count, unwanted + size_t(program->wanted));
    double cost = (1 + double(block) / 16) / double(count);
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
                                 Program &program, Diagnostics &diags) {
  if (!prepare(program, diags))
    return false;
  llvm::ArrayRef<NamedFloats> states = statesOf(program);
  auto vectorsOf = [&](size_t state) {
    return TensorType(DType::FP32, program.states[state]).numElements();
  };
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

/// Copies a column of a matrix of `type`, fp16 or fp32, to `to`.
static void readColumn(const TensorType &type, const uint8_t *bytes,
                       size_t column, llvm::MutableArrayRef<float> to) {
  size_t rows = size_t(type.shape[0]), columns = size_t(type.shape[1]);
  if (type.dtype == DType::FP16) {
    const auto *halves = reinterpret_cast<const uint16_t *>(bytes);
    if (columns == 1)
      return halvesToFloats(halves, to.data(), rows);
    for (size_t row = 0; row < rows; ++row)
      to[row] = halfToFloat(halves[row * columns + column]);
    return;
  }
  const auto *floats = reinterpret_cast<const float *>(bytes);
  for (size_t row = 0; row < rows; ++row)
    to[row] = floats[row * columns + column];
}

/// Reads tokens at `position`, and writes rows of logits for those from index
/// `firstWanted` on.
bool IncrementalTextModel::run(Program &program, llvm::ArrayRef<int32_t> tokens,
                               size_t position, size_t firstWanted,
                               llvm::MutableArrayRef<float> logits,
                               Diagnostics &diags) {
  std::vector<uint8_t> &ids = program.inputs[program.tokens];
  // What follows the tokens is not seen by them, and not kept.
  std::fill(ids.begin(), ids.end(), 0);
  std::memcpy(ids.data(), tokens.data(), tokens.size() * sizeof(int32_t));
  int32_t at = int32_t(position);
  std::memcpy(program.inputs[program.position].data(), &at, sizeof at);
  size_t count = tokens.size() - firstWanted;
  if (program.selection)
    for (int64_t i = 0; i < program.wanted; ++i) {
      int32_t index =
          int32_t(std::min(firstWanted + size_t(i), tokens.size() - 1));
      std::memcpy(program.inputs[*program.selection].data() + i * sizeof index,
                  &index, sizeof index);
    }
  llvm::SmallVector<llvm::ArrayRef<uint8_t>, 4> in(program.inputs.begin(),
                                                   program.inputs.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>, 2> out(
      program.outputs.begin(), program.outputs.end());
  if (!session.run(program.entry, in, out, diags, Gradients::None))
    return false;
  const TensorType &type = session.outputs(program.entry)[program.logits].type;
  const uint8_t *bytes = program.outputs[program.logits].data();
  size_t first = program.selection ? 0 : firstWanted;
  for (size_t i = 0; i < count; ++i)
    readColumn(type, bytes, first + i, logits.slice(i * vocabulary()));
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
  std::vector<Program> programs;
  for (const PackagedEntry &entry : package.entries) {
    if (!isDecodeRole(entry.role) || entry.owner != *model)
      continue;
    Program program;
    std::string wrong = makeProgram(entry, program);
    if (wrong.empty() && !programs.empty() &&
        (program.states != programs.front().states ||
         program.vocabulary != programs.front().vocabulary))
      wrong =
          "it has other states or logits than `" + programs.front().entry + "`";
    if (!wrong.empty()) {
      diags.reportFile(package.folder, diag::DecodeEntryForm, entry.name,
                       wrong);
      return nullptr;
    }
    programs.push_back(std::move(program));
  }
  return std::make_unique<IncrementalTextModel>(
      session, std::move(programs), std::max(options.sequences, 1u));
}
