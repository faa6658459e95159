"""Modules of plain PyTorch that _zoo_plain.py names."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Recurrent(nn.Module):
    """LSTM, GRU or RNN, with all of its results."""

    def __init__(self, kind, **options):
        super().__init__()
        self.cell = getattr(nn, kind)(12, 16, batch_first=True, **options)
        self.head = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 8)

    def forward(self, x):
        y, state = self.cell(x)
        state = state if isinstance(state, tuple) else (state,)
        return (self.head(y),) + state


class Tagger(nn.Module):
    """Embedding, LSTM in both directions, and a classifier of each token."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16, padding_idx=0)
        self.cell = nn.LSTM(16, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 7)

    def forward(self, x):
        y, _ = self.cell(self.embedding(x))
        return torch.log_softmax(self.head(y), -1)


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True, **options)

    def forward(self, x):
        return self.attention(x, x, x)


class Encoder(nn.Module):
    def __init__(self, activation="relu", norm_first=False):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation=activation, batch_first=True,
                                           norm_first=norm_first)
        self.layers = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(32),
                                            enable_nested_tensor=False)

    def forward(self, x):
        return self.layers(x)


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Transformer(32, 4, 2, 2, 64, batch_first=True)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(8))

    def forward(self, source, target):
        return self.model(source, target, tgt_mask=self.mask)


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs),
                         nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1),
                         nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, transposed=True):
        super().__init__()
        self.down = nn.ModuleList([block(3, 8), block(8, 16), block(16, 32)])
        self.up = nn.ModuleList([block(32, 16), block(16, 8)])
        self.grow = nn.ModuleList(
            [nn.ConvTranspose2d(32, 16, 2, stride=2), nn.ConvTranspose2d(16, 8, 2, stride=2)]
            if transposed else
            [nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                           nn.Conv2d(2 * n, n, 1)) for n in (16, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        x = self.down[2](F.max_pool2d(second, 2))
        x = self.up[0](torch.cat([self.grow[0](x), second], 1))
        return self.head(self.up[1](torch.cat([self.grow[1](x), first], 1)))


class TemporalConv(nn.Module):
    """Dilated causal convolutions of a WaveNet, with gates."""

    def __init__(self):
        super().__init__()
        self.start = nn.Conv1d(1, 16, 1)
        self.gates = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2 ** i) for i in range(4))
        self.skips = nn.ModuleList(nn.Conv1d(16, 16, 1) for _ in range(4))

    def forward(self, x):
        x, total = self.start(x), 0
        for i, (gate, skip) in enumerate(zip(self.gates, self.skips)):
            a, b = gate(F.pad(x, (2 ** i, 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return total


class Vocoder(nn.Module):
    """Transposed convolutions in one dimension, as in HiFi-GAN."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(20, 32, 7, padding=3), nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(32, 16, 8, stride=4, padding=2), nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1, output_padding=1),
            nn.LeakyReLU(0.1), nn.Conv1d(8, 1, 7, padding=3), nn.Tanh())

    def forward(self, x):
        return self.layers(x)


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv3d(1, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2),
            nn.Conv3d(8, 16, 3, stride=(1, 2, 2), padding=1), nn.ReLU(),
            nn.ConvTranspose3d(16, 4, 2, stride=2), nn.AvgPool3d(2))

    def forward(self, x):
        return self.layers(x)


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(),
                                      nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                                      nn.Linear(128, 6))

    def forward(self, x):
        theta = torch.tanh(self.features(x)).view(-1, 2, 3)
        grid = F.affine_grid(theta, [1, 3, 24, 24], align_corners=False)
        return F.grid_sample(x, grid, padding_mode="zeros", align_corners=False)


class GridSample(nn.Module):
    def __init__(self, mode="bilinear", padding="border", corners=True):
        super().__init__()
        self.options = dict(mode=mode, padding_mode=padding, align_corners=corners)

    def forward(self, x, grid):
        return F.grid_sample(x, grid, **self.options)


class SuperResolution(nn.Module):
    """ESPCN: convolutions, then the shuffle of channels into pixels."""

    def __init__(self, factor=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.Tanh(),
                                    nn.Conv2d(16, 8, 3, padding=1), nn.Tanh(),
                                    nn.Conv2d(8, factor ** 2, 3, padding=1),
                                    nn.PixelShuffle(factor))

    def forward(self, x):
        return self.layers(x)


class Unshuffle(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(12, 16, 3)

    def forward(self, x):
        y = self.conv(F.pixel_unshuffle(x, 2))
        return y.view(1, 4, 4, 6, 6).transpose(1, 2).reshape(y.shape)  # Channels shuffled.


class EinsumAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)

    def forward(self, x):
        q, k, v = self.qkv(x).view(1, -1, 3, 4, 8).unbind(2)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * 8 ** -0.5
        return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).flatten(2)


class Bag(nn.Module):
    """The mean of embeddings, written as EmbeddingBag and as a mask."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        mask = (x > 20).float().unsqueeze(-1)
        total = (self.embedding(x) * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.head(total)


class EmbeddingBags(nn.Module):
    def __init__(self, mode="mean"):
        super().__init__()
        self.bag = nn.EmbeddingBag(100, 16, mode=mode)

    def forward(self, x):
        return self.bag(x)


class Spectrogram(nn.Module):
    """A mel spectrogram by convolutions with windowed sines and cosines."""

    def __init__(self):
        super().__init__()
        n = torch.arange(64.0)
        angles = 2 * math.pi * n[None] * torch.arange(33.0)[:, None] / 64
        window = torch.hann_window(64)
        self.register_buffer("basis", torch.cat(
            [torch.cos(angles) * window, -torch.sin(angles) * window])[:, None])
        self.mel = nn.Linear(33, 12, bias=False)

    def forward(self, x):
        real, imaginary = F.conv1d(x[:, None], self.basis, stride=16).chunk(2, 1)
        power = real ** 2 + imaginary ** 2
        mel = F.linear(power.transpose(1, 2), self.mel.weight.abs())
        return torch.log(mel.clamp(min=1e-5))


class KeywordSpotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = Spectrogram()
        self.conv = nn.Sequential(nn.Conv1d(12, 16, 3), nn.BatchNorm1d(16), nn.ReLU())
        self.cell = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        y, _ = self.cell(self.conv(self.front(x).transpose(1, 2)).transpose(1, 2))
        return self.head(y[:, -1]).softmax(-1)


class AutoEncoder(nn.Module):
    """A variational autoencoder without its noise."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.GroupNorm(4, 8), nn.SiLU(),
                                    nn.Conv2d(8, 16, 4, 2, 1), nn.InstanceNorm2d(16), nn.ELU())
        self.decode = nn.Sequential(nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.PReLU(8),
                                    nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Sigmoid())

    def forward(self, x):
        mean, spread = self.encode(x).chunk(2, 1)
        return self.decode(mean + torch.exp(0.5 * spread.clamp(-4, 4))), mean


class Diffusion(nn.Module):
    """A denoiser: sinusoidal embedding of the step, group norms, attention over pixels."""

    def __init__(self):
        super().__init__()
        self.start = nn.Conv2d(4, 16, 3, padding=1)
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        self.norm = nn.GroupNorm(4, 16)
        self.conv = nn.Conv2d(16, 16, 3, padding=1)
        self.qkv = nn.Conv2d(16, 48, 1)
        self.end = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, x, step):
        angles = step[:, None] * torch.exp(torch.arange(8) * (-math.log(10000.0) / 8))[None]
        embedding = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        h = self.start(x)
        h = h + self.conv(F.silu(self.norm(h + embedding[:, :, None, None])))
        q, k, v = self.qkv(h).reshape(1, 3, 2, 8, -1).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(h.shape)
        return self.end(h + y)


class Activations(nn.Module):
    NAMES = ("relu relu6 elu selu gelu silu mish hardswish hardsigmoid hardtanh "
             "softplus softsign tanhshrink softshrink hardshrink logsigmoid leaky_relu "
             "tanh sigmoid").split()

    def forward(self, x):
        return torch.stack([getattr(F, name)(x) for name in self.NAMES], 1)


class Pools(nn.Module):
    def forward(self, x):
        return (F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1),
                F.avg_pool2d(x, 2, count_include_pad=False), F.adaptive_avg_pool2d(x, 8),
                F.adaptive_max_pool2d(x, 4), F.lp_pool2d(x.abs(), 2, 2))


class Upsamples(nn.Module):
    def forward(self, x):
        return (F.interpolate(x, scale_factor=2, mode="nearest"),
                F.interpolate(x, size=(20, 28), mode="bilinear", align_corners=False),
                F.interpolate(x, size=(20, 28), mode="bilinear", align_corners=True),
                F.pad(x, (1, 2, 3, 4), mode="reflect"), F.pad(x, (1, 1, 2, 2), mode="replicate"),
                F.pad(x, (1, 1, 2, 2), value=0.5))


class Reductions(nn.Module):
    def forward(self, x):
        return (x.mean((2, 3)), x.var(1, unbiased=False), x.std(3), x.amax(1),
                x.argmax(1).float(), x.logsumexp(2), x.norm(dim=1), x.cumsum(2),
                x.topk(3, dim=1).values, x.sort(dim=3).values)


class Indexing(nn.Module):
    """Gathers, scatters, masks and views, as models that are not of one piece use them."""

    def forward(self, x, rows):
        picked = x[0, rows]
        filled = x[0].masked_fill(x[0] < 0, 0.25)
        taken = torch.gather(x[0], 1, rows[:, None].expand(-1, 6) % 16)
        rolled = torch.roll(x, (1, 2), (1, 2)).flip(2)
        band = torch.where(torch.ones(16, 16).tril().bool(), x[0, :16], x[0, :16].mT)
        return picked, filled, taken, rolled, band, x[..., -3:], x[:, ::3]


class MixtureOfExperts(nn.Module):
    """All experts are computed, and weighed by a gate."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(32, 4)
        self.up = nn.Parameter(torch.randn(4, 32, 48) * 0.1)
        self.down = nn.Parameter(torch.randn(4, 48, 32) * 0.1)

    def forward(self, x):
        scores, chosen = self.gate(x).softmax(-1).topk(2, -1)
        weights = (F.one_hot(chosen, 4) * scores[..., None]).sum(-2)
        y = torch.einsum("btd,edh->bteh", x, self.up).relu()
        return torch.einsum("bteh,ehd,bte->btd", y, self.down, weights)


class GraphConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 4)])

    def forward(self, x, adjacency):
        a = (adjacency.abs() > 0.5).to(x.dtype) + torch.eye(12, dtype=x.dtype)
        a = a * a.sum(-1, keepdim=True).rsqrt() * a.sum(-2, keepdim=True).rsqrt()
        for layer in self.layers:
            x = F.gelu(a @ layer(x), approximate="tanh")
        return x


class Anchors(nn.Module):
    """A detector's head: boxes decoded on a grid, scores, and the best of them."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 18, 3, stride=8, padding=1)
        y, x = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
        self.register_buffer("grid", torch.stack([x, y], -1))

    def forward(self, x):
        y = self.conv(x).view(1, 3, 6, 8, 8).permute(0, 1, 3, 4, 2)
        centre = (y[..., :2].sigmoid() * 2 - 0.5 + self.grid) * 8
        size = (y[..., 2:4].sigmoid() * 2) ** 2 * 16
        scores = y[..., 4:].sigmoid().reshape(1, -1, 2)
        boxes = torch.cat([centre - size / 2, centre + size / 2], -1).reshape(1, -1, 4)
        best, index = scores.amax(-1).topk(5)
        return boxes, scores, best, boxes.gather(1, index[..., None].expand(-1, -1, 4))


class LinearAttention(nn.Module):
    """A scan over time, unrolled: what state-space models and RWKV compute."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(16, 48)
        self.decay = nn.Parameter(torch.rand(16))

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, -1)
        state, outputs = torch.zeros(1, 16, 16, dtype=x.dtype), []
        for t in range(8):
            state = state * torch.exp(-self.decay)[None, :, None] + \
                k[:, t, :, None] * v[:, t, None]
            outputs.append((q[:, t, None] @ state)[:, 0])
        return torch.stack(outputs, 1)


class Rotary(nn.Module):
    """Rotary positions and RMS norms in fp32 inside of a model, as they are written."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(32))
        frequencies = 10000.0 ** (-torch.arange(0, 16, 2).float() / 16)
        angles = torch.outer(torch.arange(12).float(), frequencies)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())

    def forward(self, x):
        x = F.rms_norm(x, (32,), self.weight, 1e-6)
        x = x.view(1, 12, 2, 16).transpose(1, 2)
        a, b = x.chunk(2, -1)
        return x * self.cos + torch.cat([-b, a], -1) * self.sin


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3), nn.GroupNorm(4, 16, eps=1e-6), nn.InstanceNorm2d(16, affine=True),
            nn.LocalResponseNorm(5), nn.BatchNorm2d(16, eps=1e-3))
        self.last = nn.LayerNorm([16, 62, 62], eps=1e-12)

    def forward(self, x):
        return F.normalize(self.last(self.layers(x)), dim=1)


class Running(nn.Module):
    """A state: the mean of what it has seen."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, 16))
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        self.mean.mul_(0.75)
        self.mean.add_(self.linear(x) * 0.25)
        return torch.tanh(self.mean)


class Cached(nn.Module):
    """Attention that writes its keys and values at a fixed place of two states."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)
        self.register_buffer("keys", torch.zeros(1, 4, 8, 8))
        self.register_buffer("values", torch.zeros(1, 4, 8, 8))

    def forward(self, x):
        q, k, v = self.qkv(x).view(1, 2, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        self.keys[:, :, 2:4, :] = k
        self.values[:, :, 2:4, :] = v
        scores = (q @ self.keys.transpose(-1, -2) * 8 ** -0.5).softmax(-1)
        return (scores @ self.values).transpose(1, 2).reshape(1, 2, 32)


class Flow(nn.Module):
    """RAFT: two updates of the optical flow from one image to another."""

    def __init__(self):
        super().__init__()
        from torchvision.models import optical_flow
        self.model = optical_flow.raft_small()

    def forward(self, first, second):
        return self.model(first, second, num_flow_updates=2)[-1]
