"""Models of images."""
import re

import numpy

from parts import (Model, attend, avg_pool, conv, conv_same, cross_entropy, gelu,
                   instance_norm, layer_norm, max_pool, mean, mean_square, relu,
                   silu, single)


class ConvNet(Model):
    FILE = "convnet.tdsl"
    NAME = "convnet"
    CONFIG = dict(batch=2, size=8, channels=2, classes=3)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        c = self.channels
        self.layer("features", w1=(c, 1, 5, 5), w2=(2 * c, c, 3, 3),
                   w3=(2 * c, 2 * c, 3, 3), b1=(c,), b2=(2 * c,), b3=(2 * c,))
        self.layer("classifier", w=(self.classes, 2 * c), b=(self.classes, 1))
        self.images(self.batch, 1, self.size, self.size)

    def loss(self, p):
        w = {n.split(".")[1]: a for n, a in p.items()}
        h = relu(conv_same(self.arguments["images"], w["w1"], w["b1"]))
        h = relu(conv_same(max_pool(h), w["w2"], w["b2"]))
        h = avg_pool(h + conv_same(h, w["w3"], w["b3"]))
        logits = w["w"] @ mean(h, (2, 3)).T + w["b"]
        return cross_entropy(logits, self.arguments["labels"])


class ViT(Model):
    FILE = "vit.tdsl"
    NAME = "vit"
    CONFIG = dict(layers=2, dim=8, hidden=12, heads=2, batch=2, size=4, patch=2,
                  classes=3)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden = self.dim, self.hidden
        self.patches = (self.size // self.patch) ** 2
        self.layer("embed_patches", filter=(dim, 3, self.patch, self.patch),
                   bias=(dim,), positions=(dim, self.patches))
        self.layer("block", self.layers,
                   **{n: (dim,) for n in ("gamma1", "beta1", "gamma2", "beta2")},
                   **{n: (dim, dim) for n in ("wq", "wk", "wv", "wo")},
                   **{n: (dim, 1) for n in ("bq", "bk", "bv", "bo", "b2")},
                   w1=(hidden, dim), b1=(hidden, 1), w2=(dim, hidden))
        self.layer("classifier", gamma=(dim,), beta=(dim,),
                   w=(self.classes, dim), b=(self.classes, 1))
        self.images(self.batch, 3, self.size, self.size)

    def loss(self, p):
        w = self.weights(p, "embed_patches")
        shape = (self.batch, self.dim, self.patches)
        heads = (self.batch * self.heads, self.dim // self.heads, self.patches)
        x = conv(self.arguments["images"], w["filter"], w["bias"], self.patch)
        x = x.reshape(shape) + w["positions"]
        for i in range(self.layers):
            w = self.weights(p, "block", i)
            h = layer_norm(x, w["gamma1"], w["beta1"], 1e-6)
            a = attend(*((w["w" + n] @ h + w["b" + n]).reshape(heads)
                         for n in "qkv"))
            x = x + w["wo"] @ a.reshape(shape) + w["bo"]
            h = layer_norm(x, w["gamma2"], w["beta2"], 1e-6)
            x = x + w["w2"] @ gelu(w["w1"] @ h + w["b1"]) + w["b2"]
        w = self.weights(p, "classifier")
        h = mean(layer_norm(x, w["gamma"], w["beta"], 1e-6), (2,))
        return cross_entropy(w["w"] @ h.T + w["b"], self.arguments["labels"])


class ResNet(Model):
    """Variants are the norms: `instance`, as in the file; `frozen`, batch_norm
    with mean and variance as weights; `batch`, by the batch's own statistics."""
    FILE = "resnet.tdsl"
    SEED = 8  # keeps elements away from relu's corner, where rounding decides
    NAME = "resnet"
    HALF = 3e-2
    CONFIG = dict(blocks=2, batch=2, size=8, channels=2, classes=3)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        c = self.channels
        self.norms("stem", None, c, [""], w=(c, 3, 3, 3))
        self.norms("wide", self.blocks, c, "12", w1=(c, c, 3, 3), w2=(c, c, 3, 3))
        self.norms("shrink", None, 2 * c, "12", w1=(2 * c, c, 3, 3),
                   w2=(2 * c, 2 * c, 3, 3), w3=(2 * c, c, 1, 1))
        self.norms("narrow", self.blocks, 2 * c, "12",
                   w1=(2 * c, 2 * c, 3, 3), w2=(2 * c, 2 * c, 3, 3))
        self.layer("classifier", w=(self.classes, 2 * c), b=(self.classes, 1))
        self.images(self.batch, 3, self.size, self.size)

    def norms(self, name, count, channels, numbers, **shapes):
        frozen = ["mean", "variance"] if "frozen" in self.variant else []
        self.layer(name, count, **shapes,
                   **{f"{part}{number}": (channels,) for number in numbers
                      for part in ["gamma", "beta", *frozen]})
        for weight in self.parameters:
            if "variance" in weight:
                positive = abs(self.parameters[weight]) + 0.5
                self.parameters[weight] = self.rounded(positive)

    def source(self):
        text = super().source()
        norm = r"instance_norm\((\w+|conv\((?:[^()]|\(\))*\)), gamma(\d?), beta\d?, eps\)"
        if "frozen" in self.variant:
            text = re.sub(norm, r"batch_norm(\1, mean\2, variance\2, gamma\2, beta\2, eps)", text)
            text = re.sub(r"(gamma(\d?), beta\2)(?=[,:])(?!, eps)",
                          r"\1, mean\2, variance\2", text)
        if "batch" in self.variant:
            average = r"mean({}, axes = [0, 2, 3], keep_dims = true)"
            centred = r"(\1 - " + average.format(r"\1") + ")"
            wide = r"expand_dims({}\2, axes = [1, 2])"
            text = re.sub(norm, centred + " * rsqrt(" +
                          average.format(f"square({centred})") + ", eps) * " +
                          wide.format("gamma") + " + " + wide.format("beta"), text)
        return text

    def norm(self, x, w, number):
        gamma, beta = w[f"gamma{number}"], w[f"beta{number}"]
        if "frozen" in self.variant:
            mean, variance = w[f"mean{number}"], w[f"variance{number}"]
            scale = gamma / numpy.sqrt(variance + 1e-5)
            return ((x - mean[:, None, None]) * scale[:, None, None]
                    + beta[:, None, None])
        axes = (0, 2, 3) if "batch" in self.variant else (2, 3)
        return instance_norm(x, gamma, beta, 1e-5, axes)

    def block(self, x, w):
        h = relu(self.norm(conv_same(x, w["w1"]), w, 1))
        return relu(x + self.norm(conv_same(h, w["w2"]), w, 2))

    def loss(self, p):
        w = self.weights(p, "stem")
        x = relu(self.norm(conv_same(self.arguments["images"], w["w"]), w, ""))
        for i in range(self.blocks):
            x = self.block(x, self.weights(p, "wide", i))
        w = self.weights(p, "shrink")
        h = relu(self.norm(conv(x, w["w1"], None, 2, 1, 1), w, 1))
        x = relu(self.norm(conv_same(h, w["w2"]), w, 2) + conv(x, w["w3"], None, 2))
        for i in range(self.blocks):
            x = self.block(x, self.weights(p, "narrow", i))
        w = self.weights(p, "classifier")
        return cross_entropy(w["w"] @ mean(x, (2, 3)).T + w["b"],
                             self.arguments["labels"])


class UNet(Model):
    FILE = "unet.tdsl"
    NAME = "unet"
    CONFIG = dict(batch=2, size=8, channels=2, classes=3)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        c = self.channels
        self.layer("down1", w=(c, 3, 3, 3), gamma=(c,), beta=(c,))
        self.layer("down2", w=(2 * c, c, 3, 3), gamma=(2 * c,), beta=(2 * c,))
        self.layer("bottom", w1=(4 * c, 2 * c, 3, 3), w2=(4 * c, 4 * c, 3, 3),
                   b1=(4 * c,), b2=(4 * c,))
        self.layer("up2", grow=(4 * c, 2 * c, 2, 2), grow_bias=(2 * c,),
                   w=(2 * c, 4 * c, 3, 3), b=(2 * c,))
        self.layer("up1", w1=(c, 3 * c, 3, 3), b1=(c,), w2=(self.classes, c, 1, 1),
                   b2=(self.classes,))
        self.data("images", self.batch, 3, self.size, self.size)
        self.indices("labels", self.classes, self.batch * self.size ** 2)

    def loss(self, p):
        w = self.weights(p, "down1")
        fine = relu(instance_norm(conv_same(self.arguments["images"], w["w"]),
                                  w["gamma"], w["beta"], 1e-5))
        w = self.weights(p, "down2")
        coarse = relu(instance_norm(conv_same(max_pool(fine), w["w"]), w["gamma"],
                                    w["beta"], 1e-5))
        w = self.weights(p, "bottom")
        h = relu(conv_same(avg_pool(coarse), w["w1"], w["b1"]))
        h = relu(conv_same(h, w["w2"], w["b2"]))
        w = self.weights(p, "up2")
        n, _, rows, columns = h.shape
        h = numpy.einsum("nirc,ioyx->norycx", h, w["grow"])
        h = h.reshape(n, -1, 2 * rows, 2 * columns) + w["grow_bias"][:, None, None]
        h = relu(conv_same(numpy.concatenate([h, coarse], axis=1), w["w"], w["b"]))
        w = self.weights(p, "up1")
        h = h.repeat(2, axis=2).repeat(2, axis=3)
        h = relu(conv_same(numpy.concatenate([h, fine], axis=1), w["w1"], w["b1"]))
        logits = conv(h, w["w2"], w["b2"]).transpose(1, 0, 2, 3)
        return cross_entropy(logits.reshape(self.classes, -1),
                             self.arguments["labels"])


class Denoiser(Model):
    FILE = "denoiser.tdsl"
    NAME = "denoiser"
    CONFIG = dict(layers=2, batch=2, size=4, channels=2)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        c = self.channels
        self.layer("embed_time", w1=(c, 8), w2=(c, c), b1=(c,),
                   b2=(c,))
        self.layer("enter", w=(c, 1, 3, 3), b=(c,))
        self.layer("block", self.layers, gamma=(c,), beta=(c,), w1=(c, c, 3, 3),
                   w2=(c, c, 3, 3), b1=(c,), b2=(c,), w_time=(2 * c, c),
                   b_time=(2 * c,))
        self.layer("leave", w=(1, c, 3, 3), b=(1,))
        self.data("images", self.batch, 1, self.size, self.size)
        self.data("noise", self.batch, 1, self.size, self.size)
        self.arguments["times"] = (
            self.random.integers(0, 1024, (self.batch, 1)) / 1024)

    def loss(self, p):
        times, noise = self.arguments["times"], self.arguments["noise"]
        angle = (times * single(1.5707963))[:, :, None, None]
        x = self.arguments["images"] * numpy.cos(angle) + noise * numpy.sin(angle)
        w = self.weights(p, "enter")
        x = conv_same(x, w["w"], w["b"])

        turns = times * single([3.14, 6.28, 12.57, 25.13])
        t = numpy.concatenate([numpy.sin(turns), numpy.cos(turns)], axis=1)
        w = self.weights(p, "embed_time")
        t = silu(t @ w["w1"].T + w["b1"]) @ w["w2"].T + w["b2"]

        for i in range(self.layers):
            w = self.weights(p, "block", i)
            scale, shift = numpy.split(silu(t) @ w["w_time"].T + w["b_time"], 2,
                                       axis=1)
            h = silu(instance_norm(x, w["gamma"], w["beta"], 1e-5))
            h = conv_same(h, w["w1"], w["b1"])
            h = h * (1 + scale[:, :, None, None]) + shift[:, :, None, None]
            x = x + conv_same(silu(h), w["w2"], w["b2"])
        w = self.weights(p, "leave")
        return mean_square(conv_same(silu(x), w["w"], w["b"]), noise)
