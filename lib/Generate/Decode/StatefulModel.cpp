//===- StatefulModel.cpp - texts in the states of a program ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/StatefulModel.h"
#include "anec/Support/AlignedArray.h"
#include "lib/Generate/Diags.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace anec;

namespace {

/// A function that reads a block.
struct Program {
  const Function *function = nullptr;
  int64_t block = 0, wanted = 0, vocabulary = 0;
  bool selects = false; ///< whether its third input says which get logits
  std::vector<TensorType> states;
  std::vector<llvm::StringRef> stateNames;
  /// Null until it is first needed.
  std::unique_ptr<Executable> executable;
  std::vector<std::vector<int32_t>> inputs;
  std::vector<uint8_t> logits;

  /// As DecodeEntry::cost.
  double cost() const { return 1 + double(block) / 16; }
  void readLogits(size_t column, llvm::MutableArrayRef<float> to) const;
};

class StatefulModel : public TextModel {
public:
  StatefulModel(std::unique_ptr<Module> module, std::vector<Program> programs,
                Backend &backend, const LoadOptions &load)
      : module(std::move(module)), programs(std::move(programs)),
        backend(backend), load(load) {
    if (backend.capabilities().bindsMemory)
      allocateStates();
  }

  size_t positions() const override {
    return size_t(programs.front().states.front().shape.back());
  }
  size_t vocabulary() const override {
    return size_t(programs.front().vocabulary);
  }
  unsigned sequences() const override { return 1; }
  uint64_t cacheBytes() const override;
  bool feed(llvm::ArrayRef<TokenFeed> feeds, Diagnostics &diags) override;

private:
  void allocateStates();
  Program *choose(size_t left, size_t unwanted, size_t &count);
  bool enter(Program &program, Diagnostics &diags);
  bool run(Program &program, size_t first, size_t count, size_t firstWanted,
           llvm::MutableArrayRef<float> logits, Diagnostics &diags);

  std::unique_ptr<Module> module;
  std::vector<Program> programs;
  Backend &backend;
  LoadOptions load;
  /// The memory of the states, where functions share it.
  std::vector<AlignedArray> memory;
  std::vector<float *> shared;
  std::vector<int32_t> text; ///< that the states have
  Program *last = nullptr;   ///< that ran last, and has the states
};

} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void Program::readLogits(size_t column, llvm::MutableArrayRef<float> to) const {
  const TensorType &type = executable->outputs()[0].type;
  size_t columns = size_t(wanted);
  const auto *halves = reinterpret_cast<const uint16_t *>(logits.data());
  const auto *floats = reinterpret_cast<const float *>(logits.data());
  for (size_t row = 0; row < to.size(); ++row)
    to[row] = type.dtype == DType::FP16
                  ? halfToFloat(halves[row * columns + column])
                  : floats[row * columns + column];
}

/// What keeps `function` from being a program; empty for nothing.
static std::string makeProgram(const Function &function, Program &program) {
  program.function = &function;
  llvm::SmallVector<const Value *, 3> inputs;
  for (const auto &param : function.parameters()) {
    if (param->holder != Holder::State) {
      inputs.push_back(param.get());
      continue;
    }
    const TensorType &type = param->type;
    if (!isFloat(type.dtype) || type.rank() == 0 ||
        (!program.states.empty() &&
         type.shape.back() != program.states.front().shape.back()))
      return "its state `" + param->name + "`, `" + type.str() +
             "`, has no elements for the positions of a text";
    program.states.push_back(type);
    program.stateNames.push_back(param->name);
  }
  if (program.states.empty())
    return "it has no states, in which texts are kept";
  auto isList = [](const Value &value, int64_t length) {
    return value.type.dtype == DType::Int32 && value.type.rank() == 1 &&
           (length == 0 || value.type.shape[0] == length);
  };
  program.selects = inputs.size() == 3;
  if (inputs.size() < 2 || inputs.size() > 3 || !isList(*inputs[0], 0) ||
      !isList(*inputs[1], 1) || (program.selects && !isList(*inputs[2], 1)))
    return "its inputs are not tokens, a position and maybe the index of one, "
           "all lists of `int32`";
  program.block = inputs[0]->type.shape[0];
  if (program.block > program.states.front().shape.back())
    return "it reads more tokens than its states have room for";
  program.wanted = program.selects ? 1 : program.block;
  const TensorType *logits =
      function.numResults() == 1 ? &function.result(0)->type : nullptr;
  if (!logits || (logits->dtype != DType::FP16 && logits->dtype != DType::FP32))
    return "it has no single result of `fp16` or `fp32`, the logits";
  if (logits->rank() != 2 || logits->shape[1] != program.wanted)
    return "its logits are `" + logits->str() + "`, no column for each of " +
           std::to_string(program.wanted) + " positions";
  program.vocabulary = logits->shape[0];
  return "";
}

std::unique_ptr<TextModel>
anec::openStatefulModel(std::unique_ptr<Module> module, llvm::StringRef path,
                        Backend &backend, const LoadOptions &load,
                        Diagnostics &diags) {
  std::vector<Program> programs;
  for (const auto &function : module->functions) {
    Program program;
    std::string wrong = makeProgram(*function, program);
    if (wrong.empty() && !programs.empty() &&
        (program.states != programs.front().states ||
         program.stateNames != programs.front().stateNames ||
         program.vocabulary != programs.front().vocabulary))
      wrong = "it has other states, or in another order, or other logits than "
              "`" +
              programs.front().function->name + "`";
    if (!wrong.empty()) {
      diags.reportFile(path, diag::DecodeEntryForm, function->name, wrong);
      return nullptr;
    }
    programs.push_back(std::move(program));
  }
  assert(!programs.empty() && "a program has a function");
  return std::make_unique<StatefulModel>(std::move(module), std::move(programs),
                                         backend, load);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

void StatefulModel::allocateStates() {
  // Kernels work on whole cache lines.
  constexpr uint64_t line = 16;
  for (const TensorType &type : programs.front().states) {
    size_t count = llvm::alignTo(uint64_t(type.numElements()), line);
    memory.push_back(makeAlignedArray(count));
    std::fill_n(memory.back().get(), count, 0.0f);
    shared.push_back(memory.back().get());
  }
}

uint64_t StatefulModel::cacheBytes() const {
  uint64_t bytes = 0;
  for (const TensorType &type : programs.front().states)
    bytes += memory.empty() ? uint64_t(type.numBytes())
                            : uint64_t(type.numElements()) * sizeof(float);
  return bytes;
}

/// Loads the program, and gives it what the last one has.
bool StatefulModel::enter(Program &program, Diagnostics &diags) {
  if (!program.executable) {
    LoadOptions options = load;
    options.states = shared;
    program.executable = backend.load(*program.function, options, diags);
    if (!program.executable)
      return false;
    for (const Port &port : program.executable->inputs())
      program.inputs.emplace_back(size_t(port.type.numElements()));
    program.logits.resize(program.executable->outputs()[0].type.numBytes());
  }
  if (last && last != &program && shared.empty()) {
    llvm::ArrayRef<Port> states = last->executable->states();
    for (unsigned index = 0; index < states.size(); ++index) {
      std::vector<uint8_t> bytes(states[index].type.numBytes());
      if (!last->executable->getState(index, bytes, diags) ||
          !program.executable->setState(index, bytes, diags))
        return false;
    }
  }
  last = &program;
  return true;
}

//===----------------------------------------------------------------------===//
// Reading texts
//===----------------------------------------------------------------------===//

/// The cheapest program for the next of `left` tokens, of which the first
/// `unwanted` need no logits; it reads `count` of them.
Program *StatefulModel::choose(size_t left, size_t unwanted, size_t &count) {
  Program *best = nullptr;
  double bestCost = 0;
  for (Program &program : programs) {
    // Where fewer tokens get logits than want them, the last ones wait.
    size_t read = std::min(
        {left, size_t(program.block), unwanted + size_t(program.wanted)});
    double cost = program.cost() / double(read);
    if (!best || cost < bestCost || (cost == bestCost && read > count)) {
      best = &program;
      bestCost = cost;
      count = read;
    }
  }
  return best;
}

/// Reads `count` tokens of the text from `first` on, and writes rows of logits
/// for those from `firstWanted` on. The block must lie within the states: at
/// their end, it begins with tokens that were read before.
bool StatefulModel::run(Program &program, size_t first, size_t count,
                        size_t firstWanted, llvm::MutableArrayRef<float> logits,
                        Diagnostics &diags) {
  if (!enter(program, diags))
    return false;
  size_t block = size_t(program.block);
  size_t start = std::min(first, positions() - block);
  size_t again = first - start;
  std::vector<int32_t> &tokens = program.inputs[0];
  std::fill(tokens.begin(), tokens.end(), 0);
  std::copy_n(text.begin() + std::ptrdiff_t(start), again + count,
              tokens.begin());
  program.inputs[1][0] = int32_t(start);
  if (program.selects)
    program.inputs[2][0] = int32_t(again + std::min(firstWanted, count - 1));
  llvm::SmallVector<llvm::ArrayRef<uint8_t>, 3> in;
  for (const std::vector<int32_t> &input : program.inputs)
    in.push_back({reinterpret_cast<const uint8_t *>(input.data()),
                  input.size() * sizeof(int32_t)});
  llvm::MutableArrayRef<uint8_t> out(program.logits);
  if (!program.executable->run(in, out, diags))
    return false;
  for (size_t i = firstWanted; i < count; ++i)
    program.readLogits(
        program.selects ? 0 : again + i,
        logits.slice((i - firstWanted) * vocabulary(), vocabulary()));
  return true;
}

bool StatefulModel::feed(llvm::ArrayRef<TokenFeed> feeds, Diagnostics &diags) {
  for (const TokenFeed &feed : feeds) {
    assert(feed.sequence == 0 && feed.keep <= text.size() &&
           feed.keep + feed.tokens.size() <= positions());
    text.resize(feed.keep);
    llvm::append_range(text, feed.tokens);
    size_t all = feed.tokens.size(), firstWanted = all - feed.wanted;
    for (size_t done = 0; done < all;) {
      size_t count = 0, unwanted = std::max(firstWanted, done) - done;
      Program *program = choose(all - done, unwanted, count);
      size_t skipped = std::min(unwanted, count);
      size_t row = std::max(done + skipped, firstWanted) - firstWanted;
      if (!run(*program, feed.keep + done, count, skipped,
               feed.logits.drop_front(row * vocabulary()), diags))
        return false;
      done += count;
    }
  }
  return true;
}
