"""written_models.py ANEC ANE_RUN: writes models whose names and constants are easy to get
wrong as programs, and compares what each computes with the model: the same bits in fp32, and
in fp16 where the model is compiled so, too."""
import pathlib
import subprocess
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Onnx/Inputs"))
import onnx_writer

FLOAT = numpy.float32


def infinite(graph):
    """Values that are called like numbers of the language."""
    graph.input("inf", FLOAT, [2, 3])
    graph.constant(FLOAT(-numpy.inf), "low")
    graph.constant(FLOAT(0.5), "half")
    graph.op("Greater", "inf", "half", outputs=["above"])
    graph.op("Tanh", "inf", outputs=["nan"])
    graph.op("Where", "above", "nan", "low", outputs=["y"])
    graph.output("y", FLOAT, [2, 3])


def zeros(graph):
    """Zeros with a sign, which decide the sign of a quotient."""
    graph.input("x", FLOAT, [6])
    graph.constant(FLOAT([0, -0.0, 0, -0.0, -0.0, 0]), "mixed")
    graph.constant(FLOAT(-0.0), "one")
    graph.constant(FLOAT([-0.0] * 20), "same")
    graph.constant(FLOAT(1), "unit")
    graph.op("Mul", "x", "mixed", outputs=["a"])
    graph.op("Mul", "x", "one", outputs=["b"])
    graph.op("Div", "unit", "a", outputs=["p"])
    graph.op("Div", "unit", "b", outputs=["q"])
    graph.op("Div", "unit", "same", outputs=["r"])
    for name, count in (("p", 6), ("q", 6), ("r", 20)):
        graph.output(name, FLOAT, [count])


def vectors(graph):
    """Vectors beside squares."""
    graph.input("x", FLOAT, [3, 3])
    graph.constant(FLOAT([1, 2, 3]), "row")
    graph.constant(FLOAT([0.1, 0.2, 0.3]), "weight")
    graph.op("Mul", "x", "row", outputs=["a"])
    graph.op("Sub", "weight", "a", outputs=["y"])
    graph.output("y", FLOAT, [3, 3])


def tables(graph):
    """Integers that fp16 lacks, in more than a few."""
    draw = numpy.random.default_rng(1)
    graph.input("x", FLOAT, [5000])
    graph.constant(draw.integers(0, 5000, 5000).astype(numpy.int64), "table")
    graph.op("Gather", "x", "table", outputs=["y"])
    graph.output("y", FLOAT, [5000])


def names(graph):
    """Weights of layers and a constant whose names are spelled alike."""
    draw = numpy.random.default_rng(1)
    graph.input("x", FLOAT, [2, 6])
    graph.constant(draw.integers(0, 2, (72, 72)).astype(bool), "w.1")
    value = "x"
    for layer in range(3):
        graph.constant(draw.standard_normal((6, 6)).astype(FLOAT), f"w_{layer}")
        graph.op("MatMul", value, f"w_{layer}", outputs=[f"m{layer}"])
        value = f"m{layer}"
        for step, kind in enumerate(("Tanh", "Sigmoid", "Relu", "Abs")):
            graph.op(kind, value, outputs=[f"v{layer}{step}"])
            value = f"v{layer}{step}"
    graph.op("Cast", "w.1", outputs=["mask"], to=1)
    graph.op("ReduceMax", value, outputs=["most"], keepdims=0)
    graph.op("Mul", "mask", "most", outputs=["y"])
    graph.output("y", FLOAT, [72, 72])


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, (command, done.stderr)


def numbers(ane_run, program, given, folder):
    run(ane_run, program, "--input", given, "--numerics=fp32", f"--output-dir={folder}")
    return {path.stem: numpy.load(path).ravel() for path in pathlib.Path(folder).glob("*.npy")}


def main():
    anec, ane_run = sys.argv[1:]
    for make in (infinite, zeros, vectors, tables, names):
        graph, name = onnx_writer.Graph(), make.__name__
        make(graph)
        graph.save(f"{name}.onnx", opset=17)
        given = "in.npy"
        source = graph.inputs[0]["name"]
        shape = [5000] if make is tables else [2, 6] if make is names else None
        shape = shape or {"infinite": [2, 3], "zeros": [6], "vectors": [3, 3]}[name]
        numpy.save(given, numpy.random.default_rng(2).standard_normal(shape).astype(FLOAT))
        run(anec, f"{name}.onnx", "-o", f"{name}.tdsl")
        called = source + "_" if source == "inf" else source
        for precision in ("fp32", "fp16"):
            run(anec, f"{name}.onnx", f"--precision={precision}", "-o", "direct.mil")
            run(anec, f"{name}.tdsl", f"--weights={name}.safetensors", f"--precision={precision}",
                "-o", "text.mil")
            right = numbers(ane_run, "direct.mil", f"{source}={given}", f"{name}-{precision}")
            got = numbers(ane_run, "text.mil", f"{called}={given}", f"{name}-{precision}-text")
            assert right and right.keys() == got.keys(), (name, right.keys(), got.keys())
            for key, array in right.items():
                near = 0 if precision == "fp32" else 4e-3
                numpy.testing.assert_allclose(got[key], array, near, near, err_msg=f"{name} {key}")
        print(name)


main()
