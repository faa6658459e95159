"""Models of vectors."""
import pathlib

import numpy

from parts import Model, cross_entropy, gelu, layer_norm, mean_square, relu, silu, unit


class Digits(Model):
    FILE = "digits.tdsl"
    NAME = "digits"
    CONFIG = dict(pixels=12, hidden=9, classes=4, batch=6)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        sizes = [self.pixels, self.hidden, self.hidden, self.classes]
        for i in (1, 2, 3):
            self.weight(f"perceptron.w{i}", sizes[i], sizes[i - 1])
            self.weight(f"perceptron.b{i}", sizes[i], 1)
        self.images(self.pixels, self.batch)

    def loss(self, p):
        w = {n.split(".")[1]: a for n, a in p.items()}
        h = relu(w["w1"] @ self.arguments["images"] + w["b1"])
        h = numpy.tanh(w["w2"] @ h + w["b2"])
        return cross_entropy(w["w3"] @ h + w["b3"], self.arguments["labels"])


class Regressor(Model):
    FILE = "regressor.tdsl"
    NAME = "regressor"
    CONFIG = dict(layers=2, features=5, dim=8, hidden=12, outputs=2, batch=4)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden = self.dim, self.hidden
        self.layer("enter", w=(dim, self.features), b=(dim, 1))
        self.layer("block", self.layers, gamma=(dim,), beta=(dim,),
                   w1=(hidden, dim), b1=(hidden, 1), w2=(dim, hidden), b2=(dim, 1))
        self.layer("leave", gamma=(dim,), beta=(dim,), w=(self.outputs, dim),
                   b=(self.outputs, 1))
        self.data("examples", self.features, self.batch)
        self.data("answers", self.outputs, self.batch)

    def loss(self, p):
        w = self.weights(p, "enter")
        x = w["w"] @ self.arguments["examples"] + w["b"]
        for i in range(self.layers):
            w = self.weights(p, "block", i)
            h = layer_norm(x, w["gamma"], w["beta"], 1e-5)
            x = x + w["w2"] @ gelu(w["w1"] @ h + w["b1"]) + w["b2"]
        w = self.weights(p, "leave")
        y = w["w"] @ layer_norm(x, w["gamma"], w["beta"], 1e-5) + w["b"]
        return mean_square(y, self.arguments["answers"])


class Contrastive(Model):
    FILE = "contrastive.tdsl"
    NAME = "contrastive"
    CONFIG = dict(batch=4, pixels=6, words=2, vocab=9, hidden=8, dim=5)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, hidden = self.dim, self.hidden
        self.layer("image_encoder", w1=(hidden, self.pixels), b1=(hidden, 1),
                   w2=(dim, hidden))
        self.layer("text_encoder", w1=(hidden, hidden), b1=(hidden, 1),
                   w2=(dim, hidden))
        self.layer("contrastive", embedding=(self.vocab, hidden), sharpness=(1, 1))
        self.data("images", self.pixels, self.batch)
        self.indices("tokens", self.vocab, self.batch * self.words)
        self.arguments["pairs"] = numpy.arange(self.batch)

    def loss(self, p):
        own = self.weights(p, "contrastive")
        captions = own["embedding"][self.arguments["tokens"]]
        captions = captions.reshape(self.batch, self.words, -1).mean(axis=1).T
        results = []
        for name, x in (("image_encoder", self.arguments["images"]),
                        ("text_encoder", captions)):
            w = self.weights(p, name)
            results.append(unit(w["w2"] @ gelu(w["w1"] @ x + w["b1"]), 1e-6))
        similarity = results[0].T @ results[1] * numpy.exp(own["sharpness"])
        pairs = self.arguments["pairs"]
        return (cross_entropy(similarity, pairs)
                + cross_entropy(similarity.T, pairs)) / 2


class Dropouts(Model):
    """Dropout and random masks: of the model, of each iteration, of each call."""
    NAME = "dropouts"
    CONFIG = dict(layers=3, dim=8, outputs=2, batch=4)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        dim, batch = self.dim, self.batch
        self.layer("block", self.layers, w1=(dim, dim), w2=(dim, dim))
        self.layer("leave", w=(self.outputs, dim))
        self.data("examples", dim, batch)
        self.data("answers", self.outputs, batch)
        self.mask("dropout", 0.75, dim, batch)
        self.mask("block.dropout", 0.75, self.layers, dim, batch)
        self.mask("block.dropout_1", 0.5, self.layers, dim, batch)
        self.mask("block.random_mask", 0.75, self.layers, 1, batch, value=1)
        self.mask("leave.dropout", 0.5, dim, batch)
        self.mask("leave.dropout_1", 0.5, dim, batch)

    def mask(self, name, keep, *shape, value=None):
        ones = self.random.random(shape) < keep
        self.arguments[name] = self.rounded(ones * (value or 1 / keep))

    def source(self):
        return pathlib.Path(__file__).with_name("dropouts.tdsl").read_text()

    def loss(self, p):
        a = self.arguments
        x = a["examples"] * a["dropout"]
        for i in range(self.layers):
            w = self.weights(p, "block", i)
            h = silu((w["w1"] @ x) * a["block.dropout"][i])
            h = (w["w2"] @ h) * a["block.dropout_1"][i]
            x = x + h * a["block.random_mask"][i]
        w = p["leave.w"]
        y = w @ (x * a["leave.dropout"]) + w @ (silu(x) * a["leave.dropout_1"])
        return mean_square(y, a["answers"])
