"""Models of text."""
from parts import (Model, attention, cross_entropy, gelu_tanh, layer_norm, rmsnorm,
                   rope, silu)


class Llama(Model):
    FILE = "llama.tdsl"
    NAME = "llama"
    CONFIG = dict(layers=2, dim=16, hidden=12, heads=4, kv_heads=4, seq=5,
                  vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tokens()
        width = self.dim // self.heads
        for i in range(self.layers):
            self.weight(f"attention.norm.{i}", self.dim)
            self.weight(f"attention.wq.{i}", self.heads * width, self.dim)
            self.weight(f"attention.wk.{i}", self.kv_heads * width, self.dim)
            self.weight(f"attention.wv.{i}", self.kv_heads * width, self.dim)
            self.weight(f"attention.wo.{i}", self.dim, self.heads * width)
            self.weight(f"feed_forward.norm.{i}", self.dim)
            self.weight(f"feed_forward.w1.{i}", self.hidden, self.dim)
            self.weight(f"feed_forward.w3.{i}", self.hidden, self.dim)
            self.weight(f"feed_forward.w2.{i}", self.dim, self.hidden)
        self.weight("llama.embedding", self.vocab, self.dim)
        self.weight("llama.norm", self.dim)
        if "untied" in self.variant:
            self.weight("llama.classifier", self.vocab, self.dim)

    def edits(self):
        if "untied" in self.variant:
            yield "weight embedding:", "weight embedding, classifier:"
            yield "logits = embedding @", "logits = classifier @"
        if "norope" in self.variant:
            yield "rope(", "("

    def loss(self, p):
        turn = (lambda x: x) if "norope" in self.variant else rope
        x = p["llama.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            a = {n: p[f"attention.{n}.{i}"] for n in
                 ("norm", "wq", "wk", "wv", "wo")}
            f = {n: p[f"feed_forward.{n}.{i}"] for n in
                 ("norm", "w1", "w2", "w3")}
            h = rmsnorm(x, a["norm"], 1e-5)
            x = x + a["wo"] @ attention(a["wq"] @ h, a["wk"] @ h, a["wv"] @ h,
                                        self.heads, self.kv_heads, turn)
            h = rmsnorm(x, f["norm"], 1e-5)
            x = x + f["w2"] @ (silu(f["w1"] @ h) * (f["w3"] @ h))
        name = "classifier" if "untied" in self.variant else "embedding"
        logits = p[f"llama.{name}"] @ rmsnorm(x, p["llama.norm"], 1e-5)
        return cross_entropy(logits, self.arguments["targets"])


class GPT2(Model):
    FILE = "gpt2.tdsl"
    NAME = "gpt2"
    CONFIG = dict(layers=2, dim=16, hidden=20, heads=4, seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tokens()
        dim, hidden = self.dim, self.hidden
        for i in range(self.layers):
            for name in ("gamma1", "gamma2"):
                self.weight(f"block.{name}.{i}", dim)
            for name in ("beta1", "beta2"):
                self.weight(f"block.{name}.{i}", dim)
            for name in ("wq", "wk", "wv", "wo"):
                self.weight(f"block.{name}.{i}", dim, dim)
            for name in ("bq", "bk", "bv", "bo", "b2"):
                self.weight(f"block.{name}.{i}", dim, 1)
            self.weight(f"block.w1.{i}", hidden, dim)
            self.weight(f"block.b1.{i}", hidden, 1)
            self.weight(f"block.w2.{i}", dim, hidden)
        self.weight("gpt2.embedding", self.vocab, dim)
        self.weight("gpt2.positions", dim, self.seq)
        self.weight("gpt2.gamma", dim)
        self.weight("gpt2.beta", dim)

    def loss(self, p):
        x = p["gpt2.embedding"][self.arguments["tokens"]].T + p["gpt2.positions"]
        for i in range(self.layers):
            w = {n.split(".")[1]: a for n, a in p.items()
                 if n.startswith("block.") and n.endswith(f".{i}")}
            h = layer_norm(x, w["gamma1"], w["beta1"], 1e-5)
            a = attention(w["wq"] @ h + w["bq"], w["wk"] @ h + w["bk"],
                          w["wv"] @ h + w["bv"], self.heads, self.heads,
                          lambda head: head)
            x = x + w["wo"] @ a + w["bo"]
            h = layer_norm(x, w["gamma2"], w["beta2"], 1e-5)
            x = x + w["w2"] @ gelu_tanh(w["w1"] @ h + w["b1"]) + w["b2"]
        h = layer_norm(x, p["gpt2.gamma"], p["gpt2.beta"], 1e-5)
        return cross_entropy(p["gpt2.embedding"] @ h, self.arguments["targets"])
