"""source_models.py FOLDER: inputs of test/Torch/Inputs/mlp.pt2 as files, and an ONNX model
of a product, whose weight `scales` decides the size of what is resized, and one whose weights are lists of numbers, with values for one of them in a file.
source_models.py FOLDER replaced OUTPUTS VALUE: outputs of the last one, whose first weight
has VALUE.
source_models.py FOLDER compare GRADIENTS BOUND: gradients of mlp.pt2 beside PyTorch's of
sum(output ** 2), which is 12 times the mean. `stopped` instead of `compare`: of stopped.pt2,
where an embedding has a row of padding, values are detached, computed without gradients or
the deviation of equal ones, and two parameters are not trained; of the mean. `lstm` and `gru`:
of these archives. `layered`: of
layered.pt2, three transformer layers between an embedding and a product; `scalars`: of
scalars.pt2, with parameters of one number; `batchnorm`: of batchnorm.pt2, which was exported in training mode.
source_models.py FOLDER learned RUN BOUND: the losses and running statistics of a run are
PyTorch's of batchnorm.pt2; `clipped`: the statistics of a run whose weights do not change;
`evaluated`: the output of a folder is that of the trained model in eval().
source_models.py FOLDER falls RUN SHARE: the last loss of a run is below a share of the
first."""
import functools
import json
import pathlib
import sys

import numpy

RECURRENT = "lstm", "gru"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TORCH = ROOT / "Torch/Inputs"
LISTED, SIDE = "abcd", 300
sys.path += [str(ROOT / "Onnx/Inputs"), str(ROOT / "Package/Inputs")]


def make(folder):
    import onnx_writer
    numpy.save(folder / "input.npy", numpy.load(TORCH / "mlp.in.npz")["input"])
    numpy.save(folder / "target.npy", numpy.zeros((3, 4), numpy.float32))
    numpy.save(folder / "ids.npy", numpy.int32([[0, 2, 5], [2, 6, 1]]))
    numpy.save(folder / "zeros.npy", numpy.zeros((2, 3, 3), numpy.float32))
    batchnorm = numpy.load(HERE / "batchnorm.npz")
    for key in "x", "target":
        numpy.save(folder / f"batchnorm_{key}.npy", batchnorm[key])
        numpy.save(folder / f"one_batchnorm_{key}.npy", batchnorm[key][None])
    for name in "input", "target":  # An axis in front counts examples.
        numpy.save(folder / f"one_{name}.npy", numpy.load(folder / f"{name}.npy")[None])
    for name in RECURRENT:
        for key, array in numpy.load(TORCH / f"{name}.in.npz").items():
            numpy.save(folder / f"{name}_{key}.npy", array)
        output = numpy.load(TORCH / f"{name}.out.npz")["out0"]
        numpy.save(folder / f"{name}_target.npy", numpy.zeros_like(output))
    lengths, target = numpy.int32([5, 3]), numpy.zeros((2, 5, 4), numpy.float32)
    for name, array in ("ids", numpy.int32([[0, 2, 5, 1, 3], [2, 6, 1, 4, 4]])), \
            ("lengths", lengths), ("target", target):
        numpy.save(folder / f"layered_{name}.npy", array)
        one = "layered" if name == "target" else name
        numpy.save(folder / f"one_{one}.npy", array[None])
    numpy.save(folder / "scalars_x.npy", numpy.linspace(-1, 1, 12, dtype="f4").reshape(3, 4))
    numpy.save(folder / "scalars_target.npy", numpy.zeros((3, 4), numpy.float32))
    numpy.save(folder / "one_lstm.npy", numpy.load(TORCH / "lstm.in.npz")["a_0"][None])
    numpy.save(folder / "no_class.npy", numpy.full((1, 2, 3), 10, numpy.int32))
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
    # A reader copies such lists, and each copy can be where the one before was.
    graph = onnx_writer.Graph()
    graph.input("x", numpy.float32, [SIDE, SIDE])
    for value, name in enumerate(LISTED, 1):
        graph.initializers.append({"dims": [SIDE, SIDE], "data_type": 1, "name": name,
                                   "float_data": [float(value)] * SIDE ** 2})
        graph.op("Mul", "x", name, outputs=[f"of_{name}"])
        graph.output(f"of_{name}", numpy.float32, [SIDE, SIDE])
    graph.save(folder / "listed.onnx", opset=13)
    numpy.save(folder / "ones.npy", numpy.ones((SIDE, SIDE), numpy.float32))
    save(folder / "first.safetensors", "a", numpy.full((SIDE, SIDE), 9, numpy.float32))
    save(folder / "bias.safetensors", "0.bias", numpy.full(16, 7, numpy.float32))


def save(path, name, array):
    header = json.dumps({name: {"dtype": "F32", "shape": array.shape,
                                "data_offsets": [0, array.nbytes]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())


def replaced(folder, value):
    values = [numpy.load(pathlib.Path(folder) / f"of_{name}.npy").max() for name in LISTED]
    assert values == [value, 2, 3, 4], values


def compare(path, bound, folder=TORCH, model="mlp", factor=12):
    from differences import read_safetensors
    got, right = read_safetensors(pathlib.Path(path)), numpy.load(folder / f"{model}.grad.npz")
    assert set(right.files) <= set(got), set(right.files) - set(got)
    for name in set(got) - set(right.files):  # What the first output does not depend on.
        assert not got[name].any(), name
    for name in right.files:
        error = abs(got[name] * factor - right[name]).max() / abs(right[name]).max()
        assert error < bound, f"{name}: {error}"
    print(f"{len(right.files)} gradients")


def falls(run, share):
    losses = losses_of(run)
    assert losses[-1] < share * losses[0], losses


def losses_of(run):
    lines = (pathlib.Path(run) / "train.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


def near(got, right, bound):
    assert got.shape == right.shape, got.shape
    error = abs(numpy.float64(got) - right).max() / abs(right).max()
    assert error < bound, error


def statistics(run, bound, kind):
    from differences import read_safetensors
    path, = pathlib.Path(run).glob("step-00000020/weights.safetensors")
    got, right = read_safetensors(path), numpy.load(HERE / "batchnorm.npz")
    names = [name for name in right.files if name.startswith(kind)]
    for name in names:
        near(got[name.removeprefix(kind)], right[name], bound)
    return f"{len(names)} statistics"


def learned(run, bound):
    losses = losses_of(run)
    near(numpy.float64(losses), numpy.load(HERE / "batchnorm.npz")["losses"], bound)
    print(f"{len(losses)} losses, {statistics(run, bound, 'after:')}")


def clipped(run, bound):
    print(statistics(run, bound, "unmoved:"))


def evaluated(folder, bound):
    got, = pathlib.Path(folder).glob("*.npy")
    near(numpy.load(got), numpy.load(HERE / "batchnorm.npz")["evaluated"], bound)


if len(sys.argv) == 2:
    make(pathlib.Path(sys.argv[1]))
else:
    modes = {"compare": compare, "falls": falls, "replaced": replaced,
             "learned": learned, "clipped": clipped, "evaluated": evaluated}
    for name in "stopped", "batchnorm", "layered", "scalars":
        modes[name] = functools.partial(compare, folder=HERE, model=name, factor=1)
    for name in RECURRENT:  # Of the sum of squares, too.
        size = numpy.load(TORCH / f"{name}.out.npz")["out0"].size
        modes[name] = functools.partial(compare, model=name, factor=size)
    modes[sys.argv[2]](sys.argv[3], float(sys.argv[4]))
