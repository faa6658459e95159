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

/// Whether the package's schedule says that `name` may predict tokens.
static bool givesLogits(const Function &host) {
  auto tokens = llvm::find_if(host.parameters(), [](const auto &parameter) {
    return parameter->name == "tokens" &&
           parameter->type.dtype == DType::Int32 &&
           parameter->type.shape.size() == 1;
  });
  const auto *logits = llvm::find(host.resultNames(), "logits");
  if (tokens == host.parameters().end() || logits == host.resultNames().end())
    return false;
  const Shape &shape =
      host.result(unsigned(logits - host.resultNames().begin()))->type.shape;
  return shape.size() == 2 && shape[1] == (*tokens)->type.shape[0];
}

static size_t indexOf(llvm::ArrayRef<Port> ports, llvm::StringRef name) {
  return llvm::find_if(ports,
                       [&](const Port &port) { return port.name == name; }) -
         ports.begin();
}

bool Generator::usesEntry(llvm::StringRef name, Diagnostics &diags) {
  if (!session->prepare(name, diags))
    return false;
  entry = name.str();
  llvm::ArrayRef<Port> in = session->inputs(name), out = session->outputs(name);
  tokensInput = indexOf(in, "tokens");
  logitsOutput = indexOf(out, "logits");
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
                                         Diagnostics &diags) {
  const ModelPackage &package = session.package();
  for (const std::string &entry : package.entries) {
    if (!givesLogits(*package.schedule->findFunction(entry)))
      continue;
    Generator generator(session, tokenizer);
    if (!generator.usesEntry(entry, diags))
      return std::nullopt;
    return generator;
  }
  diags.reportFile(package.folder, diag::NoLogits);
  return std::nullopt;
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
  llvm::append_range(ids, tokenizer.encode(prompt));
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
  while (stats.tokens < options.tokens) {
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
