"""Models of images."""
from parts import Model, avg_pool, conv_same, cross_entropy, max_pool, mean, relu


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
