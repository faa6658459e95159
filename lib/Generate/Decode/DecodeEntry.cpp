//===- DecodeEntry.cpp - a program that reads a block of texts ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DecodeEntry.h"
#include "lib/Generate/Diags.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Support/Half.h"
#include <cstring>

using namespace anec;

bool anec::isDecodeRole(FunctionRole role) {
  return role == FunctionRole::Decode || role == FunctionRole::Prefill;
}

int64_t anec::longestContext(llvm::ArrayRef<DecodeEntry> entries) {
  int64_t context = 0;
  for (const DecodeEntry &entry : entries)
    context = std::max(context, entry.context);
  return context;
}

void anec::copyVectors(const float *source, int64_t from, float *target,
                       int64_t to, int64_t vectors, size_t count) {
  for (int64_t i = 0; i < vectors; ++i)
    std::memcpy(target + i * to, source + i * from, count * sizeof(float));
}

//===----------------------------------------------------------------------===//
// From a package
//===----------------------------------------------------------------------===//

/// Takes the sizes of an input other than a state. Returns what is wrong with
/// it; empty for nothing.
static std::string takeInput(const PackagedValue &input, DecodeEntry &entry) {
  const TensorType &type = input.type;
  if (input.role == ValueRole::Input) {
    if (type.rank() != 1)
      return "its tokens `" + input.name + "` are `" + type.str() +
             "`, of several texts";
    entry.block = type.shape[0]; // of all texts, until it is known how many
  }
  if (input.role == ValueRole::Position) {
    if (type.rank() > 1 || type.numElements() == 0)
      return "its position is neither a number nor a list";
    entry.isOfSlots = type.rank() == 1;
    entry.read = type.numElements();
  }
  if (input.role == ValueRole::Wanted) {
    if (type.rank() != 1)
      return "`" + input.name + "` is not a list";
    entry.wanted = type.shape[0];
  }
  return "";
}

/// What keeps `packaged` from being `entry`, which is made of it; empty for
/// nothing. The context is that of all texts together.
static std::string makeEntry(const PackagedEntry &packaged,
                             DecodeEntry &entry) {
  entry.name = packaged.name;
  std::optional<size_t> tokens, position;
  size_t number = 0; // without states, as the session counts them
  for (const PackagedValue &input : packaged.inputs) {
    if (input.role == ValueRole::State) {
      if (input.type.shape.empty())
        return "its state `" + input.name + "` is a scalar";
      int64_t context = input.type.shape.back();
      if (!entry.states.empty() && context != entry.context)
        return "its states differ in their number of positions";
      entry.context = context;
      entry.states.push_back(
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
              : input.role == ValueRole::Wanted   ? take(entry.selection)
                                                  : false;
    if (!ok)
      return "it has an input `" + input.name + "` of `" + input.type.str() +
             "` and the role `" + spelling(input.role).str() + "`";
    if (std::string wrong = takeInput(input, entry); !wrong.empty())
      return wrong;
  }
  std::optional<size_t> logits = packaged.outputOf(ValueRole::Logits);
  if (!tokens || !position || !logits)
    return "it lacks tokens, a position or logits";
  if (entry.states.empty())
    return "it has no states, in which texts are kept";
  if (entry.block % entry.read)
    return "its tokens are not a block for each of " +
           std::to_string(entry.read) + " texts";
  entry.block /= entry.read;
  if (!entry.selection)
    entry.wanted = entry.columns();
  const TensorType &type = packaged.outputs[*logits].type;
  if (type.dtype != DType::FP16 && type.dtype != DType::FP32)
    return "its logits are `" + type.str() + "`";
  if (type.rank() != 2 || type.shape[1] != entry.wanted)
    return "its logits are `" + type.str() + "`, no column for each of " +
           std::to_string(entry.wanted) + " positions";
  entry.vocabulary = type.shape[0];
  entry.tokens = *tokens;
  entry.position = *position;
  entry.logits = *logits;
  return "";
}

/// Whether the entry writes its states and reads none.
static bool readsNoStates(const ModelPackage &package,
                          const PackagedEntry &entry) {
  const Function *function = package.schedule->findFunction(entry.name);
  return function && llvm::none_of(function->body(), [](const Op &op) {
           return op.is(ops::ReadState);
         });
}

std::optional<std::vector<DecodeEntry>>
anec::decodeEntries(const ModelPackage &package, llvm::StringRef model,
                    Diagnostics &diags) {
  std::vector<DecodeEntry> entries;
  auto fail = [&](llvm::StringRef entry, const std::string &wrong) {
    diags.reportFile(package.folder, diag::DecodeEntryForm, entry, wrong);
    return std::nullopt;
  };
  int64_t texts = 1;
  for (const PackagedEntry &packaged : package.entries) {
    if (!isDecodeRole(packaged.role) || packaged.owner != model)
      continue;
    DecodeEntry entry;
    if (std::string wrong = makeEntry(packaged, entry); !wrong.empty())
      return fail(packaged.name, wrong);
    entry.starts = readsNoStates(package, packaged);
    const DecodeEntry &first = entries.empty() ? entry : entries.front();
    if (entry.states != first.states || entry.vocabulary != first.vocabulary ||
        entry.isOfSlots != first.isOfSlots)
      return fail(packaged.name,
                  "it has other states or logits than `" + first.name + "`");
    texts = std::max(texts, entry.read);
    entries.push_back(std::move(entry));
  }
  for (DecodeEntry &entry : entries) {
    if (entry.context % texts || (entry.read != 1 && entry.read != texts) ||
        (entry.read != 1 && entry.selection))
      return fail(entry.name, "it has no room for " + std::to_string(texts) +
                                  " texts, as others have");
    entry.texts = texts;
    entry.context /= texts;
  }
  return entries;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

uint64_t DecodeEntry::stateBytes() const {
  uint64_t bytes = 0;
  for (size_t state = 0; state < states.size(); ++state)
    bytes += uint64_t(vectors(state)) * uint64_t(slots()) * sizeof(float);
  return bytes;
}

bool DecodeEntry::prepare(Session &session, Diagnostics &diags) {
  if (!inputs.empty())
    return true;
  if (!session.prepare(name, diags))
    return false;
  for (const Port &port : session.inputs(name))
    inputs.emplace_back(port.type.numBytes());
  for (const Port &port : session.outputs(name))
    outputs.emplace_back(port.type.numBytes());
  return true;
}

void DecodeEntry::clearTokens() {
  std::fill(inputs[tokens].begin(), inputs[tokens].end(), 0);
}

void DecodeEntry::set(size_t input, int64_t index, int32_t value) {
  std::memcpy(inputs[input].data() + size_t(index) * sizeof value, &value,
              sizeof value);
}

bool DecodeEntry::run(Session &session, Diagnostics &diags) {
  llvm::SmallVector<llvm::ArrayRef<uint8_t>, 4> in(inputs.begin(),
                                                   inputs.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>, 2> out(outputs.begin(),
                                                           outputs.end());
  return session.run(name, in, out, diags, Gradients::None);
}

void DecodeEntry::readLogits(const Session &session, size_t column,
                             llvm::MutableArrayRef<float> to) const {
  const TensorType &type = session.outputs(name)[logits].type;
  const uint8_t *bytes = outputs[logits].data();
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
