//===- DecoderFacts.cpp - what weights depend on in a language model ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace anec;

ModelFacts anec::factsOf(const Decoder &decoder) {
  ModelFacts facts;
  if (decoder.norm != Normalization::Layer)
    facts.add(fact::rmsNormEps, ModelFacts::spell(decoder.epsilon));
  for (const LayerKind &kind : decoder.kinds) {
    if (kind.rotary.channels == 0)
      continue;
    facts.add(fact::ropeStyle, spelling(decoder.ropeStyle));
    facts.add(fact::ropeTheta, ModelFacts::spell(kind.rotary.theta));
    facts.add(fact::ropeScaling, kind.rotary.scaling.text());
    if (kind.rotary.channels != decoder.headDim)
      facts.add(fact::ropeChannels, std::to_string(kind.rotary.channels));
  }
  return facts;
}
