"""Architectures of plain PyTorch."""
from _zoo import Architecture, Input, ids, pixels


def normal(*shape, name="x"):
    return (Input(name, "normal", shape),)


def _plain(name, make, inputs, **more):
    return Architecture(name, "_zoo_modules", make, inputs, **more)


# What coremltools' front ends lack, or what has no weights to compress.
EXPORTED = ("export-*",)
COREML = ("*-ios*",)
COMPRESSED = ("int*", "uint*", "palette*", "sparse*")
SERIES = normal(1, 10, 12)
TOKENS = normal(1, 12, 32)
ROWS = (
    _plain("mlp", "nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64),"
           " nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 4))", normal(2, 16),
           flexible=(("x", 0, 1, 8),)),
    _plain("lenet", "nn.Sequential(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2),"
           " nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),"
           " nn.Linear(256, 84), nn.Tanh(), nn.Linear(84, 10))", normal(1, 1, 28, 28),
           flexible=(("x", 0, 1, 4),)),
    _plain("lstm", "Recurrent('LSTM')", SERIES, without=EXPORTED),
    _plain("lstm-deep", "Recurrent('LSTM', num_layers=2, bidirectional=True)", SERIES,
           without=EXPORTED),
    _plain("lstm-unbiased", "Recurrent('LSTM', bias=False)", SERIES, without=EXPORTED),
    _plain("gru", "Recurrent('GRU')", SERIES, without=EXPORTED),
    _plain("gru-both", "Recurrent('GRU', bidirectional=True)", SERIES, without=EXPORTED),
    _plain("rnn", "Recurrent('RNN', nonlinearity='relu')", SERIES, without=EXPORTED),
    _plain("tagger", "Tagger()", ids(12, name="tokens"), without=EXPORTED),
    _plain("attention", "Attention()", TOKENS),
    _plain("attention-zero", "Attention(add_zero_attn=True, add_bias_kv=True)", TOKENS),
    _plain("encoder", "Encoder()", TOKENS),
    _plain("encoder-gelu", "Encoder('gelu', norm_first=True)", TOKENS),
    _plain("seq2seq", "Seq2Seq()", normal(1, 10, 32, name="source")
           + normal(1, 8, 32, name="target")),
    _plain("unet", "UNet()", pixels(32), flexible=(("image", 2, 16, 64), ("image", 3, 16, 64))),
    _plain("unet-bilinear", "UNet(transposed=False)", pixels(32)),
    _plain("wavenet", "TemporalConv()", normal(1, 1, 100), flexible=(("x", 2, 50, 200),)),
    _plain("vocoder", "Vocoder()", normal(1, 20, 12), flexible=(("x", 2, 8, 40),)),
    _plain("volume", "Volume()", normal(1, 1, 8, 16, 16)),
    _plain("spatial-transformer", "SpatialTransformer()", pixels(32), without=EXPORTED),
    _plain("grid-sample", "GridSample()", pixels(16)
           + (Input("grid", "uniform", (1, 8, 10, 2)),)),
    _plain("grid-sample-nearest", "GridSample('nearest', 'zeros', False)", pixels(16)
           + (Input("grid", "uniform", (1, 8, 10, 2)),)),
    _plain("super-resolution", "SuperResolution()", normal(1, 1, 16, 16),
           flexible=(("x", 2, 8, 32), ("x", 3, 8, 32))),
    _plain("unshuffle", "Unshuffle()", pixels(16)),
    _plain("einsum", "EinsumAttention()", TOKENS),
    _plain("bag", "Bag()", ids(12, name="tokens")),
    _plain("embedding-bag", "EmbeddingBags()", ids(6, batch=2, name="tokens"),
           without=COREML),
    _plain("spectrogram", "Spectrogram()", normal(1, 512)),
    _plain("keywords", "KeywordSpotter()", normal(1, 512), without=EXPORTED),
    _plain("autoencoder", "AutoEncoder()", pixels(32)),
    _plain("diffusion", "Diffusion()", normal(1, 4, 8, 8)
           + (Input("step", "uniform", (1,)),)),
    _plain("activations", "Activations()", normal(4, 32), without=COMPRESSED),
    _plain("pools", "Pools()", normal(1, 4, 32, 32), without=COMPRESSED),
    _plain("upsamples", "Upsamples()", normal(1, 4, 10, 14), without=COMPRESSED),
    _plain("reductions", "Reductions()", normal(1, 6, 8, 10), without=COMPRESSED),
    _plain("indexing", "Indexing()", normal(1, 20, 16)
           + (Input("rows", "ids", (5,), 20),), without=COREML),
    _plain("experts", "MixtureOfExperts()", normal(1, 6, 32)),
    _plain("graph", "GraphConv()", normal(12, 8) + normal(12, 12, name="adjacency")),
    _plain("anchors", "Anchors()", pixels(64)),
    _plain("linear-attention", "LinearAttention()", normal(1, 8, 16)),
    _plain("rotary", "Rotary()", normal(1, 12, 32), without=("script-*",)),
    _plain("norms", "Norms()", pixels(64)),
    _plain("raft", "Flow()", (Input("first", "pixels", (1, 3, 128, 128)),
                              Input("second", "pixels", (1, 3, 128, 128))), without=COREML),
    _plain("running", "Running()", normal(1, 16), states=("mean",),
           without=("script-*", "dynamo-*")),
    _plain("cached", "Cached()", normal(1, 2, 32), states=("keys", "values"),
           without=("script-*", "dynamo-*")),
)
