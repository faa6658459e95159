//===- WholeForwardModel.cpp - a forward for every step -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WholeForwardModel.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;

bool WholeForwardModel::canUse(const PackagedEntry &entry) {
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

std::unique_ptr<WholeForwardModel>
WholeForwardModel::open(Session &session, const PackagedEntry &entry,
                        Diagnostics &diags) {
  // Nothing but lists of tokens limits the number of sequences.
  constexpr size_t sequences = 8;
  if (!session.prepare(entry.name, diags))
    return nullptr;
  std::unique_ptr<WholeForwardModel> model(new WholeForwardModel(session));
  model->entry = entry.name;
  model->tokensInput = *entry.inputOf(ValueRole::Input);
  model->logitsOutput = *entry.outputOf(ValueRole::Logits);
  llvm::ArrayRef<Port> in = session.inputs(entry.name),
                       out = session.outputs(entry.name);
  model->length = size_t(in[model->tokensInput].type.shape[0]);
  model->classes = size_t(out[model->logitsOutput].type.shape[0]);
  model->texts.resize(sequences);
  // Other inputs, such as targets, do not affect the logits.
  for (const Port &port : in)
    model->inputs.emplace_back(port.type.numBytes());
  for (const Port &port : out)
    model->outputs.emplace_back(port.type.numBytes());
  return model;
}

bool WholeForwardModel::run(const TokenFeed &feed, Diagnostics &diags) {
  std::vector<int32_t> &text = texts[feed.sequence];
  assert(feed.keep <= text.size() && "a sequence without these tokens");
  assert(!feed.tokens.empty() && feed.wanted <= feed.tokens.size());
  assert(feed.logits.size() == feed.wanted * classes);
  text.resize(feed.keep);
  llvm::append_range(text, feed.tokens);
  assert(text.size() <= length && "more tokens than positions");

  std::vector<uint8_t> &tokens = inputs[tokensInput];
  std::fill(tokens.begin(), tokens.end(), 0);
  std::memcpy(tokens.data(), text.data(), text.size() * sizeof(int32_t));
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in(inputs.begin(), inputs.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(outputs.begin(),
                                                        outputs.end());
  if (!session->run(entry, in, out, diags))
    return false;
  // Attention is causal: the column of a token depends only on the tokens up to
  // it, not on later positions.
  const TensorType &type = session->outputs(entry)[logitsOutput].type;
  ConstantRef all =
      Constant::view(type, type.dtype, outputs[logitsOutput], nullptr);
  size_t first = text.size() - feed.wanted;
  float *logit = feed.logits.data();
  for (size_t row = 0; row < feed.wanted; ++row)
    for (size_t id = 0; id < classes; ++id)
      *logit++ = float(all->doubleAt(int64_t(id * length + first + row)));
  return true;
}

bool WholeForwardModel::feed(llvm::ArrayRef<TokenFeed> feeds,
                             Diagnostics &diags) {
  for (const TokenFeed &feed : feeds)
    if (!run(feed, diags))
      return false;
  return true;
}
