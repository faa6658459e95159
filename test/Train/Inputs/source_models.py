"""source_models.py FOLDER: inputs of test/Torch/Inputs/mlp.pt2 as files, and an ONNX model
of a product, whose weight `scales` decides the size of what is resized, and one of an LSTM.
source_models.py FOLDER compare GRADIENTS BOUND: gradients beside PyTorch's of
sum(output ** 2), which is 12 times the mean.
source_models.py FOLDER falls RUN SHARE: the last loss of a run is below a share of the
first."""
import json
import pathlib
import sys

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = ROOT / "Torch/Inputs"
sys.path += [str(ROOT / "Onnx/Inputs"), str(ROOT / "Package/Inputs")]


def make(folder):
    import onnx_writer
    numpy.save(folder / "input.npy", numpy.load(TORCH / "mlp.in.npz")["input"])
    numpy.save(folder / "target.npy", numpy.zeros((3, 4), numpy.float32))
    for name in "input", "target":  # An axis in front counts examples.
        numpy.save(folder / f"one_{name}.npy", numpy.load(folder / f"{name}.npy")[None])
    draw = numpy.random.default_rng(1).standard_normal
    graph, pair = onnx_writer.Graph(), numpy.float32([0.5, 1.5])
    graph.input("x", numpy.float32, [1, 2, 3, 3])
    for name, array in (("w", draw((2, 2, 1, 1)).astype("float32")), ("gamma", pair),
                        ("beta", pair), ("mean", pair), ("var", pair),
                        ("scales", numpy.float32([1, 1, 2, 2]))):
        graph.constant(array, name)
    graph.op("Conv", "x", "w", outputs=["a"])
    graph.op("BatchNormalization", "a", "gamma", "beta", "mean", "var", outputs=["b"])
    graph.op("Resize", "b", None, "scales", outputs=["y"], mode="nearest")
    graph.output("y", numpy.float32, [1, 2, 6, 6])
    graph.save(folder / "resized.onnx", opset=13)
    graph = onnx_writer.Graph()
    graph.input("x", numpy.float32, [3, 1, 2])
    for name in "w", "r":
        graph.constant(draw((1, 8, 2)).astype("float32"), name)
    graph.op("LSTM", "x", "w", "r", outputs=["y"], hidden_size=2)
    graph.output("y", numpy.float32, [3, 1, 1, 2])
    graph.save(folder / "recurrent.onnx", opset=14)


def compare(path, bound):
    from differences import read_safetensors
    got, right = read_safetensors(pathlib.Path(path)), numpy.load(TORCH / "mlp.grad.npz")
    for name in right.files:
        error = abs(got[name] * 12 - right[name]).max() / abs(right[name]).max()
        assert error < bound, f"{name}: {error}"
    print(f"{len(right.files)} gradients")


def falls(run, share):
    lines = (pathlib.Path(run) / "train.jsonl").read_text().splitlines()
    losses = [json.loads(line)["loss"] for line in lines]
    assert losses[-1] < share * losses[0], losses


if len(sys.argv) == 2:
    make(pathlib.Path(sys.argv[1]))
else:
    {"compare": compare, "falls": falls}[sys.argv[2]](sys.argv[3], float(sys.argv[4]))
