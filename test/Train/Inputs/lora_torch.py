"""Fine-tunes tiny.tdsl with adapters in PyTorch, as lora-torch.test does with anec: from
the same weights, on the same windows in the same steps, with AdamW.

usage: lora_torch.py weights BASE OUT RANK   BASE, and adapters of `w1` drawn here
       lora_torch.py compare WEIGHTS TEXT RUN STEPS RATE"""
import json
import pathlib
import struct
import sys

import numpy
import torch

SEQ, SCALE = 16, 2.0


def read(path):
    path = pathlib.Path(path)
    data = (path / "weights.safetensors" if path.is_dir() else path).read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(
        data[8 + size + row["data_offsets"][0]:8 + size + row["data_offsets"][1]],
        "<f4").reshape(row["shape"]) for name, row in header.items()}


def weights(base, out, rank):
    arrays = dict(read(base))
    random = numpy.random.default_rng(5)
    for name in [name for name in arrays if name.endswith(".w1")]:
        rows, columns = arrays[name].shape
        # As PEFT draws it, in numbers that fp16 has.
        arrays[name + "_lora_a"] = random.uniform(
            -columns ** -0.5, columns ** -0.5, (int(rank), columns)).astype("f2").astype("f4")
        arrays[name + "_lora_b"] = numpy.zeros((rows, int(rank)), "f4")
    header, body = {}, b""
    for name, array in arrays.items():
        part = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(part)]}
        body += part
    text = json.dumps(header).encode()
    pathlib.Path(out).write_bytes(struct.pack("<Q", len(text)) + text + body)


def loss_of(values, tokens, targets):
    """The mean loss of windows [n, SEQ]."""
    table = values["tiny.embedding"]
    x = table[tokens]  # [n, seq, dim]

    def norm(x, weight):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight

    def product(x, name):
        result = x @ values[name].T
        if name + "_lora_a" in values:
            down = x @ values[name + "_lora_a"].T
            result = result + down @ values[name + "_lora_b"].T * SCALE
        return result

    for i in range(sum(name.endswith(".w1") for name in values)):
        h = norm(x, values[f"block.{i}.norm"])
        x = x + product(torch.nn.functional.silu(product(h, f"block.{i}.w1")),
                        f"block.{i}.w2")
    logits = norm(x, values["tiny.norm"]) @ table.T
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def compare(start, text, run, steps, rate):
    data = numpy.frombuffer(pathlib.Path(text).read_bytes(), "u1").astype("i8")
    count = (len(data) - 1) // SEQ
    tokens = torch.tensor(data[:count * SEQ].reshape(count, SEQ))
    targets = torch.tensor(data[1:count * SEQ + 1].reshape(count, SEQ))
    values = {name: torch.tensor(array.astype("f8")) for name, array in read(start).items()}
    # The base is fp16 in the kernels.
    for name in values:
        values[name] = values[name].half().double()
    trained = [value.requires_grad_() for name, value in values.items() if "_lora_" in name]
    optimizer = torch.optim.AdamW(trained, lr=float(rate), betas=(0.9, 0.95), eps=1e-8,
                                  weight_decay=0.1)
    losses = []
    for _ in range(int(steps)):
        loss = loss_of(values, tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        losses.append(float(loss))
    ours = [json.loads(line)["loss"] for line in open(run + "/train.jsonl")]
    assert len(ours) == len(losses), (len(ours), len(losses))
    worst = max(abs(a - b) / b for a, b in zip(ours, losses))
    print(f"PyTorch {losses[0]:.4f} to {losses[-1]:.4f}, anec {ours[0]:.4f} to "
          f"{ours[-1]:.4f}; off by {worst:.2%} at most, {abs(ours[-1] / losses[-1] - 1):.2%} "
          "at the end")
    assert worst < 0.03, worst


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
