//===- RandomDecoder.cpp - random language models -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomDecoder.h"
#include <array>

using namespace anec::fuzz;

static std::string str(unsigned number) { return std::to_string(number); }

namespace {

class DecoderBuilder {
public:
  explicit DecoderBuilder(Choices &choices) : c(choices) {}

  Decoder build();

private:
  /// A layer's weights and statements.
  struct Layer {
    std::string weights, body;
    void weight(const std::string &name, const std::string &shape) {
      weights += "  weight " + name + ": fp16[" + shape + "];\n";
    }
    void line(const std::string &text) { body += "  " + text + "\n"; }
  };
  std::string add(Layer layer, const std::string &kind,
                  const std::string &result);
  std::string norm(Layer &layer, const std::string &x, const std::string &name);
  std::string product(Layer &layer, const std::string &name,
                      const std::string &x, unsigned rows, unsigned columns);
  std::string gate(const std::string &x);
  std::string attention();
  std::string feedForward();
  std::string experts();
  std::string positionwise();
  std::string anyLayer();

  Choices &c;
  unsigned dim = 0, seq = 0, vocab = 0, layers = 0;
  std::string text;
};

} // namespace

std::string DecoderBuilder::add(Layer layer, const std::string &kind,
                                const std::string &result) {
  std::string name = kind + str(layers++);
  text += "layer " + name + "(x: fp16[" + str(dim) + ", " + str(seq) +
          "]) -> fp16[" + str(dim) + ", " + str(seq) + "] {\n" + layer.weights +
          layer.body + "  return " + result + ";\n}\n\n";
  return name;
}

std::string DecoderBuilder::norm(Layer &layer, const std::string &x,
                                 const std::string &name) {
  switch (c.pick(3)) {
  case 0:
    return x;
  case 1:
    layer.weight(name, str(dim));
    return "rmsnorm(" + x + ", " + name + ", 1e-5)";
  default:
    layer.weight(name + "_g", str(dim));
    layer.weight(name + "_b", str(dim));
    return "layer_norm(" + x + ", [0], " + name + "_g, " + name + "_b, 1e-5)";
  }
}

std::string DecoderBuilder::product(Layer &layer, const std::string &name,
                                    const std::string &x, unsigned rows,
                                    unsigned columns) {
  layer.weight(name, str(rows) + ", " + str(columns));
  std::string made = name + " @ " + x;
  if (!c.once(3))
    return made;
  layer.weight(name + "_bias", str(rows) + ", 1");
  return "(" + made + " + " + name + "_bias)";
}

std::string DecoderBuilder::gate(const std::string &x) {
  return c.of<std::string>({"relu", "silu", "gelu", "tanh", "sigmoid"}) + "(" +
         x + ")";
}

std::string DecoderBuilder::attention() {
  Layer l;
  unsigned keyHeads = c.between(1, 3), group = c.between(1, 3),
           width = 2 * c.between(1, 5), heads = keyHeads * group;
  l.line("h = " + norm(l, "x", "norm") + ";");
  if (c.once(4)) {
    // Positions that this layer alone has learned.
    l.weight("places", str(dim) + ", " + str(seq));
    l.line("g = h + places;");
  } else {
    l.line("g = h;");
  }
  l.line("q0 = split_heads(" + product(l, "wq", "g", heads * width, dim) +
         ", " + str(heads) + ");");
  l.line("k0 = split_heads(" + product(l, "wk", "g", keyHeads * width, dim) +
         ", " + str(keyHeads) + ");");
  l.line("v = split_heads(" + product(l, "wv", "h", keyHeads * width, dim) +
         ", " + str(keyHeads) + ");");
  if (c.once(3)) {
    l.weight("q_norm", str(width));
    l.weight("k_norm", str(width));
    l.line("q1 = rmsnorm(q0, q_norm, 1e-5, axis = 1);");
    l.line("k1 = rmsnorm(k0, k_norm, 1e-5, axis = 1);");
  } else {
    l.line("q1 = q0;");
    l.line("k1 = k0;");
  }
  if (unsigned style = c.pick(3)) {
    std::string rest = style == 1 ? "" : ", style = \"half_split\"";
    rest += c.once(2) ? ", theta = 50" : "";
    l.line("q = rope(q1" + rest + ");");
    l.line("k = rope(k1" + rest + ");");
  } else {
    l.line("q = q1;");
    l.line("k = k1;");
  }
  std::string options = "causal = true";
  if (c.once(2))
    options += ", window = " + str(c.between(1, seq + 3));
  if (c.once(3))
    options += ", scale = 0.4";
  if (c.once(3))
    options += ", softcap = 2.5";
  l.line("a = merge_heads(sdpa(q, k, v, " + options + "));");
  std::string out = product(l, "wo", "a", dim, heads * width);
  return add(std::move(l), "attention", "x + " + out);
}

std::string DecoderBuilder::feedForward() {
  Layer l;
  unsigned hidden = c.between(2, 20);
  l.line("h = " + norm(l, "x", "norm") + ";");
  l.line("u = " + gate(product(l, "w1", "h", hidden, dim)) + ";");
  if (c.once(2))
    l.line("m = u * (" + product(l, "w3", "h", hidden, dim) + ");");
  else
    l.line("m = u;");
  std::string out = product(l, "w2", "m", dim, hidden);
  return add(std::move(l), "feed_forward", "x + " + out);
}

std::string DecoderBuilder::experts() {
  Layer l;
  unsigned experts = c.between(2, 4), hidden = c.between(1, 6);
  l.weight("router", str(experts) + ", " + str(dim));
  l.weight("w1", str(experts) + ", " + str(hidden) + ", " + str(dim));
  l.weight("w2", str(experts) + ", " + str(dim) + ", " + str(hidden));
  l.line("h = " + norm(l, "x", "norm") + ";");
  l.line("share = softmax(router @ h, axis = 0);");
  l.line("opinions = w2 @ silu(w1 @ h);");
  return add(std::move(l), "experts",
             "x + sum(opinions * reshape(share, [" + str(experts) + ", 1, " +
                 str(seq) + "]), axes = 0)");
}

/// Shapes and parts of the channels.
std::string DecoderBuilder::positionwise() {
  Layer l;
  std::string d = str(dim), s = str(seq);
  switch (c.pick(6)) {
  case 0: {
    l.line("t = transpose(x, perm = [1, 0]);");
    l.line("p = softmax(t, axis = 1);");
    return add(std::move(l), "turned", "x + transpose(p, perm = [1, 0])");
  }
  case 1: {
    unsigned cut = c.between(1, dim - 1);
    l.line("upper = slice_by_index(x, [0, 0], [" + str(cut) + ", " + s + "]);");
    l.line("lower = slice_by_index(x, [" + str(cut) + ", 0], [" + d + ", " + s +
           "]);");
    return add(std::move(l), "parts", "concat([lower, upper], axis = 0)");
  }
  case 2: {
    l.line("b = expand_dims(x, axes = [0, 3]);");
    l.line("n = sum(b * b, axes = [1], keep_dims = true);");
    l.line("y = squeeze(b / (n + 1), axes = [0, 3]);");
    return add(std::move(l), "shaped", "x + y");
  }
  case 3: {
    l.weight("scale", d + ", " + s); // of each position
    return add(std::move(l), "scaled", "x * scale");
  }
  case 4: {
    l.weight("filter", d + ", " + d + ", 1");
    l.line("y = conv(reshape(x, [1, " + d + ", " + s + "]), filter);");
    return add(std::move(l), "conv", "x + reshape(y, [" + d + ", " + s + "])");
  }
  default: {
    l.line("m = max(x, axes = 0, keep_dims = true);");
    l.line("y = stack([x, exp(x - m)], axis = 1);");
    return add(std::move(l), "stacked", "sum(y, axes = 1)");
  }
  }
}

std::string DecoderBuilder::anyLayer() {
  switch (c.pick(6)) {
  case 0:
  case 1:
  case 2:
    return attention();
  case 3:
    return feedForward();
  case 4:
    return experts();
  default:
    return positionwise();
  }
}

Decoder DecoderBuilder::build() {
  dim = c.between(2, 18);
  seq = c.between(2, 40);
  vocab = c.between(5, 60);
  struct Block {
    std::vector<std::string> layers;
    unsigned turns, inner;
  };
  std::vector<Block> blocks(c.between(1, 2));
  for (Block &block : blocks) {
    block.turns = c.pick(4); // 0: outside of a repeat
    block.inner = block.turns && c.once(5) ? 2 : 1;
    block.layers.resize(c.between(1, 3));
    for (std::string &layer : block.layers)
      layer = layers == 0 ? attention() : anyLayer();
  }
  std::string weights =
      "  weight embedding: fp16[" + str(vocab) + ", " + str(dim) + "];\n";
  std::string body = "  x = gather(embedding, tokens)";
  switch (c.pick(3)) {
  case 1:
    weights +=
        "  weight positions: fp16[" + str(dim) + ", " + str(seq) + "];\n";
    body += " + positions";
    break;
  case 2:
    // Positions as the even and odd channels of nothing learned.
    body += " * (1 + 0.1 * sin(cast(reshape(range_1d(end = " + str(seq) +
            ", start = 0, step = 1), [1, " + str(seq) + "]), fp16)))";
    break;
  default:
    break;
  }
  body += ";\n";
  std::string x = "x";
  for (const Block &block : blocks) {
    std::string applied = x;
    std::string index = block.turns ? "[i]" : "";
    if (block.inner > 1)
      index = "[" + str(block.inner) + " * i + j]";
    for (const std::string &layer : block.layers)
      applied = layer + index + "(" + applied + ")";
    if (!block.turns)
      x += "1";
    std::string step = x + " = " + applied + ";";
    if (block.inner > 1)
      step = "repeat j in 0.." + str(block.inner) + " { " + step + " }";
    if (block.turns)
      step = "repeat i in 0.." + str(block.turns) + " { " + step + " }";
    body += "  " + step + "\n";
  }
  std::string h = x;
  if (c.once(2)) {
    weights += "  weight norm: fp16[" + str(dim) + "];\n";
    h = "rmsnorm(" + x + ", norm, 1e-5)";
  }
  std::string head = "embedding";
  if (c.once(2)) {
    head = "head";
    weights += "  weight head: fp16[" + str(vocab) + ", " + str(dim) + "];\n";
  }
  body += "  logits = " + head + " @ " + h + ";\n";
  if (c.once(4))
    body += "  capped = tanh(logits / 3) * 3;\n";
  else
    body += "  capped = logits;\n";
  text += "model decoder(tokens: int32[" + str(seq) + "], targets: int32[" +
          str(seq) + "]) -> fp32 {\n" + weights + body +
          "  return cross_entropy(capped, targets);\n}\n";
  return {text, seq, vocab};
}

Decoder anec::fuzz::randomDecoder(Choices &choices) {
  return DecoderBuilder(choices).build();
}
