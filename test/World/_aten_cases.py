"""Small functions of PyTorch, one or a few operators each: (name, function, inputs).

Inputs are drawn from a seed that follows from the name: `f` of a normal distribution, `p`
positive, `u` between -1 and 1, `i` integers from -9 to 9, `n` integers from 0 to 4, `b`
bools, by shape."""
import torch
import torch.nn.functional as F


def f(*shape):
    return "f", shape


def p(*shape):
    return "p", shape


def u(*shape):
    return "u", shape


def i(*shape):
    return "i", shape


def n(*shape):
    return "n", shape


def b(*shape):
    return "b", shape


def draw(kind, shape, generator):
    if kind == "f":
        return torch.randn(shape, generator=generator)
    if kind == "p":
        return torch.rand(shape, generator=generator) * 3 + 0.1
    if kind == "u":
        return torch.rand(shape, generator=generator) * 1.9 - 0.95
    if kind == "i":
        return torch.randint(-9, 10, shape, generator=generator)
    if kind == "n":
        return torch.randint(0, 5, shape, generator=generator)
    return torch.rand(shape, generator=generator) > 0.4


_M, _V = f(3, 4), f(4)
_IMAGE = f(2, 4, 9, 8)

ELEMENTS = [
    (name, getattr(torch, name), (kind,)) for name, kind in (
        ("abs", _M), ("acos", u(3, 4)), ("acosh", ("p", (3, 4))), ("asin", u(3, 4)),
        ("asinh", _M), ("atan", _M), ("atanh", u(3, 4)), ("ceil", _M), ("cos", _M),
        ("cosh", _M), ("erf", _M), ("erfc", _M), ("exp", _M), ("exp2", _M), ("expm1", _M),
        ("floor", _M), ("frac", _M), ("log", p(3, 4)), ("log10", p(3, 4)), ("log1p", p(3, 4)),
        ("log2", p(3, 4)), ("neg", _M), ("reciprocal", p(3, 4)), ("round", _M),
        ("rsqrt", p(3, 4)), ("sign", _M), ("sgn", _M), ("sin", _M), ("sinh", _M),
        ("sqrt", p(3, 4)), ("square", _M), ("tan", u(3, 4)), ("trunc", _M), ("sigmoid", _M),
        ("tanh", _M), ("relu", _M), ("isnan", _M), ("isinf", _M), ("isfinite", _M),
        ("logical_not", b(3, 4)), ("bitwise_not", i(3, 4)))
    if name != "acosh"] + [
    ("acosh", lambda x: torch.acosh(x + 1), (p(3, 4),)),
    ("round-decimals", lambda x: torch.round(x, decimals=2), (_M,)),
    ("nan-to-num", lambda x: torch.nan_to_num(x / (x > 0)), (_M,)),
    ("int-exp", torch.exp, (i(3, 4),)),
    ("int-sqrt", lambda x: torch.sqrt(x), (n(3, 4),)),
    ("int-neg", torch.neg, (i(3, 4),)),
]

ACTIVATIONS = [(name, function, (_M,)) for name, function in (
    ("gelu", F.gelu), ("gelu-tanh", lambda x: F.gelu(x, approximate="tanh")),
    ("leaky-relu", lambda x: F.leaky_relu(x, 0.2)), ("elu", lambda x: F.elu(x, 0.7)),
    ("celu", lambda x: F.celu(x, 0.7)), ("selu", F.selu), ("softplus", F.softplus),
    ("softplus-beta", lambda x: F.softplus(x, 2, 1)), ("hardtanh", F.hardtanh),
    ("relu6", F.relu6), ("hardsigmoid", F.hardsigmoid), ("hardswish", F.hardswish),
    ("mish", F.mish), ("logsigmoid", F.logsigmoid), ("hardshrink", F.hardshrink),
    ("softshrink", F.softshrink), ("threshold", lambda x: F.threshold(x, 0.1, 20)),
    ("tanhshrink", F.tanhshrink), ("softsign", F.softsign), ("silu", F.silu),
    ("glu", F.glu), ("rrelu", F.rrelu), ("softmax", lambda x: F.softmax(x, 0)),
    ("log-softmax", lambda x: F.log_softmax(x, -1)), ("softmin", lambda x: F.softmin(x, 1)),
    ("softmax-double", lambda x: F.softmax(x, 1, dtype=torch.float64).float()))] + [
    ("prelu", F.prelu, (f(2, 3, 4), u(3))),
    ("prelu-one", F.prelu, (f(2, 3, 4), u(1))),
]

PAIRS = [
    ("add-alpha", lambda x, y: torch.add(x, y, alpha=2.5), (_M, _V)),
    ("sub-alpha", lambda x, y: torch.sub(x, y, alpha=2), (_M, _V)),
    ("rsub", lambda x: 3 - x, (_M,)),
    ("add-bool", lambda x, y: x + y, (b(3, 4), b(4))),
    ("mul-bool", lambda x, y: x * y, (b(3, 4), b(4))),
    ("add-int-float", lambda x: x + 2.5, (i(3, 4),)),
    ("mul-int-tensor", lambda x, y: x * y, (i(3, 4), f(3, 4))),
    ("int8-wraps", lambda x: (x.to(torch.int8) * 30 + 100), (i(3, 4),)),
    ("uint8-wraps", lambda x: x.to(torch.uint8) - 3, (n(3, 4),)),
    ("int8-uint8", lambda x, y: x.to(torch.int8) + y.to(torch.uint8), (i(3, 4), n(4))),
    ("div-int", lambda x, y: x / (y + 10), (i(3, 4), i(3, 4))),
    ("div-floor", lambda x, y: torch.div(x, y + 0.3, rounding_mode="floor"), (_M, p(4))),
    ("div-trunc", lambda x, y: torch.div(x, y + 10, rounding_mode="trunc"), (i(3, 4), i(4))),
    ("floor-divide", lambda x, y: x // (y + 10), (i(3, 4), i(4))),
    ("floor-divide-negative", lambda x: x // -3, (i(3, 4),)),
    ("remainder", lambda x: x % 3, (i(3, 4),)),
    ("remainder-negative", lambda x: x % -3, (i(3, 4),)),
    ("remainder-float", lambda x, y: torch.remainder(x, y), (_M, p(4))),
    ("fmod", lambda x: torch.fmod(x, 3), (i(3, 4),)),
    ("fmod-float", lambda x, y: torch.fmod(x, y), (_M, p(4))),
    ("pow", lambda x: x ** 3, (_M,)),
    ("pow-half", lambda x: x ** 0.5, (p(3, 4),)),
    ("pow-fraction", lambda x: x ** 1.7, (p(3, 4),)),
    ("pow-negative", lambda x: x ** -2, (p(3, 4),)),
    ("pow-int", lambda x: x ** 4, (i(3, 4),)),
    ("pow-scalar", lambda x: 2.5 ** x, (_M,)),
    ("pow-tensor", torch.pow, (p(3, 4), f(4))),
    ("maximum", torch.maximum, (_M, _V)),
    ("minimum-int", torch.minimum, (i(3, 4), i(4))),
    ("clamp", lambda x: x.clamp(-0.5, 0.7), (_M,)),
    ("clamp-int-float", lambda x: x.clamp(-1.5, 2.5), (i(3, 4),)),
    ("clamp-tensor", torch.clamp, (_M, u(4), p(4))),
    ("clamp-min", lambda x: x.clamp_min(0.2), (_M,)),
    ("atan2", torch.atan2, (_M, f(3, 4))),
    ("atan2-axes", lambda x, y: torch.atan2(x.float(), y.float()), (i(5, 5), n(5, 5))),
    ("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.3), (_M, _V, f(3, 1))),
    ("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.3), (_M, _V, p(3, 1))),
    ("lerp", lambda x, y: torch.lerp(x, y, 0.3), (_M, _V)),
    ("lerp-tensor", torch.lerp, (_M, _V, u(3, 1))),
    ("compare", lambda x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y), (i(3, 4), i(4))),
    ("compare-scalar", lambda x: (x == 2, x < 2.5, x >= 3), (i(3, 4),)),
    ("logic", lambda x, y: (x & y, x | y, x ^ y), (b(3, 4), b(4))),
    ("logical", lambda x, y: (torch.logical_and(x, y), torch.logical_xor(x, y)),
     (i(3, 4), i(4))),
    ("bits", lambda x, y: (x & y, x | 6, x ^ y), (n(3, 4), n(4))),
    ("bits-negative", lambda x, y: (x & y, x | y), (i(3, 4), i(4))),
    ("shift", lambda x: (x << 2, x >> 1), (n(3, 4),)),
    ("where", torch.where, (b(3, 4), f(4), f(3, 1))),
    ("where-scalar", lambda c, x: torch.where(c, x, 0.5), (b(3, 4), _M)),
    ("where-int", lambda c, x: torch.where(c, x, 0.5), (b(3, 4), i(4))),
    ("masked-fill", lambda x, c: x.masked_fill(c, -1e9), (_M, b(4))),
    ("masked-fill-tensor", lambda x, c, y: x.masked_fill(c, y), (_M, b(4), f())),
]

SHAPES = [
    ("view", lambda x: x.view(2, -1), (f(4, 3),)),
    ("flatten", lambda x: x.flatten(1, 2), (f(2, 3, 4, 5),)),
    ("unflatten", lambda x: x.unflatten(1, (2, -1)), (f(3, 6),)),
    ("squeeze", lambda x: (x.squeeze(), x.squeeze(1), x.squeeze(0)), (f(3, 1, 2, 1),)),
    ("unsqueeze", lambda x: (x.unsqueeze(0), x.unsqueeze(-1)), (_M,)),
    ("permute", lambda x: x.permute(2, 0, -2), (f(2, 3, 4),)),
    ("transpose", lambda x: (x.transpose(0, -1), x.mT), (f(2, 3, 4),)),
    ("movedim", lambda x: torch.movedim(x, (0, 2), (1, 0)), (f(2, 3, 4),)),
    ("expand", lambda x: x.expand(2, -1, 4), (f(3, 1),)),
    ("repeat", lambda x: (x.repeat(2, 1, 3), x.tile(2)), (_M,)),
    ("repeat-interleave", lambda x: (x.repeat_interleave(2, 1), x.repeat_interleave(3)), (_M,)),
    ("select", lambda x: (x[1], x[:, -2]), (_M,)),
    ("slice", lambda x: (x[1:], x[:, ::2], x[:, -3:-1], x[:, 1:100]), (f(4, 5),)),
    ("split", lambda x: (*x.split(2, 1), *x.split([1, 3, 1], 1)), (f(2, 5),)),
    ("chunk", lambda x: (*x.chunk(3, 1), *x.chunk(2)), (f(2, 5),)),
    ("unbind", lambda x: x.unbind(1), (f(2, 3),)),
    ("unfold", lambda x: x.unfold(1, 3, 2), (f(2, 9, 2),)),
    ("diagonal", lambda x: (x.diagonal(), x.diagonal(1, -2, -1), x.diagonal(-1, 0, 2)),
     (f(3, 4, 5),)),
    ("flip", lambda x: (x.flip(0), x.flip(0, 1)), (_M,)),
    ("roll", lambda x: (x.roll(1), x.roll(-2, 1), x.roll((1, 1), (0, 1))), (_M,)),
    ("cat", lambda x, y: torch.cat((x, y, x), 1), (_M, f(3, 2))),
    ("cat-types", lambda x, y: torch.cat((x, y)), (_M, i(2, 4))),
    ("stack", lambda x, y: (torch.stack((x, y)), torch.stack((x, y), -1)), (_M, _M)),
    ("hstack", lambda x, y: (torch.hstack((x, y)), torch.vstack((x, y))), (_M, _M)),
    ("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="xy"), (f(3), f(4))),
    ("meshgrid-ij", lambda x, y: torch.meshgrid(x, y, indexing="ij"), (f(3), f(4))),
    ("broadcast-tensors", torch.broadcast_tensors, (f(3, 1), f(4))),
    ("pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 1), value=3.5)), (_M,)),
    ("pad-cuts", lambda x: F.pad(x, (-1, 2)), (_M,)),
    ("pad-modes", lambda x: (F.pad(x, (1, 2), "reflect"), F.pad(x, (3, 1), "replicate"),
                             F.pad(x, (2, 1), "circular")), (f(2, 3, 5),)),
    ("pad-reflect-2d", lambda x: F.pad(x, (1, 2, 2, 0), "reflect"), (_IMAGE,)),
    ("tril", lambda x: (x.tril(), x.tril(-1), x.triu(1)), (f(4, 4),)),
    ("scatter-views", lambda x, y: (torch.select_scatter(x, y, 0, 1),
                                    torch.slice_scatter(x, y.expand(2, 4), 0, 0, 4, 2)),
     (f(4, 4), f(4))),
    ("diagonal-scatter", lambda x, y: torch.diagonal_scatter(x, y, 1), (f(4, 4), f(3))),
    ("pixel-shuffle", lambda x: (F.pixel_shuffle(x, 2), F.channel_shuffle(x, 2)),
     (f(1, 8, 3, 2),)),
    ("pixel-unshuffle", lambda x: F.pixel_unshuffle(x, 2), (f(1, 2, 4, 6),)),
    ("as-strided", lambda x: torch.as_strided(x, (2, 3), (4, 1), 1), (_M,)),
]

REDUCTIONS = [
    ("sum", lambda x: (x.sum(), x.sum(1), x.sum((0, 1), keepdim=True)), (_M,)),
    ("sum-int", lambda x: (x.sum(), x.sum(0, dtype=torch.float32)), (i(3, 4),)),
    ("sum-bool", lambda x: x.sum(1), (b(3, 4),)),
    ("mean", lambda x: (x.mean(), x.mean(-1, keepdim=True)), (_M,)),
    ("prod", lambda x: (x.prod(), x.prod(1)), (_M,)),
    ("amax", lambda x: (x.amax(1), x.amin((0, 1)), x.max(), x.min()), (_M,)),
    ("max-dim", lambda x: (*x.max(1), *x.min(0, keepdim=True)), (_M,)),
    ("argmax", lambda x: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True)), (_M,)),
    ("all-any", lambda x: (x.all(), x.any(1), x.all(0, keepdim=True)), (b(3, 4),)),
    ("var", lambda x: (x.var(), x.var(1), x.var(1, unbiased=False), x.std(0)), (_M,)),
    ("var-mean", lambda x: torch.var_mean(x, 1), (_M,)),
    ("norms", lambda x: (x.norm(), torch.linalg.vector_norm(x, 1, 1),
                         torch.linalg.vector_norm(x, 3, 0),
                         torch.linalg.vector_norm(x, float("inf"))), (_M,)),
    ("logsumexp", lambda x: torch.logsumexp(x, (0, 1)), (_M,)),
    ("aminmax", lambda x: torch.aminmax(x, dim=1), (_M,)),
    ("cumsum", lambda x: (x.cumsum(0), x.cumsum(-1)), (_M,)),
    ("cumsum-int", lambda x: (x.cumsum(0)), (b(3, 4),)),
    ("cumprod", lambda x: x.cumprod(1), (_M,)),
    ("cummax", lambda x: (*x.cummax(1), *x.cummin(0)), (_M,)),
    ("logcumsumexp", lambda x: x.logcumsumexp(1), (_M,)),
    ("diff", lambda x: (x.diff(), x.diff(n=2, dim=1)), (_M,)),
    ("sort", lambda x: (*x.sort(), *x.sort(0, descending=True), x.argsort(1)), (_M,)),
    ("topk", lambda x: (*x.topk(2), *x.topk(2, 0, largest=False)), (_M,)),
    ("median", lambda x: (*x.median(1), *x.kthvalue(2, 0)), (f(5, 4),)),
    ("histc", lambda x: torch.histc(x, 5, -2, 2), (_M,)),
]

INDICES = [
    ("gather", lambda x, y: x.gather(1, y.clamp(max=3)), (_M, n(3, 2))),
    ("index-select", lambda x, y: x.index_select(1, y), (f(3, 5), n(6))),
    ("index", lambda x, y: x[y], (f(5, 4), n(2, 3))),
    ("parts-none", lambda x: torch.cat(
        [(x[:, :0].t() + 1).relu().t(), x, x[:, 4:].exp()], 1), (f(3, 4),)),
    ("parts-none-sum", lambda x: x + x[:0].sum(0) + x[:0].prod(0), (f(3, 4),)),
    ("index-negative", lambda x, y: x[y - 3], (f(5, 4), n(4))),
    ("index-pair", lambda x, y, z: x[y, z], (f(5, 5, 2), n(3), n(3))),
    ("index-none", lambda x, y: x[:, y], (f(3, 5, 2), n(2, 2))),
    ("index-apart", lambda x, y, z: x[y, :, z], (f(5, 3, 5), n(4), n(4))),
    ("index-broadcast", lambda x, y, z: x[y[:, None], z], (f(5, 5), n(2), n(3))),
    ("index-put", lambda x, y, z: x.index_put((y,), z, accumulate=True),
     (f(5, 4), n(3), f(3, 4))),
    ("index-put-pair", lambda x, y, z: x.index_put((y, y), z, accumulate=True),
     (f(5, 5), n(3), f(3))),
    ("index-put-apart", lambda x, y: _put_apart(x, y), (f(3, 2, 5), f(2, 2))),
    ("index-put-mask", lambda x, m: x.index_put((m,), torch.tensor(1.5)), (_M, b(3, 4))),
    ("index-add", lambda x, y, z: x.index_add(0, y, z, alpha=2), (f(5, 4), n(3), f(3, 4))),
    ("index-copy", lambda x, z: x.index_copy(1, torch.tensor([2, 0]), z), (_M, f(3, 2))),
    ("index-fill", lambda x: x.index_fill(1, torch.tensor([2, 0]), 1.5), (_M,)),
    ("scatter", lambda x, z: x.scatter(1, torch.tensor([[2, 0], [1, 3], [0, 1]]), z),
     (_M, f(3, 2))),
    ("scatter-value", lambda x: x.scatter(1, torch.tensor([[2], [1], [0]]), 1.5), (_M,)),
    ("scatter-add", lambda x, y, z: x.scatter_add(1, y.clamp(max=3), z),
     (_M, n(3, 2), f(3, 4))),
    ("scatter-reduce", lambda x, y, z: (
        x.scatter_reduce(1, y.clamp(max=3), z, "amax"),
        x.scatter_reduce(1, y.clamp(max=3), z, "prod", include_self=False),
        x.scatter_reduce(1, y.clamp(max=3), z, "amin", include_self=False)),
     (_M, n(3, 2), f(3, 2))),
    ("take-along", lambda x, y: torch.take_along_dim(x, y.clamp(max=3), 1), (_M, n(3, 2))),
    ("embedding", lambda x, y: F.embedding(y, x, padding_idx=0), (f(5, 4), n(2, 3))),
    ("one-hot", lambda x: F.one_hot(x, 6), (n(2, 3),)),
    ("masked-scatter", lambda x, m, y: x.masked_scatter(m, y), (_M, b(3, 4), f(12))),
    ("write-slice", lambda x, y: _written(x, y), (f(4, 4), f(4))),
]


def _put_apart(x, y):
    x = x.clone()
    x[torch.tensor([0, 2]), :, torch.tensor([1, 3])] = y
    return x


def _written(x, y):
    """In-place writes through views."""
    x = x.clone()
    x[1] = y
    x[:, 2:].mul_(2)
    x.t()[0].add_(1)
    x.view(2, 8)[1, ::2] = 0
    first, second = x.chunk(2)
    second += first
    return x, first.sum(), x.diagonal().fill_(3), x


PRODUCTS = [
    ("matmul", torch.matmul, (f(2, 3, 4), f(4, 5))),
    ("matmul-batch", torch.matmul, (f(2, 1, 3, 4), f(3, 4, 5))),
    ("matmul-vector", lambda x, y: (x @ y, y @ x.mT), (f(2, 3, 4), f(4))),
    ("matmul-int", torch.matmul, (i(3, 4), i(4, 2))),
    ("dot", torch.dot, (f(4), f(4))),
    ("linear", F.linear, (f(2, 3, 4), f(5, 4), f(5))),
    ("linear-list", F.linear, (f(4), f(5, 4))),
    ("addmm", lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=2), (f(5), f(3, 4), f(4, 5))),
    ("baddbmm", lambda x, y, z: torch.baddbmm(x, y, z, beta=0), (f(2, 3, 5), f(2, 3, 4),
                                                                 f(2, 4, 5))),
    ("outer", torch.outer, (f(3), f(4))),
    ("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), (f(2, 3, 4), f(2, 5, 4))),
    ("einsum-diagonal", lambda x: torch.einsum("ii->i", x), (f(4, 4),)),
    ("tensordot", lambda x, y: torch.tensordot(x, y, ([1, 2], [1, 0])), (f(2, 3, 4),
                                                                        f(4, 3, 5))),
    ("bilinear", F.bilinear, (f(2, 3), f(2, 4), f(5, 3, 4), f(5))),
    ("cdist", lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, 1)), (f(3, 4), f(5, 4))),
]

LAYERS = [
    ("conv1d", lambda x, w: F.conv1d(x, w, stride=2, padding=1), (f(2, 4, 9), f(3, 4, 3))),
    ("conv2d", lambda x, w, v: F.conv2d(x, w, v, 1, 2, 2), (_IMAGE, f(3, 4, 3, 3), f(3))),
    ("conv2d-groups", lambda x, w: F.conv2d(x, w, groups=2), (_IMAGE, f(4, 2, 3, 3))),
    ("conv2d-same", lambda x, w: F.conv2d(x, w, padding="same", dilation=2),
     (_IMAGE, f(3, 4, 4, 3))),
    ("conv2d-single", F.conv2d, (f(4, 9, 8), f(3, 4, 3, 3))),
    ("conv3d", F.conv3d, (f(1, 2, 4, 5, 6), f(3, 2, 2, 3, 3))),
    ("conv-transpose", lambda x, w: F.conv_transpose2d(x, w, stride=3, padding=1,
                                                       output_padding=2), (_IMAGE,
                                                                           f(4, 3, 3, 3))),
    ("conv-transpose-groups", lambda x, w: F.conv_transpose1d(x, w, stride=2, groups=2),
     (f(2, 4, 5), f(4, 3, 3))),
    ("unfold-image", lambda x: F.unfold(x, 3, 2, 1, 2), (_IMAGE,)),
    ("fold-image", lambda x: F.fold(x, (4, 5), 2, padding=1, stride=2), (f(1, 8, 9),)),
    ("max-pool", lambda x: (F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2, ceil_mode=True)),
     (_IMAGE,)),
    ("max-pool-dilation", lambda x: F.max_pool2d(x, 2, 1, dilation=2), (_IMAGE,)),
    ("max-pool-indices", lambda x: F.max_pool2d(x, 2, return_indices=True), (_IMAGE,)),
    ("max-pool-single", lambda x: F.max_pool1d(x, 2), (f(4, 9),)),
    ("avg-pool", lambda x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, True, False)),
     (_IMAGE,)),
    ("avg-pool-divisor", lambda x: F.avg_pool2d(x, 2, divisor_override=3), (_IMAGE,)),
    ("avg-pool-ceil", lambda x: F.avg_pool1d(x, 3, 2, 1, True), (f(2, 3, 8),)),
    ("adaptive", lambda x: (F.adaptive_avg_pool2d(x, (3, 3)), F.adaptive_avg_pool2d(x, (None, 5)),
                            F.adaptive_max_pool2d(x, 4)), (_IMAGE,)),
    ("adaptive-1d", lambda x: F.adaptive_avg_pool1d(x, 12), (f(2, 3, 8),)),
    ("batch-norm", lambda x, m, v, w, c: F.batch_norm(x, m, v, w, c), (_IMAGE, f(4), p(4), f(4),
                                                                      f(4))),
    ("batch-norm-list", lambda x, m, v: F.batch_norm(x, m, v), (f(5, 4), f(4), p(4))),
    ("instance-norm", lambda x, w: F.instance_norm(x, weight=w), (_IMAGE, f(4))),
    ("group-norm", lambda x, w, c: F.group_norm(x, 2, w, c), (_IMAGE, f(4), f(4))),
    ("layer-norm", lambda x, w: F.layer_norm(x, (3, 4), w), (f(2, 3, 4), f(3, 4))),
    ("rms-norm", lambda x, w: F.rms_norm(x, (4,), w), (f(2, 3, 4), f(4))),
    ("local-response", lambda x: F.local_response_norm(x, 3), (_IMAGE,)),
    ("normalize", lambda x: F.normalize(x, dim=1), (_IMAGE,)),
    ("weight-norm", lambda v, g: torch._weight_norm(v, g, 0), (f(3, 4), p(3, 1))),
]

for _mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
    for _size, _scale, _align in (((5, 11), None, False), (None, 1.7, False),
                                  (None, (0.6, 2.0), False), ((6, 3), None, True)):
        if _align and _mode.startswith("nearest"):
            continue
        LAYERS.append((f"resize-{_mode}-{_size or _scale}{'-aligned' * _align}",
                       lambda x, m=_mode, s=_size, c=_scale, a=_align: F.interpolate(
                           x, s, c, m, a if m[0] == "b" else None), (_IMAGE,)))
for _mode in ("bilinear", "bicubic"):
    LAYERS.append((f"resize-antialias-{_mode}", lambda x, m=_mode: F.interpolate(
        x, (4, 11), mode=m, antialias=True), (_IMAGE,)))
LAYERS += [
    ("resize-linear", lambda x: F.interpolate(x, 13, mode="linear"), (f(2, 3, 8),)),
    ("resize-trilinear", lambda x: F.interpolate(x, scale_factor=1.5, mode="trilinear"),
     (f(1, 2, 4, 4, 3),)),
    ("resize-recompute", lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear",
                                                 recompute_scale_factor=True), (_IMAGE,)),
    ("resize-area", lambda x: F.interpolate(x, (4, 5), mode="area"), (_IMAGE,)),
    ("grid-sample", lambda x, g: F.grid_sample(x, g, align_corners=False), (_IMAGE,
                                                                           u(2, 3, 5, 2))),
    ("affine-grid", lambda t: F.affine_grid(t, (2, 1, 3, 4), align_corners=False),
     (f(2, 2, 3),)),
]

ATTENTION = [
    ("sdpa", F.scaled_dot_product_attention, (f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 2))),
    ("sdpa-bool", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
     (f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 2), b(5, 6))),
    ("sdpa-hidden-row", lambda q, k, v, m: F.scaled_dot_product_attention(
        q, k, v, m & (torch.arange(5) != 2)[:, None]),
     (f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 2), b(5, 6))),
    ("sdpa-bias", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.3),
     (f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 2), f(3, 5, 6))),
    ("sdpa-causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
     (f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 2))),
    ("sdpa-shared", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
     (f(2, 6, 5, 4), f(2, 2, 6, 4), f(2, 2, 6, 4))),
]

LOSSES = [
    ("mse", F.mse_loss, (_M, _M)), ("l1", F.l1_loss, (_M, _M)),
    ("huber", F.huber_loss, (_M, _M)),
    ("smooth-l1", lambda x, y: F.smooth_l1_loss(x, y, beta=0.4, reduction="sum"), (_M, _M)),
    ("cross-entropy", F.cross_entropy, (f(3, 5), n(3))),
    ("cross-entropy-ignored", lambda x, y: F.cross_entropy(x, y, ignore_index=2),
     (f(8, 5), n(8))),
    ("cross-entropy-plane", F.cross_entropy, (f(2, 5, 3), n(2, 3))),
    ("nll", lambda x, y: F.nll_loss(F.log_softmax(x, 1), y, reduction="none"), (f(3, 5), n(3))),
    ("bce-logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y.float()),
     (_M, b(3, 4))),
    ("kl-div", lambda x, y: F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1)), (_M, _M)),
    ("cosine-similarity", F.cosine_similarity, (_M, _M)),
    ("pairwise", F.pairwise_distance, (_M, _M)),
]

SIGNALS = [
    ("rfft", lambda x: torch.view_as_real(torch.fft.rfft(x)), (f(3, 8),)),
    ("rfft-ortho", lambda x: torch.view_as_real(torch.fft.rfft(x, norm="ortho")), (f(3, 9),)),
    ("irfft", lambda x: torch.fft.irfft(torch.view_as_complex(x), 8), (f(3, 5, 2),)),
    ("irfft-odd", lambda x: torch.fft.irfft(torch.view_as_complex(x), 9, norm="ortho"),
     (f(3, 5, 2),)),
    ("fft-abs", lambda x: torch.fft.fft(x).abs(), (f(3, 8),)),
    ("fft2-abs", lambda x: torch.fft.fftn(x).abs(), (f(4, 6),)),
    ("rotary", lambda x, y: torch.view_as_real(torch.view_as_complex(x) *
                                               torch.view_as_complex(y)).flatten(1),
     (f(3, 4, 2), f(3, 4, 2))),
    ("complex-parts", lambda x, y: ((torch.complex(x, y) + 1).abs()), (_M, _M)),
]

CREATIONS = [
    ("arange", lambda x: x + torch.arange(4), (_M,)),
    ("arange-step", lambda x: x[:, 0] + torch.arange(1, 7, 2), (_M,)),
    ("linspace", lambda x: x + torch.linspace(0, 1, 4), (_M,)),
    ("eye", lambda x: x @ torch.eye(4, 3), (_M,)),
    ("full-like", lambda x: (torch.full_like(x, 2.5), torch.zeros_like(x) + x.new_ones(4)),
     (_M,)),
    ("casts", lambda x: (x.int(), x.bool(), (x * 10).to(torch.int8)), (_M,)),
    ("cast-int", lambda x: (x.float(), x.bool(), x.to(torch.int16), x.to(torch.uint8)),
     (i(3, 4),)),
    ("type-as", lambda x, y: x.type_as(y), (i(3, 4), _M)),
    # Here, since the turns of the others follow from their places.
    ("repeat-none",
     lambda x: torch.cat([x, x[:, :1].repeat(1, 0), x[:, :1].expand(-1, 0)], 1), (_M,)),
]


def conv_backward(rank, stride=1, padding=0, dilation=1, transposed=False, added=0, groups=1,
                  mask=(True, True, True)):
    """The gradients of a convolution, of those operands that `mask` says."""
    def run(dy, x, weight):
        lists = [[number] * rank for number in (stride, padding, dilation, added)]
        gradients = torch.ops.aten.convolution_backward(
            dy, x, weight, [dy.shape[1]], *lists[:3], transposed, lists[3], groups, list(mask))
        return tuple(one for one, wanted in zip(gradients, mask) if wanted)
    return run


def max_backward(forward, backward, *form):
    """The gradient of a pooling by the indices of its windows."""
    def run(x):
        y, indices = forward(x, *form)
        return backward(torch.sin(y), x, *form, indices)
    return run


_pool2, _pool3 = torch.ops.aten.max_pool2d_with_indices, torch.ops.aten.max_pool3d_with_indices
_pool2b = torch.ops.aten.max_pool2d_with_indices_backward
_pool3b = torch.ops.aten.max_pool3d_with_indices_backward
_avg2b, _avg3b = torch.ops.aten.avg_pool2d_backward, torch.ops.aten.avg_pool3d_backward

GRADIENTS = [
    ("conv1d-backward", conv_backward(1, 2, 1), (f(2, 4, 5), f(2, 3, 9), f(4, 3, 3))),
    ("conv2d-backward", conv_backward(2), (f(2, 6, 7, 6), f(2, 4, 9, 8), f(6, 4, 3, 3))),
    # The last row and column of the image are under no window.
    ("conv2d-backward-strides", conv_backward(2, 2, 1, 2, groups=2),
     (f(2, 6, 4, 3), f(2, 4, 10, 8), f(6, 2, 3, 3))),
    ("conv2d-backward-depthwise", conv_backward(2, 1, 1, groups=4),
     (f(2, 4, 9, 8), f(2, 4, 9, 8), f(4, 1, 3, 3))),
    ("conv2d-backward-pointwise", conv_backward(2),
     (f(2, 6, 9, 8), f(2, 4, 9, 8), f(6, 4, 1, 1))),
    ("conv2d-backward-weight", conv_backward(2, 2, mask=(False, True, False)),
     (f(2, 6, 4, 3), f(2, 4, 9, 8), f(6, 4, 3, 3))),
    ("conv2d-backward-image", conv_backward(2, 3, mask=(True, False, True)),
     (f(2, 6, 3, 3), f(2, 4, 9, 8), f(6, 4, 2, 2))),
    ("conv3d-backward", conv_backward(3, 2, 1),
     (f(2, 4, 2, 3, 3), f(2, 2, 4, 5, 6), f(4, 2, 3, 3, 3))),
    ("conv-transpose-backward", conv_backward(2, 2, 1, 1, True, 1, groups=2),
     (f(2, 6, 10, 8), f(2, 4, 5, 4), f(4, 3, 3, 3))),
    ("conv-transpose1d-backward", conv_backward(1, 2, 1, 2, True),
     (f(2, 3, 11), f(2, 4, 5), f(4, 3, 3))),
    ("avg-pool-backward", lambda dy, x: _avg2b(dy, x, [2, 3], [], [0, 0], False, True, None),
     (f(2, 4, 4, 2), _IMAGE)),
    ("avg-pool-backward-ceil",
     lambda dy, x: _avg2b(dy, x, [3, 3], [2, 2], [1, 1], True, True, None),
     (f(2, 4, 5, 5), _IMAGE)),
    ("avg-pool-backward-inside",
     lambda dy, x: _avg2b(dy, x, [3, 2], [2, 1], [1, 1], False, False, None),
     (f(2, 4, 5, 9), _IMAGE)),
    ("avg-pool-backward-divisor",
     lambda dy, x: _avg2b(dy, x, [3, 3], [2, 2], [1, 1], False, True, 5),
     (f(2, 4, 5, 4), _IMAGE)),
    ("avg-pool-backward-single",
     lambda dy, x: _avg2b(dy, x, [2, 2], [2, 2], [0, 0], False, True, None),
     (f(4, 4, 4), f(4, 9, 8))),
    ("avg-pool3d-backward",
     lambda dy, x: _avg3b(dy, x, [2, 2, 2], [2, 2, 2], [1, 1, 1], False, False, None),
     (f(2, 2, 3, 3, 4), f(2, 2, 4, 5, 6))),
    ("max-pool-backward", max_backward(_pool2, _pool2b, [3, 2], [1, 2], [1, 0], [1, 1], False),
     (_IMAGE,)),
    ("max-pool-backward-dilated",
     max_backward(_pool2, _pool2b, [2, 2], [2, 2], [0, 0], [2, 2], True), (f(4, 9, 8),)),
    # Of equal elements, the first gets the gradient.
    ("max-pool-backward-equal",
     lambda x: max_backward(_pool2, _pool2b, [3, 3], [2, 2], [1, 1], [1, 1], False)(F.relu(x)),
     (_IMAGE,)),
    ("upsample-backward", lambda dy: (
        torch.ops.aten.upsample_bilinear2d_backward(dy, [10, 7], [2, 3, 4, 5], False),
        torch.ops.aten.upsample_nearest2d_backward(dy, [10, 7], [2, 3, 4, 5]),
        torch.ops.aten.upsample_bicubic2d_backward(dy, [10, 7], [2, 3, 4, 5], True),
        torch.ops.aten._upsample_nearest_exact2d_backward(dy, [10, 7], [2, 3, 4, 5]),
        torch.ops.aten._upsample_bilinear2d_aa_backward(dy, [10, 7], [2, 3, 20, 5], False),
        torch.ops.aten._upsample_bicubic2d_aa_backward(dy, [10, 7], [2, 3, 20, 5], False)),
     (f(2, 3, 10, 7),)),
    ("upsample-backward-scales", lambda dy: (
        torch.ops.aten.upsample_bilinear2d_backward(dy, [9, 7], [2, 3, 4, 5], False, 2.3, 1.5),
        torch.ops.aten.upsample_nearest2d_backward(dy, [9, 7], [2, 3, 4, 5], 2.3, 1.5)),
     (f(2, 3, 9, 7),)),
    ("upsample1d-backward", lambda dy: (
        torch.ops.aten.upsample_linear1d_backward(dy, [9], [2, 3, 4], True),
        torch.ops.aten.upsample_nearest1d_backward(dy, [9], [2, 3, 4]),
        torch.ops.aten._upsample_nearest_exact1d_backward(dy, [9], [2, 3, 4])),
     (f(2, 3, 9),)),
    ("upsample3d-backward", lambda dy: (
        torch.ops.aten.upsample_trilinear3d_backward(dy, [4, 5, 6], [2, 2, 2, 3, 4], False),
        torch.ops.aten.upsample_nearest3d_backward(dy, [4, 5, 6], [2, 2, 2, 3, 4]),
        torch.ops.aten._upsample_nearest_exact3d_backward(dy, [4, 5, 6], [2, 2, 2, 3, 4])),
     (f(2, 2, 4, 5, 6),)),
    ("as-strided-scatter-backward", lambda x, y: torch.as_strided_scatter(
        x, y, (2, 3), (4, 1), 1), (_M, f(2, 3))),
    ("max-pool3d-backward",
     max_backward(_pool3, _pool3b, [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], False),
     (f(2, 2, 4, 5, 6),)),
]

CASES = (ELEMENTS + ACTIVATIONS + PAIRS + SHAPES + REDUCTIONS + INDICES + PRODUCTS + LAYERS +
         ATTENTION + LOSSES + SIGNALS + CREATIONS + GRADIENTS)
