#!/usr/bin/env python3
"""Trains five small models by torch.compile: forward and backward passes by its backend
"anec", beside PyTorch's own eager execution and inductor, on two threads. Prints one table
of graphs, graph breaks, differences and times, and the reasons of breaks and of what is left
to PyTorch. Fails when an output or a gradient is not that of eager execution within --limit.
See ../README.md."""

import argparse
import copy
import os
import pathlib
import platform
import re
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import interleaved  # noqa: E402

THREADS = 2
LEAST = 1e-2  # Gradients that are smaller than the largest by this are differences.
CONTENDERS = ["eager", "inductor", "anec"]  # The last one is compared with the first.


def models():
    """(name, module, inputs): without random numbers, which no two of them draw alike."""
    import torch
    import torchvision
    import transformers
    words = torch.randint(0, 128, (2, 32))

    def of_text(model):
        class Logits(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, words):
                return self.model(words).logits
        return Logits()

    class Sequences(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(16, 32, batch_first=True)
            self.head = torch.nn.Linear(32, 10)

        def forward(self, x):
            x, _ = self.lstm(x)
            return self.head(x[:, -1])
    linear = torch.nn.Linear
    yield ("mlp", torch.nn.Sequential(linear(64, 128), torch.nn.GELU(), linear(128, 10)),
           [torch.randn(32, 64)])
    yield "resnet18", torchvision.models.resnet18(num_classes=10), [torch.randn(2, 3, 64, 64)]
    yield "bert", of_text(transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=32, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0))), [words]
    yield "gpt2", of_text(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=128, n_positions=32, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0,
        embd_pdrop=0, attn_pdrop=0, use_cache=False, bos_token_id=0, eos_token_id=0))), [words]
    yield "lstm", Sequences(), [torch.randn(4, 12, 16)]


class Contender:
    """A copy of a model, called as one of the contenders runs it. See interleaved.py."""

    def __init__(self, name, model, inputs):
        import torch
        self.name = name
        self.model = copy.deepcopy(model).train()
        self.inputs = inputs
        self.call = (self.model if name == CONTENDERS[0]
                     else torch.compile(self.model, backend=name))
        self.used = 0

    def step(self):
        """(the output, {name: gradient}) of a forward and a backward pass."""
        self.model.zero_grad()
        output = self.call(*self.inputs)
        output.square().mean().backward()
        return output.detach(), {name: each.grad for name, each in
                                 self.model.named_parameters() if each.grad is not None}

    def batch(self, count):
        times, used = [], time.process_time()
        for _ in range(count):
            start = time.perf_counter()
            self.step()
            times.append((time.perf_counter() - start) * 1e3)
        self.used += time.process_time() - used
        return times

    def seconds(self):
        return 0  # interleaved.py counts this process


def differences(got, right):
    """The largest errors of the output and of a gradient, of the largest elements."""
    def largest(array):
        return float(array.abs().max())
    if got[1].keys() != right[1].keys():
        sys.exit("error: other parameters have gradients")
    floor = LEAST * max(map(largest, right[1].values()))
    return (largest(got[0] - right[0]) / largest(right[0]),
            max(largest(got[1][name] - each) / max(largest(each), floor)
                for name, each in right[1].items()))


def breaks():
    """Why torch.compile has broken functions into several graphs since `counters` was
    cleared: one line for each break."""
    from torch._dynamo.utils import counters
    lines = []
    for text, count in counters["graph_break"].items():
        said = re.search(r"Reason: (.*)", text) or re.search(r"Explanation: (.*)", text)
        lines += [(said[1] if said else text.strip().split("\n")[0]).strip()] * count
    return lines


def one(name, model, inputs, options):
    """The row of the table, and lines that explain it."""
    import anec.torch
    import torch
    from torch._dynamo.utils import counters
    torch._dynamo.reset()
    contenders = [Contender(each, model, inputs) for each in CONTENDERS]
    results = {}
    for each in contenders:  # The first step compiles.
        counters.clear()
        anec.torch.report(clear=True)
        results[each.name] = each.step()
    reasons, graphs = breaks(), anec.torch.report(clear=True)
    output, gradient = differences(results["anec"], results["eager"])
    for each in contenders:
        each.batch(2)
    measured, others = interleaved.measure(contenders, options.rounds, options.batch,
                                           options.foreign, retries=1)
    times = {each.name: each.median() for each in measured}
    row = [name, f"{sum(each.numel() for each in model.parameters()):,}", len(graphs),
           len(reasons), sum(each.anec for each in graphs),
           sum(each.torch for each in graphs), f"{output:.1e}", f"{gradient:.1e}",
           *(f"{times[each]:.1f}" for each in CONTENDERS)]
    lines = [f"{name}: graph break: {each}" for each in reasons]
    lines += [f"{name}: left to PyTorch: {each}" for graph in graphs for each in graph.reasons]
    if others > options.foreign:
        lines.append(f"{name}: other processes took {others:.0%} of the processors")
    return row, lines, max(output, gradient) <= options.limit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="only these")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=3)
    parser.add_argument("--foreign", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=1e-4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(options.build.resolve() / "python"))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    try:
        import torch
        import torchvision  # noqa: F401
        import transformers  # noqa: F401
        import anec.torch
    except ImportError as error:
        sys.exit(f"error: {error}; run it by the python that test/World/install prints, "
                 "after `ninja _anec`")
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    print(f"PyTorch {torch.__version__}, {platform.machine()}, {THREADS} threads; "
          f"medians of {options.rounds * options.batch} steps, in ms\n")
    head = ["model", "parameters", "graphs", "breaks", "by anec", "by PyTorch", "output",
            "gradients", *CONTENDERS]
    print("| " + " | ".join(head) + " |\n|---" + "|---:" * (len(head) - 1) + "|")
    notes, right = [], True
    for name, model, inputs in models():
        if options.models and name not in options.models:
            continue
        row, lines, is_right = one(name, model, inputs, options)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        notes += lines
        right &= is_right
    print("\n" + "\n".join(dict.fromkeys(notes)))
    if not right:
        sys.exit(f"error: an output or a gradient differs by more than {options.limit}")


if __name__ == "__main__":
    main()
