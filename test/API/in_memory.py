"""Compiles, runs and trains where no temporary folder can be made, and compares with
packages on the disk.

usage: in_memory.py FOLDER"""
import json
import os
import sys

import anec
import numpy

FOLDER = sys.argv[1]
KERNEL = """kernel linear(x: fp16[16, 8]) -> fp16[4, 8] {
  weight w: fp16[4, 16];
  return relu(w @ x);
}
"""
MODEL = """layer dense(x: fp16[16, 8]) -> fp16[4, 8] {
  weight w: fp16[4, 16];
  return w @ x;
}
model classify(x: fp16[16, 8], labels: int32[8]) -> fp32 {
  return cross_entropy(dense(x), labels);
}
"""
X = numpy.linspace(-1, 1, 128).reshape(16, 8)
INPUTS = {"x": X, "labels": numpy.arange(8) % 4}


def path(name):
    return os.path.join(FOLDER, name)


def same(one, other):
    """Whether two runs have the same outputs."""
    return one.keys() == other.keys() and all(
        numpy.array_equal(one[name], other[name]) for name in one)


def test_kernel():
    program = anec.compile_text(KERNEL, seed=7)
    (y,) = anec.Session(program).run({"x": X}).values()
    for name in "k.mil", "k.mlpackage":
        program.write(path(name))
        (written,) = anec.Session(path(name)).run({"x": X}).values()
        # A Core ML package has the shapes of the source.
        assert (numpy.ravel(written) == numpy.ravel(y)).all(), name


def losses(program, **options):
    """Of each step of a training."""
    trainer = anec.Trainer(anec.Session(program, **options))
    return [trainer.step(INPUTS).loss for _ in range(3)]


def test_model():
    for options in {"forward_only": True}, {}:
        inside = anec.compile_text(MODEL, seed=7, **options)
        outside = anec.compile_text(MODEL, seed=7, folder=path("m.anepkg"), **options)
        session = anec.Session(inside)
        expected = anec.Session(outside).run(INPUTS)
        assert inside.predict("m4") == outside.predict("m4")
        assert ([f.message for f in inside.check("m1")]
                == [f.message for f in outside.check("m1")])
        inside.write(path("copy.anepkg"))
        assert same(anec.Session(path("copy.anepkg")).run(INPUTS), expected)
        del inside
        assert same(session.run(INPUTS), expected)


def test_training():
    program = anec.compile_text(MODEL, seed=7)
    package = anec.compile_text(MODEL, seed=7, folder=path("t.anepkg"))
    assert losses(program) == losses(program) == losses(package)


def test_names():
    """A package has the map of names that it was compiled with, for weights that a session
    gets."""
    with open(path("n.tdsl"), "w") as file:
        file.write(MODEL)
    with open(path("n.names.json"), "w") as file:
        json.dump({"dense.w": "other.name"}, file)
    os.makedirs(path("weights"), exist_ok=True)
    numpy.save(path("weights/other.name.npy"),
               numpy.linspace(0, 1, 64, dtype=numpy.float32).reshape(4, 16))
    names = {"weight_map": path("n.names.json")}
    package = anec.compile(path("n.tdsl"), folder=path("n.anepkg"), **names)
    program = anec.compile(path("n.tdsl"), **names)
    os.remove(path("n.names.json"))
    weights = {"weights": path("weights")}
    assert losses(program, **weights) == losses(package, **weights)


def test_calibration():
    with open(path("k.tdsl"), "w") as file:
        file.write(KERNEL.replace("[16, 8]", "[64, 8]").replace("[4, 16]", "[64, 64]")
                   .replace("[4, 8]", "[64, 8]"))
    x = numpy.linspace(-1, 1, 512, dtype=numpy.float16).reshape(64, 8)
    numpy.save(path("x.npy"), x)
    program = anec.compile(path("k.tdsl"), seed=7, quantize="int8",
                           calibrate={"x": path("x.npy")})
    (y,) = anec.Session(program).run({"x": x}).values()
    assert numpy.isfinite(numpy.asarray(y)).all()


def test_folder():
    program = anec.compile_text(MODEL, seed=7)
    try:
        program.folder
    except anec.Error as error:
        assert error.status == 3 and "/none/anec-" in str(error), error
        assert "No such file or directory" in str(error), error
    else:
        raise AssertionError("a folder was made")
    os.environ["TMPDIR"] = FOLDER
    folder = program.folder
    assert folder == program.folder and os.path.isfile(os.path.join(folder, "manifest.json"))
    session = anec.Session(program)
    del program
    assert os.path.isdir(folder)
    assert same(session.run(INPUTS), anec.Session(folder).run(INPUTS))
    del session
    assert not os.path.exists(folder)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
