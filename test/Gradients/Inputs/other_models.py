"""Models of vectors."""
import numpy

from parts import Model, cross_entropy, relu


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
