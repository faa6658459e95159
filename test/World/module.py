"""`import anec.torch`: modules of PyTorch, without a file in between.

Each row of the _zoo files: session, its outputs as PyTorch's; forward and backward, by
torch.compile(backend="anec"): outputs, and gradients of a weighted sum of them with
respect to parameters and inputs. Draws: what the module has in place of an operator of
PyTorch's backward graphs, against that operator. Small subjects: findings at lines of
Python, a package that coremltools takes, what PyTorch runs in anec's place."""
import copy
import functools
import random
import sys
import warnings

import architectures
import harness
from harness import RIGHT, Item, near, refused, wrong

ROWS = architectures.ROWS
SAMPLE = ("mlp", "lenet", "lstm-deep", "gru-both", "attention", "encoder-gelu", "unet-bilinear",
          "wavenet", "einsum", "resnet", "vit-torchvision", "bert", "gpt2")
EXACT = 1e-4  # Of the largest element, in fp32.
DRAWS = 150


def items():
    for row in ROWS:
        yield Item(row.name, "zoo", functools.partial(check_row, row),
                   sample=row.name in SAMPLE, turn=row.name in SAMPLE, seconds=600)
    for name in sorted(DRAWN):
        yield Item(name, "draws", functools.partial(check_draws, name))
    for name in sorted(SUBJECTS):
        yield Item(name, "subject", SUBJECTS[name])


def module_of(ctx):
    """The built anec.torch."""
    folder = str(ctx.build / "python")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    import anec.torch
    return anec.torch


def floats(tree):
    import torch
    import torch.utils._pytree as pytree
    return [leaf for leaf in pytree.tree_leaves(tree)
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def relative(got, right):
    return harness.relative_error(got.detach().double().numpy(),
                                  right.detach().double().numpy())


# ---------------------------------------------------------------------------
# Architectures
# ---------------------------------------------------------------------------

def gradients(call, model, inputs):
    """(outputs, gradients): each gradient with respect to a parameter or an input."""
    import torch
    given = [value.detach().clone().requires_grad_(value.is_floating_point())
             if isinstance(value, torch.Tensor) else value for value in inputs]
    outputs = floats(call(*given))
    wanted = [*model.parameters(), *(value for value in given
                                     if getattr(value, "requires_grad", False))]
    total = sum((out * torch.linspace(-1, 1, out.numel()).reshape(out.shape)).sum()
                for out in outputs if out.requires_grad)
    return outputs, torch.autograd.grad(total, wanted, allow_unused=True)


def check_row(row, ctx):
    import torch
    anec_torch = module_of(ctx)
    import anec
    model, inputs = copy.deepcopy(architectures.built(row))
    steps = {}
    with torch.no_grad():  # A copy: it may write its buffers.
        right = floats(copy.deepcopy(model)(*copy.deepcopy(inputs)))
    try:
        got = floats(anec_torch.Session(model, inputs)(*copy.deepcopy(inputs)))
    except anec.Error as error:
        return {"session": refused(error)}
    except Exception as error:  # of PyTorch's export
        return {"peer": harness.absent(f"{type(error).__name__}: {error}")}
    steps["session"] = near(max(map(relative, got, right), default=0), EXACT)
    torch.set_grad_enabled(True)
    model.requires_grad_(True)
    other = copy.deepcopy(model)
    try:
        right, exact = gradients(model, model, inputs)
    except RuntimeError as error:  # PyTorch has none.
        return steps | {"peer": harness.absent(str(error).splitlines()[0])}
    compiled = torch.compile(other, backend="anec")
    got, own = gradients(compiled, other, inputs)
    steps["forward"] = near(max(map(relative, got, right)), EXACT)
    # Those that cancel out, such as of a bias before a softmax, are noise of the others.
    largest = max(float(each.abs().max()) for each in exact if each is not None)
    errors = [float((one - other).abs().max()) / max(float(other.abs().max()), largest * 1e-3)
              for one, other in zip(own, exact) if other is not None and other.numel()]
    steps["backward"] = near(max(errors), EXACT)
    return steps


# ---------------------------------------------------------------------------
# Operators of backward graphs
# ---------------------------------------------------------------------------

def draw_convolution(rng, torch):
    rank, groups = rng.choice((1, 2, 2, 3)), rng.choice((1, 1, 2, 3))
    inner, outer = groups * rng.randint(1, 3), groups * rng.randint(1, 3)
    kernel, stride, pads, apart = ([rng.randint(low, high) for _ in range(rank)] for low, high
                                   in ((1, 3), (1, 3), (0, 2), (1, 2)))
    extents = [max(rng.randint(3, 9), each * (size - 1) + 1)
               for each, size in zip(apart, kernel)]
    given = torch.randn(rng.randint(1, 3), inner, *extents)
    weight = torch.randn(outer, inner // groups, *kernel)
    settings = [stride, pads, apart, False, [0] * rank, groups]
    out = torch.ops.aten.convolution(given, weight, None, *settings)
    return [torch.randn_like(out), given, weight, [outer], *settings, [True] * 3], {}


def draw_max_pool(rng, torch):
    kernel = [rng.randint(1, 3), rng.randint(1, 3)]
    settings = [kernel, [rng.randint(1, 3), rng.randint(1, 3)],
                [rng.randint(0, size // 2) for size in kernel], [1, 1], rng.random() < 0.3]
    given = torch.randn(*([2, 3, rng.randint(3, 8), rng.randint(3, 8)][rng.randint(0, 1):]))
    out, indices = torch.ops.aten.max_pool2d_with_indices(given, *settings)
    return [torch.randn_like(out), given, *settings, indices], {}


def draw_average_pool(rng, torch):
    kernel = [rng.randint(1, 3), rng.randint(1, 3)]
    settings = [kernel, rng.choice(([], [rng.randint(1, 3), rng.randint(1, 3)])),
                [rng.randint(0, size // 2) for size in kernel], rng.random() < 0.2,
                rng.random() < 0.7, rng.choice((None, 3))]
    given = torch.randn(2, 3, rng.randint(3, 8), rng.randint(3, 8))
    out = torch.ops.aten.avg_pool2d(given, *settings)
    return [torch.randn_like(out), given, *settings], {}


def draw_attention(rng, torch):
    heads, queries, keys, size = (rng.randint(1, 4), rng.randint(2, 6), rng.randint(2, 6),
                                  8 * rng.randint(1, 2))
    isCausal = rng.random() < 0.4
    keys = queries if isCausal else keys
    query = torch.randn(2, heads, queries, size)
    key, value = torch.randn(2, heads, keys, size), torch.randn(2, heads, keys, size)
    named = {"scale": rng.choice((None, 0.3))}
    if not isCausal and rng.random() < 0.5:
        named["attn_mask"] = torch.randn(2, heads, queries, keys)
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, sums = forward(query, key, value, 0.0, isCausal, **named)
    return [torch.randn_like(out), query, key, value, out, sums, 0.0, isCausal], named


DRAWN = {
    "_scaled_dot_product_flash_attention_for_cpu_backward": draw_attention,
    "avg_pool2d_backward": draw_average_pool,
    "convolution_backward": draw_convolution,
    "max_pool2d_with_indices_backward": draw_max_pool,
}


def check_draws(name, ctx):
    """Those that the module leaves to PyTorch do not count."""
    module_of(ctx)
    import torch
    from anec._torch_decompositions import TABLE
    operator = getattr(torch.ops.aten, name).default
    compared = 0
    for seed in range(DRAWS):
        torch.manual_seed(seed)
        given, named = DRAWN[name](random.Random(seed), torch)
        own = TABLE[operator](*given, **named)
        if own is NotImplemented:
            continue
        right = operator(*given, **named)
        compared += 1
        for one, other in zip(floats([own]), floats([right])):
            if one.shape != other.shape or relative(one, other) > EXACT:
                return {"run": wrong(f"draw {seed}")}
    enough = compared > DRAWS // 3
    return {"run": RIGHT if enough else wrong(f"{compared} of {DRAWS} draws are compared")}


# ---------------------------------------------------------------------------
# Small subjects
# ---------------------------------------------------------------------------

def small(torch):
    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(10, 8)
            self.linear = torch.nn.Linear(8, 4)

        def forward(self, ids, scale: float, more, flag=None):
            y = self.linear(self.words(ids)) * scale + more["b"]
            return {"y": y, "rest": (y.softmax(-1), ids.sum(), None, 3)}
    torch.manual_seed(1)
    more = {"a": torch.ones(4), "b": torch.rand(4)}
    return Small().eval(), (torch.tensor([1, 7, 3]), 2.0, more)


def check_structure(ctx):
    anec_torch = module_of(ctx)
    import torch
    model, args = small(torch)
    session = anec_torch.Session(model, args)
    ids, scale, more = args
    given = (ids.flip(0), scale, dict(more, b=torch.rand(4)))
    got, right = session(*given), model(*given)
    same = (list(got) == list(right) and got["rest"][2:] == (None, 3)
            and got["rest"][1].dtype == torch.int64
            and torch.equal(got["rest"][1], right["rest"][1])
            and max(map(relative, floats(got), floats(right))) < EXACT)
    try:
        session(ids, scale)
        return {"run": wrong("other arguments than in the example are taken")}
    except TypeError:
        return {"run": RIGHT if same else wrong(f"{got}, expected {right}")}


def check_lines(ctx):
    anec_torch = module_of(ctx)
    import inspect
    import torch
    model, args = small(torch)
    lines, first = inspect.getsourcelines(type(model).forward)
    wanted = first + next(i for i, line in enumerate(lines) if "self.words" in line)
    found = {finding.line for finding in anec_torch.check(model, args, "m1",
                                                          framework="in-memory")
             if finding.file == __file__}
    return {"run": RIGHT if wanted in found else wrong(f"lines {sorted(found)}")}


def check_package(ctx):
    anec_torch = module_of(ctx)
    import numpy
    import torch
    import _packages
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU()).eval()
    x = torch.randn(3, 8)
    anec_torch.to_mlpackage(model, (x,), ctx.folder / "m.mlpackage")
    _packages.load_program(ctx.folder / "m.mlpackage")
    import anec
    session = anec.Session(ctx.folder / "m.mlpackage")
    (port,) = session.inputs()
    (got,) = session.run({port.name: x.numpy()}).values()
    return {"run": near(harness.relative_error(got.astype(numpy.float64),
                                               model(x).detach().numpy()), 5e-3)}


def check_fallback(ctx):
    """Operators that anec refuses, and graph breaks."""
    anec_torch = module_of(ctx)
    import torch
    anec_torch.report(clear=True)

    def function(x):
        y = torch.linalg.svd(x @ x.T + 1)[1] * 2
        if y.sum() > 0:
            return y + 1
        return y - 1
    compiled = torch.compile(function, backend="anec")
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.rand(4, 5 + seed)  # several shapes
        if relative(compiled(x), function(x)) > EXACT:
            return {"run": wrong(f"other numbers, seed {seed}")}
    graphs = anec_torch.report()
    said = [reason for graph in graphs for reason in graph.reasons]
    right = (len(graphs) > 1 and any("svd" in reason and __file__ in reason for reason in said)
             and all(graph.anec for graph in graphs))
    return {"run": RIGHT if right else wrong(f"{[str(graph) for graph in graphs]}")}


def check_training(ctx):
    """Twenty steps of Adam on a network with dropout, whose numbers PyTorch draws, and
    batch statistics."""
    anec_torch = module_of(ctx)
    import torch
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Dropout(0.2),
        torch.nn.Linear(8 * 16, 5))
    other = copy.deepcopy(model)
    losses = []
    for each, call in ((model, model), (other, torch.compile(other, backend="anec"))):
        torch.manual_seed(4)
        optimizer, said = torch.optim.Adam(each.parameters(), 1e-3), []
        for _ in range(20):
            x, labels = torch.rand(6, 3, 8, 8), torch.randint(0, 5, (6,))
            loss = torch.nn.functional.cross_entropy(call(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            said.append(float(loss))
        losses.append(said)
    assert anec_torch.report()
    return {"run": near(max(abs(a - b) for a, b in zip(*losses)), 1e-4)}


def special_numbers(torch):
    """(function, tensor): where formulas cancel out, overflow or lose NaN."""
    nan, inf = float("nan"), float("inf")
    floats = {
        "log1p": [inf, -1, nan, -2, 1e-9, 3, 1e30],
        "asinh": [1e-9, 1e-4, 1e20, 1e38, -1e20, 0, -0.3, 9999, 10001, inf, nan],
        "acosh": [1, 1.0001, 2, 0.5, 9999, 10001, 1e20, inf],
        "erfc": [-3, 0, 0.3, 0.5, 0.6, 1, 3, 4, 5, 8, -inf, inf, nan],
    }
    for name, numbers in floats.items():
        yield getattr(torch, name), torch.tensor(numbers, dtype=torch.float32)
    for dtype in torch.uint8, torch.int8, torch.int16:
        info = torch.iinfo(dtype)
        yield torch.neg, torch.tensor([info.min, info.max, 1], dtype=dtype)
        if info.min:
            yield torch.abs, torch.tensor([info.min, info.max, -1], dtype=dtype)
    yield (lambda x: torch.nn.functional.threshold(x, 0.1, 5.0)), torch.tensor([nan, 1, 0])


def module_that_calls(function):
    import torch

    class Calls(torch.nn.Module):
        def forward(self, *args):
            return function(*args)
    return Calls()


def check_numbers(ctx):
    anec_torch = module_of(ctx)
    import torch
    for function, x in special_numbers(torch):
        got = anec_torch.Session(module_that_calls(function), (x,))(x)
        if not torch.isclose(got, function(x), rtol=4e-6, atol=1e-38, equal_nan=True).all():
            return {"run": wrong(f"{function} of {x}: {got}, expected {function(x)}")}
    return {"run": RIGHT}


def check_edges(ctx):
    """Rows that see nothing, shared heads, expanded results, numbers beyond 32 bits,
    functions of functions: gradients too."""
    anec_torch = module_of(ctx)
    import torch
    from torch.nn import functional
    attention = functional.scaled_dot_product_attention
    seen = torch.tensor([[False] * 3] * 4 + [[True] * 3])
    torch.manual_seed(5)
    query, key, value = torch.randn(1, 4, 5, 4), torch.randn(1, 4, 3, 4), torch.randn(1, 4, 3, 4)
    cases = [
        (lambda q, k, v: attention(q, k, v, attn_mask=seen), (query, key, value)),
        (lambda q, k, v: attention(q, k, v, enable_gqa=True),
         (query, key[:, :2].clone(), value[:, :2].clone())),
        (functional.normalize, (torch.randn(4, 4),)),
        (lambda x: x.sum(1, keepdim=True).expand(4, 4), (torch.randn(4, 4),)),
        (lambda x: (1 - x) * 1e12, (torch.tensor([1 - 1e-12], dtype=torch.double),)),
        (lambda x: x + 1, (torch.tensor([2 ** 40, 5]),)),
        (lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), (torch.ones(3),)),
    ]
    for number, (function, args) in enumerate(cases):
        torch._dynamo.reset()
        both = []
        for call in torch.compile(function, backend="anec"), function:
            given = [each.clone().requires_grad_(each.is_floating_point()) for each in args]
            out = call(*given)
            grads = torch.autograd.grad((out * out).sum(), given) if out.requires_grad else ()
            both.append([out, *grads])
        if not all(torch.isclose(one, other, rtol=1e-4, atol=1e-6).all()
                   for one, other in zip(*both)):
            return {"run": wrong(f"case {number}: {both}")}
    said = [reason for graph in anec_torch.report() for reason in graph.reasons]
    explained = all(any(word in reason for reason in said) for word in ("float64", "cond"))
    return {"run": RIGHT if explained else wrong(f"{said}")}


def check_calls(ctx):
    """Other words than in the example, open extents, and what is no call."""
    anec_torch = module_of(ctx)
    import torch
    linear, x = torch.nn.Linear(3, 2), torch.randn(2, 3)
    open_extents = {"input": {0: torch.export.Dim("rows", min=2, max=8)}}
    session = anec_torch.Session(linear, (x,), dynamic_shapes=open_extents)
    error = max(relative(session(x), linear(x)), relative(session(input=x), linear(x)))
    for wrongly in (lambda: session(), lambda: session([[1, 2], [3, 4]]),
                    lambda: anec_torch.Session(linear, x)):
        try:
            wrongly()
            return {"run": wrong("it is taken")}
        except TypeError:
            pass
    return {"run": near(error, EXACT)}


SUBJECTS = {
    "numbers": check_numbers,
    "edges": check_edges,
    "calls": check_calls,
    "structure": check_structure,
    "lines": check_lines,
    "package": check_package,
    "fallback": check_fallback,
    "training": check_training,
}
