//===- ProgramText.cpp - the program of a language model ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes a Decoder as a program in the form of examples/llama.tdsl.
///
//===----------------------------------------------------------------------===//

#include "LayerCalls.h"
#include "Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

namespace {

class Writer {
public:
  Writer(const Decoder &decoder, StringRef elementType, int64_t positions)
      : decoder(decoder), type(elementType), seq(positions),
        kinds(decoder.kinds), weights(weightsOf(decoder)) {}

  std::string write();

private:
  void heading();
  void config();
  void functions();
  void rotation();
  void factors(StringRef name, ArrayRef<double> numbers);
  void attention();
  void feedForward();
  void model();

  void declare(StringRef block);
  std::string tensor(StringRef extents) const {
    return (type + "[" + extents + "]").str();
  }
  /// `weight @ x`, with a bias if there is one.
  std::string product(StringRef weight, StringRef x, StringRef bias = "") const;
  /// A norm of `x` along the axis of its channels.
  std::string norm(StringRef x, StringRef weight, unsigned axis = 0) const;
  std::string scoreScale() const;
  void attend(StringRef normed);
  void feed(StringRef normed);

  const Decoder &decoder;
  StringRef type;
  int64_t seq;
  KindParameters kinds;
  std::vector<DecoderWeight> weights;
  std::string text;
  raw_string_ostream out{text};
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts of expressions
//===----------------------------------------------------------------------===//

std::string Writer::product(StringRef weight, StringRef x,
                            StringRef bias) const {
  std::string product =
      decoder.isTransposed
          ? ("matmul(" + weight + ", " + x + ", transpose_x = true)").str()
          : (weight + " @ " + x).str();
  if (!bias.empty())
    product += (" + column(" + bias + ")").str();
  return product;
}

std::string Writer::norm(StringRef x, StringRef weight, unsigned axis) const {
  if (decoder.norm == Normalization::Layer)
    return ("layer_norm(" + x + ", [" + Twine(axis) + "], " + weight + ", " +
            weight + "_bias, eps)")
        .str();
  std::string options = axis ? ", axis = " + std::to_string(axis) : "";
  StringRef offset = decoder.norm == Normalization::RmsPlusOne ? " + 1" : "";
  return ("rmsnorm(" + x + ", " + weight + offset + ", eps" + options + ")")
      .str();
}

/// The op of an activation, with its last arguments.
static std::string activated(Activation activation, const std::string &x) {
  switch (activation) {
  case Activation::Silu:
    return "silu(" + x + ")";
  case Activation::Gelu:
    return "gelu(" + x + ")";
  case Activation::GeluTanh:
    return "gelu(" + x + ", mode = \"TANH_APPROXIMATION\")";
  case Activation::GeluSigmoid:
    return "gelu(" + x + ", mode = \"SIGMOID_APPROXIMATION\")";
  case Activation::Relu:
    return "relu(" + x + ")";
  case Activation::Relu6:
    return "relu6(" + x + ")";
  case Activation::LeakyRelu:
    return "leaky_relu(" + x + ", alpha = 0.01)";
  case Activation::Sigmoid:
    return "sigmoid(" + x + ")";
  case Activation::Tanh:
    return "tanh(" + x + ")";
  case Activation::Linear:
    return x;
  case Activation::GeluClipped:
  case Activation::ReluSquared:
  case Activation::HardSwish:
  case Activation::Mish:
  case Activation::Laplace:
  case Activation::SqrtSoftplus:
    return "activation(" + x + ")";
  }
  llvm_unreachable("not an activation");
}

/// What the function `activation` returns of `x`; empty for the others.
static StringRef activationBody(Activation activation) {
  switch (activation) {
  case Activation::GeluClipped:
    return "clip(gelu(x), alpha = -10.0, beta = 10.0)";
  case Activation::ReluSquared:
    return "square(relu(x))";
  case Activation::HardSwish:
    return "x * relu6(x + 3) / 6";
  case Activation::Mish:
    return "x * tanh(softplus(x))";
  case Activation::Laplace:
    return "(1 + erf((x - 0.707107) / (0.282095 * sqrt(2)))) / 2";
  case Activation::SqrtSoftplus:
    return "sqrt(softplus(x))";
  default:
    return "";
  }
}

/// Declares the weights of a block; neighbours of one type share a statement.
void Writer::declare(StringRef block) {
  std::string before;
  for (const DecoderWeight &weight : weights) {
    if (weight.block != block)
      continue;
    std::string extents;
    for (const Extent &extent : weight.extents)
      extents += (extents.empty() ? "" : ", ") + extent.text;
    if (extents == before) {
      out << ", " << weight.name;
      continue;
    }
    if (!before.empty())
      out << ": " << tensor(before) << ";\n";
    out << "  weight " << weight.name;
    before = extents;
  }
  out << ": " << tensor(before) << ";\n\n";
}

//===----------------------------------------------------------------------===//
// The head of the program
//===----------------------------------------------------------------------===//

void Writer::heading() {
  out << "// A language model of the family " << decoder.family << ", "
      << decoder.layers << (decoder.layers == 1 ? " layer" : " layers")
      << ", with the loss that\n"
         "// training it minimises. Made by `anec import`; the .names.json "
         "beside "
         "it has the\n"
         "// names of its weights in the files that it was imported from:\n"
         "//\n"
         "//   anec MODEL.tdsl --weights=SOURCE --forward-only -o "
         "MODEL.anepkg\n\n";
}

void Writer::config() {
  std::vector<std::string> entries;
  auto size = [&](StringRef name, int64_t value) {
    entries.push_back((name + " = " + Twine(value) + ";").str());
  };
  auto number = [&](StringRef name, double value) {
    entries.push_back((name + " = " + spellNumber(value) + ";").str());
  };
  size("layers", decoder.layers);
  size("dim", decoder.dim);
  size("hidden", decoder.hidden);
  size("heads", decoder.heads);
  size("kv_heads", decoder.keyHeads);
  size("head_dim", decoder.headDim);
  size("vocab", decoder.vocab);
  if (decoder.hasPositions)
    size("max_positions", decoder.positions);
  size("seq", seq);
  number("eps", decoder.epsilon);
  const LayerKind &first = decoder.kinds.front();
  if (decoder.rotates() && !kinds.hasTheta)
    number("theta", first.rotary.theta);
  if (decoder.rotates() && !kinds.hasRotary &&
      first.rotary.channels != decoder.headDim)
    size("rotary", first.rotary.channels);
  if (!kinds.hasWindow && first.window)
    size("window", first.window);
  out << "config {";
  size_t column = 80;
  for (const std::string &entry : entries) {
    if (column + 1 + entry.size() > 80) {
      out << "\n ";
      column = 1;
    }
    out << ' ' << entry;
    column += 1 + entry.size();
  }
  out << "\n}\n\n";
}

/// A list of numbers as a statement.
void Writer::factors(StringRef name, ArrayRef<double> numbers) {
  out << "  " << name << " = [";
  size_t column = 80;
  for (auto [index, number] : enumerate(numbers)) {
    std::string item = spellNumber(number);
    item += index + 1 < numbers.size() ? "," : "";
    if (column + 1 + item.size() > 80) {
      out << "\n   ";
      column = 3;
    }
    out << ' ' << item;
    column += 1 + item.size();
  }
  out << "\n  ];\n";
}

void Writer::rotation() {
  const Rotary *rotary = kinds.rotated();
  const RopeScaling &scaling = kinds.scaled()->scaling;
  out << (decoder.ropeStyle == RopeStyle::Interleaved
              ? "// Rotary embedding: the channels of a pair are neighbours.\n"
              : "// Rotary embedding: the channels of a pair are in opposite "
                "halves of those that\n// are rotated.\n");
  out << "fn rotate(x" << kinds.rotationParameters() << ") {\n";
  if (!scaling.shortFactors.empty()) {
    factors("short", scaling.shortFactors);
    factors("long", scaling.longFactors);
  }
  std::vector<std::string> arguments = {"x"};
  auto add = [&](StringRef name, const Twine &value) {
    arguments.push_back((name + " = " + value).str());
  };
  if (decoder.ropeStyle != RopeStyle::Interleaved)
    add("style", "\"" + spelling(decoder.ropeStyle) + "\"");
  add("theta", "theta");
  if (kinds.hasRotary || rotary->channels != decoder.headDim)
    add("rotary", "rotary");
  if (scaling.kind != RopeScalingKind::None) {
    add("scaling", "\"" + spelling(scaling.kind).str() + "\"");
    if (hasFactor(scaling.kind))
      add("factor", kinds.hasFactor ? "factor" : spellNumber(scaling.factor));
    if (scaling.originalPositions)
      add("original_positions", Twine(scaling.originalPositions));
    if (hasTurns(scaling.kind)) {
      add("slow_turns", spellNumber(scaling.slowTurns));
      add("fast_turns", spellNumber(scaling.fastTurns));
    }
    if (!scaling.shortFactors.empty()) {
      add("short_factors", "short");
      add("long_factors", "long");
    }
  }
  if (kinds.hasMagnitude)
    add("magnitude", "magnitude");
  else if (scaling.magnitude != 1)
    add("magnitude", spellNumber(scaling.magnitude));
  std::string line = "  return rope(";
  for (auto [index, argument] : enumerate(arguments)) {
    std::string item = argument;
    item += index + 1 < arguments.size() ? "," : ");";
    if (line.size() + item.size() + 1 > 80) {
      out << line << '\n';
      line = "             ";
    }
    line += (index && line.back() != '(' ? " " : "") + item;
  }
  out << line << "\n}\n\n";
}

void Writer::functions() {
  bool hasBias = decoder.hasQkvBias || decoder.hasOutputBias ||
                 decoder.hasFeedForwardBias || decoder.hasClassifierBias;
  if (hasBias)
    out << "// A number for each channel, the same at all positions.\n"
           "fn column(bias) { return expand_dims(bias, axes = [1]); }\n\n";
  if (decoder.logitCap != 0)
    out << "fn softcap(x, cap) { return tanh(x / cap) * cap; }\n\n";
  if (StringRef body = activationBody(decoder.activation); !body.empty())
    out << "fn activation(x) { return " << body << "; }\n\n";
  if (decoder.rotates())
    rotation();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// `, scale = ...` where it is not that of `sdpa`.
std::string Writer::scoreScale() const {
  bool isOwn =
      decoder.scoreScale != 0 && decoder.scoreScale != double(decoder.headDim);
  if (!isOwn && !decoder.dividesByDepth)
    return "";
  std::string root = isOwn ? spellNumber(decoder.scoreScale) : "head_dim";
  return ", scale = 1 / sqrt(" + root + ")" +
         (decoder.dividesByDepth ? " / depth" : "");
}

/// Attention to `normed`, up to `mixed`, what it adds to the residual.
void Writer::attend(StringRef normed) {
  std::string q = "q", k = "k";
  if (decoder.isQkvFused) {
    out << "  qkv = "
        << product("wqkv", normed, decoder.hasQkvBias ? "bqkv" : "") << ";\n"
        << "  q = split_heads(qkv[:heads * head_dim], heads);\n"
        << "  kv = qkv[heads * head_dim:];\n"
        << "  k = split_heads(kv[:kv_heads * head_dim], kv_heads);\n"
        << "  v = split_heads(kv[kv_heads * head_dim:], kv_heads);\n";
  } else {
    auto project = [&](StringRef letter, StringRef count) {
      std::string bias = decoder.hasQkvBias ? ("b" + letter).str() : "";
      out << "  " << letter << " = split_heads("
          << product(("w" + letter).str(), normed, bias) << ", " << count
          << ");\n";
    };
    project("q", "heads");
    project("k", "kv_heads");
    project("v", "kv_heads");
  }
  if (decoder.hasHeadNorms) {
    out << "  normed_q = " << norm(q, "q_norm", 1) << ";\n"
        << "  normed_k = " << norm(k, "k_norm", 1) << ";\n";
    q = "normed_q";
    k = "normed_k";
  }
  if (decoder.rotates()) {
    std::string rest = kinds.rotationParameters();
    out << "  turned_q = rotate(" << q << rest << ");\n"
        << "  turned_k = rotate(" << k << rest << ");\n";
    q = "turned_q";
    k = "turned_k";
  }
  out << "  attended = sdpa(" << q << ", " << k << ", v, causal = true";
  if (kinds.hasWindow || decoder.kinds.front().window)
    out << ", window = window";
  std::string rest = scoreScale();
  if (decoder.scoreCap != 0)
    rest += ", softcap = " + spellNumber(decoder.scoreCap);
  if (!rest.empty())
    out << ",\n                " << StringRef(rest).drop_front(1);
  out << ");\n";
  out << "  mixed = "
      << product("wo", "merge_heads(attended)",
                 decoder.hasOutputBias ? "bo" : "")
      << ";\n";
}

/// Feed-forward of `normed`, up to `fed`, what it adds to the residual.
void Writer::feed(StringRef normed) {
  bool hasBias = decoder.hasFeedForwardBias;
  if (decoder.isGateUpFused) {
    out << "  gate_up = " << product("w13", normed) << ";\n"
        << "  hidden_state = "
        << activated(decoder.activation, "gate_up[:hidden]")
        << " * gate_up[hidden:];\n";
  } else if (decoder.isGated) {
    out << "  gate = " << product("w1", normed, hasBias ? "b1" : "") << ";\n"
        << "  up = " << product("w3", normed, hasBias ? "b3" : "") << ";\n"
        << "  hidden_state = " << activated(decoder.activation, "gate")
        << " * up;\n";
  } else {
    out << "  up = " << product("w1", normed, hasBias ? "b1" : "") << ";\n"
        << "  hidden_state = " << activated(decoder.activation, "up") << ";\n";
  }
  out << "  fed = " << product("w2", "hidden_state", hasBias ? "b2" : "")
      << ";\n";
}

void Writer::attention() {
  std::string block = decoder.isParallel ? "block" : "attention";
  out << "// Activations are channel-first: [channels, positions].\n"
      << "layer " << block << "(x: " << tensor("dim, seq")
      << kinds.layerParameters()
      << (decoder.dividesByDepth ? ", depth: int" : "") << ") -> "
      << tensor("dim, seq") << " {\n";
  declare(block);
  out << "  h = " << norm("x", "norm") << ";\n";
  attend("h");
  if (decoder.isParallel) {
    feed("h");
    out << "  return x + mixed + fed;\n}\n\n";
    return;
  }
  out << "  return x + "
      << (decoder.hasPostNorms ? norm("mixed", "post_norm") : "mixed")
      << ";\n}\n\n";
}

void Writer::feedForward() {
  if (decoder.isParallel)
    return;
  out << "layer feed_forward(x: " << tensor("dim, seq") << ") -> "
      << tensor("dim, seq") << " {\n";
  declare("feed_forward");
  out << "  h = " << norm("x", "norm") << ";\n";
  feed("h");
  out << "  return x + "
      << (decoder.hasPostNorms ? norm("fed", "post_norm") : "fed")
      << ";\n}\n\n";
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

void Writer::model() {
  out << "model " << decoder.family
      << "(tokens: int32[seq], targets: int32[seq]) -> fp32 {\n";
  declare(decoder.family);
  out << "  x = gather(embedding, tokens)";
  if (decoder.scalesEmbedding)
    out << " * sqrt(dim)";
  if (decoder.hasPositions)
    out << " + transpose(positions[:seq], perm = [1, 0])";
  out << ";\n";
  writeLayerCalls(decoder, kinds, out);
  out << "  h = " << norm("x", "norm") << ";\n"
      << "  logits = " << (decoder.hasClassifier ? "classifier" : "embedding")
      << " @ h"
      << (decoder.hasClassifierBias ? " + column(classifier_bias)" : "")
      << ";\n";
  if (decoder.logitCap != 0)
    out << "  capped = softcap(logits, " << spellNumber(decoder.logitCap)
        << ");\n  return cross_entropy(capped, targets);\n}\n";
  else
    out << "  return cross_entropy(logits, targets);\n}\n";
}

std::string Writer::write() {
  heading();
  config();
  functions();
  attention();
  feedForward();
  model();
  return text;
}

std::string anec::programText(const Decoder &decoder, StringRef elementType,
                              int64_t positions) {
  return Writer(decoder, elementType, positions).write();
}
