//===- Generate.cpp - a model that writes ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Generate.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>

using namespace anec;

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

/// Whether `entry` predicts tokens: it takes them, and nothing else that its
/// logits depend on, and has a column of logits for each.
static bool predictsTokens(const PackagedEntry &entry) {
  std::optional<size_t> tokens = entry.inputOf(ValueRole::Input),
                        logits = entry.outputOf(ValueRole::Logits);
  if (!tokens || !logits)
    return false;
  for (auto [index, input] : llvm::enumerate(entry.inputs))
    if (index != *tokens && input.role != ValueRole::Target)
      return false;
  const TensorType &in = entry.inputs[*tokens].type,
                   &out = entry.outputs[*logits].type;
  return in.dtype == DType::Int32 && in.rank() == 1 && out.rank() == 2 &&
         out.shape[1] == in.shape[0];
}

bool Generator::usesEntry(const PackagedEntry &chosen, Diagnostics &diags) {
  entry = chosen.name;
  if (!session->prepare(entry, diags))
    return false;
  llvm::ArrayRef<Port> in = session->inputs(entry),
                       out = session->outputs(entry);
  tokensInput = *chosen.inputOf(ValueRole::Input);
  logitsOutput = *chosen.outputOf(ValueRole::Logits);
  tokens.assign(in[tokensInput].type.shape[0], 0);
  classes = out[logitsOutput].type.shape[0];
  // Other inputs, such as targets, do not affect the logits.
  for (const Port &port : in)
    inputs.emplace_back(port.type.numBytes());
  for (const Port &port : out)
    outputs.emplace_back(port.type.numBytes());
  return true;
}

std::optional<Generator> Generator::open(Session &session,
                                         const Tokenizer &tokenizer,
                                         Diagnostics &diags,
                                         llvm::StringRef entry) {
  const ModelPackage &package = session.package();
  std::vector<const PackagedEntry *> candidates;
  for (const PackagedEntry &candidate : package.entries)
    if (predictsTokens(candidate))
      candidates.push_back(&candidate);
  if (candidates.empty()) {
    diags.reportFile(package.folder, diag::NoLogits);
    return std::nullopt;
  }
  const PackagedEntry *chosen = chooseEntry(package, entry, candidates, diags);
  if (!chosen)
    return std::nullopt;
  if (!llvm::is_contained(candidates, chosen)) {
    diags.reportFile(package.folder, diag::EntryWithoutLogits, chosen->name);
    return std::nullopt;
  }
  Generator generator(session, tokenizer);
  if (!generator.usesEntry(*chosen, diags))
    return std::nullopt;
  return generator;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool Generator::predict(llvm::ArrayRef<int32_t> text, Diagnostics &diags) {
  text = text.take_back(tokens.size());
  std::fill(tokens.begin(), tokens.end(), 0);
  llvm::copy(text, tokens.begin());
  std::memcpy(inputs[tokensInput].data(), tokens.data(),
              tokens.size() * sizeof(int32_t));
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in(inputs.begin(), inputs.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(outputs.begin(),
                                                        outputs.end());
  if (!session->run(entry, in, out, diags))
    return false;
  // Attention is causal: the column of the last token depends only on the
  // tokens before it, not on later positions.
  const TensorType &type = session->outputs(entry)[logitsOutput].type;
  ConstantRef all =
      Constant::view(type, type.dtype, outputs[logitsOutput], nullptr);
  // Ids beyond the tokenizer's vocabulary are padding.
  logits.resize(std::min<int64_t>(classes, tokenizer->vocabulary()));
  for (size_t id = 0; id < logits.size(); ++id)
    logits[id] = float(
        all->doubleAt(int64_t(id * tokens.size()) + int64_t(text.size()) - 1));
  return true;
}

/// The ids of the prompt; nothing, with the reason reported, when the model
/// does not accept them.
static std::optional<std::vector<int32_t>>
encodePrompt(llvm::StringRef prompt, const Tokenizer &tokenizer,
             bool markBeginning, int64_t vocabulary, Diagnostics &diags) {
  std::vector<int32_t> ids;
  if (std::optional<int32_t> beginning = tokenizer.beginning();
      beginning && (markBeginning || prompt.empty()))
    ids.push_back(*beginning);
  std::optional<std::vector<int32_t>> encoded = tokenizer.encode(prompt, diags);
  if (!encoded)
    return std::nullopt;
  llvm::append_range(ids, *encoded);
  if (ids.empty()) {
    diags.report({}, diag::EmptyPrompt);
    return std::nullopt;
  }
  for (int32_t id : ids)
    if (id >= vocabulary) {
      diags.report({}, diag::PromptToken, id, vocabulary);
      return std::nullopt;
    }
  return ids;
}

std::optional<GenerateStats> Generator::run(llvm::StringRef prompt,
                                            const GenerateOptions &options,
                                            TextSink sink, Diagnostics &diags) {
  std::optional<std::vector<int32_t>> text =
      encodePrompt(prompt, *tokenizer, options.markBeginning, classes, diags);
  if (!text)
    return std::nullopt;
  GenerateStats stats;
  stats.promptTokens = unsigned(text->size());
  TextStream stream(*tokenizer);
  for (int32_t id : *text)
    sink(stream.next(id));

  Sampler sampler(options.sampling);
  auto elapsed = [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  };
  auto isStopped = [&] { return options.stop && *options.stop; };
  while (stats.tokens < options.tokens && !isStopped()) {
    if (!predict(*text, diags))
      return std::nullopt;
    std::optional<int32_t> id = sampler.sample(logits);
    if (!id) {
      diags.report({}, diag::LogitsNotFinite, text->size());
      return std::nullopt;
    }
    if (id == tokenizer->end() || id == tokenizer->beginning())
      break;
    text->push_back(*id);
    sink(stream.next(*id));
    ++stats.tokens;
    (stats.tokens == 1 ? stats.firstSeconds : stats.seconds) = elapsed();
  }
  stats.seconds = std::max(0.0, stats.seconds - stats.firstSeconds);
  sink(stream.finish());
  return stats;
}
