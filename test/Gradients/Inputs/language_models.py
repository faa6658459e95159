"""Models of text."""
import pathlib

import numpy

from parts import (Model, attend, attention, cross_entropy, gelu_tanh, layer_norm,
                   relu, rmsnorm, rope, silu, softmax, softplus)


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


class Qwen3(Model):
    FILE = "qwen3.tdsl"
    NAME = "qwen3"
    CONFIG = dict(layers=2, dim=8, hidden=12, heads=4, kv_heads=2, head_dim=4,
                  seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden, width = self.dim, self.hidden, self.head_dim
        self.tokens()
        self.layer("attention", self.layers, norm=(dim,),
                   wq=(self.heads * width, dim), wk=(self.kv_heads * width, dim),
                   wv=(self.kv_heads * width, dim), q_norm=(width,),
                   k_norm=(width,), wo=(dim, self.heads * width))
        self.layer("feed_forward", self.layers, norm=(dim,), gate=(hidden, dim),
                   up=(hidden, dim), down=(dim, hidden))
        self.layer("qwen3", embedding=(self.vocab, dim), norm=(dim,))

    def loss(self, p):
        x = p["qwen3.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            w = self.weights(p, "attention", i)
            h = rmsnorm(x, w["norm"], 1e-6)

            def heads(matrix, norm):
                y = (matrix @ h).reshape(-1, self.head_dim, self.seq)
                y = rmsnorm(y, norm, 1e-6)
                y = numpy.stack([rope(head, 1e6, halves=True) for head in y])
                return y.repeat(self.heads // len(y), axis=0)

            v = (w["wv"] @ h).reshape(-1, self.head_dim, self.seq)
            a = attend(heads(w["wq"], w["q_norm"]), heads(w["wk"], w["k_norm"]),
                       v.repeat(self.heads // self.kv_heads, axis=0), causal=True)
            x = x + w["wo"] @ a.reshape(-1, self.seq)
            w = self.weights(p, "feed_forward", i)
            h = rmsnorm(x, w["norm"], 1e-6)
            x = x + w["down"] @ (silu(w["gate"] @ h) * (w["up"] @ h))
        logits = p["qwen3.embedding"] @ rmsnorm(x, p["qwen3.norm"], 1e-6)
        return cross_entropy(logits, self.arguments["targets"])


class Mixture(Model):
    """The variant `top` keeps the two largest shares, which then add up to one."""
    FILE = "moe.tdsl"
    NAME = "moe"
    CONFIG = dict(layers=2, dim=8, hidden=6, experts=3, heads=2, seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden, experts = self.dim, self.hidden, self.experts
        self.tokens()
        self.layer("attention", self.layers, norm=(dim,),
                   **{n: (dim, dim) for n in ("wq", "wk", "wv", "wo")})
        self.layer("mixture", self.layers, norm=(dim,), router=(experts, dim),
                   w1=(experts, hidden, dim), w3=(experts, hidden, dim),
                   w2=(experts, dim, hidden))
        self.layer("moe", embedding=(self.vocab, dim), norm=(dim,))

    def edits(self):
        if "top" in self.variant:
            yield "share =", "all ="
            yield ("  opinions =", """
  best, _ = topk(all, k = 2, axis = 0);
  kept = select(greater_equal(all, min(best, axes = 0, keep_dims = true)), all, 0);
  share = kept / sum(kept, axes = 0, keep_dims = true);
  opinions =""")

    def loss(self, p):
        x = p["moe.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            w = self.weights(p, "attention", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            x = x + w["wo"] @ attention(w["wq"] @ h, w["wk"] @ h, w["wv"] @ h,
                                        self.heads, self.heads, rope)
            w = self.weights(p, "mixture", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            share = softmax((w["router"] @ h).T).T
            if "top" in self.variant:
                least = numpy.sort(share.real, axis=0)[-2]
                share = numpy.where(share.real >= least, share, 0)
                share = share / share.sum(axis=0)
            for e in range(self.experts):
                hidden = silu(w["w1"][e] @ h) * (w["w3"][e] @ h)
                x = x + w["w2"][e] @ hidden * share[e]
        logits = p["moe.embedding"] @ rmsnorm(x, p["moe.norm"], 1e-5)
        return cross_entropy(logits, self.arguments["targets"])


def convolved(x, weight, bias):
    """Each channel with the positions before it."""
    seq, taps = x.shape[1], weight.shape[2]
    x = numpy.pad(x, [(0, 0), (taps - 1, 0)])
    return silu(sum(weight[:, :, t] * x[:, t:t + seq] for t in range(taps))
                + bias[:, None])


class Mamba(Model):
    FILE = "mamba.tdsl"
    NAME = "mamba"
    CONFIG = dict(layers=2, dim=6, inner=8, heads=2, state=3, taps=3, seq=5,
                  vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, inner, heads = self.dim, self.inner, self.heads
        self.tokens()
        self.layer("mixer", self.layers, norm=(dim,), w_in=(inner, dim),
                   w_gate=(inner, dim), w_write=(self.state, dim),
                   w_read=(self.state, dim), w_step=(heads, dim),
                   filter=(inner, 1, self.taps), filter_bias=(inner,),
                   step_bias=(heads, 1), rate=(heads, 1), skip=(heads, 1, 1),
                   out_norm=(inner,), w_out=(dim, inner))
        self.layer("mamba", embedding=(self.vocab, dim), norm=(dim,))

    def mixer(self, x, w):
        """The recurrence, position by position."""
        h = rmsnorm(x, w["norm"], 1e-5)
        u = convolved(w["w_in"] @ h, w["filter"], w["filter_bias"])
        values = u.reshape(self.heads, -1, self.seq)
        step = softplus(w["w_step"] @ h + w["step_bias"])
        left = numpy.exp(-step * numpy.exp(w["rate"]))
        write, read = w["w_write"] @ h, w["w_read"] @ h
        state, y = 0, []
        for t in range(self.seq):
            written = values[:, :, t] * step[:, t, None]
            state = state * left[:, t, None, None] + written[:, :, None] * write[:, t]
            y.append(state @ read[:, t] + values[:, :, t] * w["skip"][:, :, 0])
        y = numpy.stack(y, axis=-1).reshape(self.inner, self.seq)
        y = rmsnorm(y * silu(w["w_gate"] @ h), w["out_norm"], 1e-5)
        return x + w["w_out"] @ y

    def loss(self, p):
        x = p["mamba.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            x = self.mixer(x, self.weights(p, "mixer", i))
        logits = p["mamba.embedding"] @ rmsnorm(x, p["mamba.norm"], 1e-5)
        return cross_entropy(logits, self.arguments["targets"])


class Scan(Model):
    FILE = pathlib.Path(__file__).parent / "scan.tdsl"
    NAME = "scan"
    HALF = 3e-2  # ages are sums, of which exponentials are taken
    CONFIG = dict(layers=2, dim=6, inner=4, state=3, taps=2, seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, inner, state = self.dim, self.inner, self.state
        self.tokens()
        self.layer("mixer", self.layers, norm=(dim,), w_in=(inner, dim),
                   w_gate=(inner, dim), w_step=(inner, inner),
                   w_write=(state, inner), w_read=(state, inner),
                   filter=(inner, 1, self.taps), filter_bias=(inner,),
                   step_bias=(inner, 1), skip=(inner, 1), rate=(inner, state, 1),
                   w_out=(dim, inner))
        self.layer("scan", embedding=(self.vocab, dim))

    def loss(self, p):
        x = p["scan.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            w = self.weights(p, "mixer", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            u = convolved(w["w_in"] @ h, w["filter"], w["filter_bias"])
            step = softplus(w["w_step"] @ u + w["step_bias"])
            write, read = w["w_write"] @ u, w["w_read"] @ u
            state, y = 0, []
            for t in range(self.seq):
                left = numpy.exp(-step[:, t, None] * numpy.exp(w["rate"][:, :, 0]))
                state = state * left + (step * u)[:, t, None] * write[:, t]
                y.append(state @ read[:, t] + u[:, t] * w["skip"][:, 0])
            y = numpy.stack(y, axis=-1) * silu(w["w_gate"] @ h)
            x = x + w["w_out"] @ y
        return cross_entropy(p["scan.embedding"] @ x, self.arguments["targets"])


class LoRA(Model):
    """The variant `merged` adds the adapters' product to the wide matrix."""
    FILE = "lora.tdsl"
    NAME = "lora"
    CONFIG = dict(layers=2, dim=8, hidden=12, heads=2, rank=2, alpha=4, seq=5,
                  vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden, rank = self.dim, self.hidden, self.rank
        self.tokens()
        self.layer("attention", self.layers, norm=(dim,),
                   **{n: (dim, dim) for n in ("wq", "wk", "wv", "wo")},
                   q_down=(rank, dim), v_down=(rank, dim), q_up=(dim, rank),
                   v_up=(dim, rank))
        self.layer("feed_forward", self.layers, norm=(dim,), w1=(hidden, dim),
                   w3=(hidden, dim), w2=(dim, hidden))
        self.layer("lora", embedding=(self.vocab, dim), norm=(dim,))

    def edits(self):
        if "merged" in self.variant:
            for n in "qv":
                yield (f"w{n} @ h + {n}_up @ ({n}_down @ h) * scale",
                       f"(w{n} + {n}_up @ {n}_down * scale) @ h")

    def loss(self, p):
        x = p["lora.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            w = self.weights(p, "attention", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            q, v = ((w["w" + n] + w[n + "_up"] @ w[n + "_down"] * self.alpha
                     / self.rank) @ h for n in "qv")
            x = x + w["wo"] @ attention(q, w["wk"] @ h, v, self.heads, self.heads,
                                        rope)
            w = self.weights(p, "feed_forward", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            x = x + w["w2"] @ (silu(w["w1"] @ h) * (w["w3"] @ h))
        logits = p["lora.embedding"] @ rmsnorm(x, p["lora.norm"], 1e-5)
        return cross_entropy(logits, self.arguments["targets"])


class Adapters(Model):
    """Adapters beside frozen weights, in layers that a layer calls."""
    NAME = "adapters"
    CONFIG = dict(layers=2, dim=8, rank=2, seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, rank = self.dim, self.rank
        self.tokens()
        self.layer("block", self.layers, norm=(dim,))
        for part in (0, 1):
            self.layer(f"block.adapted.{part}", self.layers, w=(dim, dim),
                       a=(rank, dim), b=(dim, rank))
        self.layer("adapters", embedding=(self.vocab, dim))

    def source(self):
        return pathlib.Path(__file__).with_name("adapters.tdsl").read_text()

    @staticmethod
    def is_frozen(name):
        return name.split(".")[3:4] not in (["a"], ["b"])

    def loss(self, p):
        def adapted(part, i, x):
            w, a, b = (p[f"block.adapted.{part}.{n}.{i}"] for n in "wab")
            return w @ x + b @ (a @ x)

        x = p["adapters.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            h = rmsnorm(x, p[f"block.norm.{i}"], 1e-5)
            x = x + adapted(1, i, silu(adapted(0, i, h)))
        return cross_entropy(p["adapters.embedding"] @ x,
                             self.arguments["targets"])


class EncoderDecoder(Model):
    FILE = "encoder_decoder.tdsl"
    NAME = "encoder_decoder"
    CONFIG = dict(layers=2, dim=8, hidden=6, heads=2, batch=2, source_seq=4, seq=3,
                  vocab=7)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden = self.dim, self.hidden
        self.indices("sources", self.vocab, self.batch, self.source_seq)
        self.indices("tokens", self.vocab, self.batch, self.seq)
        self.indices("targets", self.vocab, self.batch * self.seq)
        square = {n: (dim, dim) for n in ("wq", "wk", "wv", "wo")}
        wide = dict(w1=(hidden, dim), b1=(hidden, 1), w2=(dim, hidden), b2=(dim, 1))
        self.layer("encoder", self.layers, norm1=(dim,), norm2=(dim,), **square,
                   **wide)
        self.layer("self_attention", self.layers, norm=(dim,), **square)
        self.layer("cross_attention", self.layers, norm=(dim,), **square)
        self.layer("feed_forward", self.layers, norm=(dim,), **wide)
        self.layer("encoder_decoder", embedding=(self.vocab, dim),
                   positions=(dim, self.seq), source_positions=(dim, self.source_seq),
                   memory_norm=(dim,), norm=(dim,))

    def attention(self, w, x, memory, causal=False):
        def heads(y):
            return y.reshape(self.batch * self.heads, -1, y.shape[2])
        a = attend(heads(w["wq"] @ x), heads(w["wk"] @ memory),
                   heads(w["wv"] @ memory), causal)
        return w["wo"] @ a.reshape(x.shape)

    @staticmethod
    def feed_forward(w, h):
        return w["w2"] @ relu(w["w1"] @ h + w["b1"]) + w["b2"]

    def loss(self, p):
        own = self.weights(p, "encoder_decoder")

        def embed(name):
            return own["embedding"][self.arguments[name]].transpose(0, 2, 1)

        memory = embed("sources") + own["source_positions"]
        for i in range(self.layers):
            w = self.weights(p, "encoder", i)
            h = rmsnorm(memory, w["norm1"], 1e-5)
            memory = memory + self.attention(w, h, h)
            memory = memory + self.feed_forward(
                w, rmsnorm(memory, w["norm2"], 1e-5))
        memory = rmsnorm(memory, own["memory_norm"], 1e-5)
        x = embed("tokens") + own["positions"]
        for i in range(self.layers):
            w = self.weights(p, "self_attention", i)
            h = rmsnorm(x, w["norm"], 1e-5)
            x = x + self.attention(w, h, h, causal=True)
            w = self.weights(p, "cross_attention", i)
            x = x + self.attention(w, rmsnorm(x, w["norm"], 1e-5), memory)
            w = self.weights(p, "feed_forward", i)
            x = x + self.feed_forward(w, rmsnorm(x, w["norm"], 1e-5))
        logits = own["embedding"] @ rmsnorm(x, own["norm"], 1e-5)
        return cross_entropy(numpy.concatenate(list(logits), axis=1),
                             self.arguments["targets"])
