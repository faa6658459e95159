"""What the Python module does and refuses.

usage: api.py FOLDER"""
import copy
import gc
import json
import math
import os
import pickle
import sys
import warnings

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


def raises(error, function, *args, **named):
    try:
        function(*args, **named)
    except error as raised:
        return raised
    raise AssertionError(f"nothing was raised: {args} {named}")


def refuses_to_write(program, name, **options):
    path = os.path.join(FOLDER, name)
    error = raises(anec.Error, program.write, path, **options)
    assert error.status == 2 and "ends in none of" in str(error), error
    assert not os.path.exists(path)


def test_errors():
    error = raises(anec.Error, anec.compile_text,
                   "kernel k(x: fp16[2]) -> fp16[2] {\n  return relu(y);\n}\n",
                   "k.tdsl")
    assert error.status == 1
    (found,) = error.diagnostics
    assert (found.severity, found.file, found.line, found.column) == (
        "error", "k.tdsl", 2, 15), found
    assert "return relu(y);" in str(error)
    assert raises(anec.Error, anec.compile, "/nowhere.tdsl").status == 1
    error = raises(anec.Error, anec.compile_text, KERNEL, target="m0")
    assert error.status == 2 and error.diagnostics[0].id == "no-such-target"
    assert "`fuze`; did you mean 'fuse'?" in str(
        raises(TypeError, anec.compile_text, KERNEL, fuze="max"))


def test_choices():
    """An option of a few values lists them, and says which one was meant."""
    program = anec.compile_text(KERNEL, seed=7)
    model = anec.Session(anec.compile_text(MODEL, seed=7))
    package = os.path.join(FOLDER, "k.mlpackage")
    compiles = lambda **named: anec.compile_text(KERNEL, **named)
    opens = lambda **named: anec.Session(program, **named)
    writes = lambda **named: program.write(package, **named)
    for function, name, wrong, values, meant in (
            (compiles, "weight_mode", "bake", ("auto", "packed", "baked"), "baked"),
            (compiles, "io", "separated", ("packed", "separate"), "separate"),
            (compiles, "fuse", "Max", ("default", "max"), "max"),
            (compiles, "precision", "fp8", (None, "fp16", "fp32"), "fp16"),
            (compiles, "framework", "core-ml", (None, "in-memory", "coreml", "e5"), "coreml"),
            (compiles, "mil_version", "1.2", (None, "1.0", "1.3"), "1.3"),
            (opens, "numerics", "fp23", anec._session.NUMERICS, "fp32"),
            (writes, "interface", "fp61", (None, "fp16", "fp32"), "fp16"),
            (lambda draft: model.generate("ab", draft=draft), "draft", "look",
             ("lookup",), "lookup"),
            (lambda entry: model.role(entry), "entry", "classify.trian",
             ("classify.train",), "classify.train"),
            (lambda entry: model.trains(entry), "entry", "classify.trian",
             ("classify.train",), "classify.train")):
        text = str(raises(ValueError, function, **{name: wrong}))
        assert text.startswith(f"`{name}` is one of "
                               f"{', '.join(map(repr, values))}, not {wrong!r}"), text
        assert text.endswith(f"; did you mean {meant!r}?") or wrong == "fp8", text
        assert "did you mean" not in str(raises(ValueError, function, **{name: "xyzzy"}))
    # What the library reads itself.
    for function, name, wrong, values in (
            (compiles, "target", "m9", ("`m1`", "`m4`")),
            (compiles, "assume", "op-limit=alow", ("allow", "deny")),
            (compiles, "macos", "sequoia", ("15.6",)),
            (compiles, "loss", "msee", ("output, mse, cross-entropy",)),
            (opens, "backend", "gpu", ("`cpu`",)),
            (writes, "deployment", "macos99", ("macos12", "macos26", "ios15", "ios26"))):
        error = raises(anec.Error, function, **{name: wrong})
        assert error.status == 2, error
        assert all(value in str(error) for value in (wrong, *values)), str(error)
    text = str(raises(TypeError, anec.Trainer, model, learning_rat=1))
    assert "did you mean 'learning_rate'?" in text and "weight_decay" in text, text


def test_arguments():
    # What is wrong with an argument is said by its name.
    for named in ({"seed": -1}, {"seed": 2 ** 64}, {"io": "both"}, {"kernel": "linear\0"}):
        name = next(iter(named))
        assert f"`{name}`" in str(raises(ValueError, anec.compile_text, KERNEL, **named))
    raises(TypeError, anec.compile_text, KERNEL, seed="7")
    program = anec.compile_text(KERNEL, seed=7)
    for named in ({"numerics": "m9"}, {"threads": -1}):
        name = next(iter(named))
        assert f"`{name}`" in str(raises(ValueError, anec.Session, program, **named))
    raises(TypeError, anec.Session(program).run, {1: numpy.ones((16, 8))})
    # C would open the file in front of the null character.
    path = os.path.join(FOLDER, "k.tdsl")
    with open(path, "w") as file:
        file.write(KERNEL)
    for path in (path + "\0x", path.encode() + b"\0x"):
        for function in (anec.compile, anec.Session, lambda path: anec.check(path, "m1")):
            assert "null" in str(raises(ValueError, function, path))
    # An error goes from one process to another.
    error = raises(anec.Error, anec.compile, "/nowhere.tdsl")
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (other.status, str(other), other.diagnostics) == (
            error.status, str(error), error.diagnostics)


FLEXIBLE = """program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}})]
{
    func main<ios18>(tensor<fp16, [1, ?, 4]> x) {
        tensor<fp16, [1, ?, 4]> y = relu(x = x)[name = string("y")];
    } -> (y);
}
"""


def test_shapes():
    path = os.path.join(FOLDER, "flexible.mil")
    with open(path, "w") as file:
        file.write(FLEXIBLE)
    raises(anec.Error, anec.Session, path)
    for extents in (1, 7, 3):
        session = anec.Session(path, shapes={"x": (1, numpy.int64(extents), 4)})
        assert session.inputs()[0].shape == (1, extents, 4)
        y = session.run({"x": numpy.full((1, extents, 4), 2)})["y"]
        assert y.shape == (1, extents, 4) and (y == 2).all()
    assert "[1, 5, 4]" in anec.compile(path, shapes={"x": [1, 5, 4]}).mil
    assert anec.check(path, "m1", shapes={"x": (1, 5, 4)}) is not None
    assert anec.predict(path, "m1", shapes={"x": (1, 5, 4)})
    for shapes in ({"x": (1, 5, 3)}, {"x": (1, 0, 4)}, {"x": ()}, {"z": (1, 5, 4)}):
        raises(anec.Error, anec.Session, path, shapes=shapes)
    for shapes in ({"x": (1, 5.0, 4)}, ["x=1x5x4"], {"x": 5}):
        raises(TypeError, anec.Session, path, shapes=shapes)


def test_kernel():
    program = anec.compile_text(KERNEL, seed=7)
    assert not program.is_model and program.folder is None
    assert "func main<ios18>" in program.mil
    path = os.path.join(FOLDER, "linear.mil")
    program.write(path)
    session = anec.Session(program)
    (port,) = session.inputs()
    assert port == anec.Port("x", numpy.float16, (1, 16, 1, 8), "input"), port
    x = numpy.linspace(-1, 1, 128, dtype=numpy.float32).reshape(16, 8)
    y = session.run({"x": x})["output"]
    assert y.dtype == numpy.float16 and y.shape == (1, 4, 1, 8)
    assert y.min() >= 0 and y.max() > 0
    # Any float, any order in memory, and what was written.
    for other in x.astype(numpy.float16), x.astype(float), numpy.asfortranarray(x):
        assert numpy.array_equal(session.run({"x": other})["output"], y)
    assert numpy.array_equal(anec.Session(path).run({"x": x})["output"], y)
    # The ending says what is written; the program stays as it is.
    for name in "linear.mlpackage", "linear.mlmodelc":
        program.write(os.path.join(FOLDER, name))
        other = anec.Session(os.path.join(FOLDER, name)).run({"x": x})["output"]
        # A package has the shapes that the kernel declares.
        assert other.shape == (4, 8) and numpy.array_equal(other.reshape(y.shape), y), name
    # What it says of itself, as a dict and as a file.
    words = {"author": "Ada", "inputs": {"x": {"name": "columns", "default": 0.5}}}
    with open(os.path.join(FOLDER, "words.json"), "w") as file:
        json.dump(words, file)
    for describe in words, os.path.join(FOLDER, "words.json"):
        named = os.path.join(FOLDER, "named.mlpackage")
        program.write(named, describe=describe, deployment="macos13", interface="fp32")
        other = anec.Session(named).run({"columns": x})["output"]
        assert other.dtype == numpy.float32 and numpy.array_equal(other.reshape(y.shape), y)
    wrong = raises(anec.Error, program.write, named, describe={"autor": "Ada"})
    assert wrong.status == 1 and wrong.diagnostics[0].id == "describe-key", wrong
    assert (wrong.diagnostics[0].line, wrong.diagnostics[0].column) == (1, 2)
    for options in {"deployment": "macos99"}, {"describe": words, "deployment": ""}:
        assert raises(anec.Error, program.write, named, **options).status == 2
    raises(ValueError, program.write, named, interface="fp64")
    refuses_to_write(program, "k.mil", describe=words)
    again = os.path.join(FOLDER, "again", "linear.mil")
    os.makedirs(os.path.dirname(again))
    program.write(again)
    with open(path) as first, open(again) as second:
        assert first.read() == second.read()
    for name in "k.mlpakage", "k.onnx", "k", "k.MIL", "k.anepkg":
        refuses_to_write(program, name)
    exact = anec.Session(program, numerics="fp32").run({"x": x})["output"]
    assert exact.dtype == numpy.float32 and abs(exact - y).max() < 1e-2
    # Integers that the type can hold; the negative ones are not cut off by relu.
    minus = session.run({"x": numpy.full((16, 8), -1, int)})["output"]
    assert minus.max() > 0
    assert numpy.array_equal(minus, session.run({"x": numpy.full((16, 8), -1.0)})["output"])

    ids = lambda error: [found.id for found in error.diagnostics]
    assert ids(raises(anec.Error, session.run, {"z": x})) == ["no-such-input"]
    assert ids(raises(anec.Error, session.run, {})) == ["array-missing"]
    assert ids(raises(anec.Error, session.run, {"x": x.T})) == ["array-shape"]
    raises(TypeError, session.run, {"x": x.astype(complex)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.run({"x": numpy.full((16, 8), 1e6, numpy.float32)})
    assert [warning.category for warning in caught] == [anec.Warning]
    assert session.weights == {} and session.gradients == {}
    assert raises(anec.Error, anec.Trainer, session).status == 2


SQUARE = """kernel square(x: fp32[1, 8]) -> (y: fp32[1, 8]) {
  return relu(x * x - 1.0);
}
"""


def test_several_shapes():
    """A package keeps the shapes that inputs of its source can have."""
    models = os.path.join(os.path.dirname(__file__), "..", "CoreML", "Inputs", "flexible")
    source, kept = os.path.join(models, "range.mlpackage"), os.path.join(FOLDER, "kept.mlpackage")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The default shape is taken.
        program = anec.compile(source)
    program.write(kept)
    for rows in 3, 9:
        shapes = {"x": (1, rows, 48)}
        x = numpy.random.default_rng(rows).standard_normal(shapes["x"]).astype("f")
        one, other = (anec.Session(anec.compile(path, shapes=shapes)).run({"x": x})
                      for path in (source, kept))
        assert all(numpy.array_equal(one[name], other[name]) for name in one), rows
    # A shape that was asked for is the only one, and so is what options change.
    anec.compile(source, shapes=shapes).write(kept)
    raises(anec.Error, anec.compile, kept, shapes={"x": (1, 3, 48)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program.write(kept, interface="fp32")
    assert any("can have several shapes" in str(one.message) for one in caught), caught


def test_precision():
    def type_of_product(**options):
        mil = anec.compile_text(SQUARE, **options).mil
        return mil.split("> mul = mul(")[0].rsplit("tensor<", 1)[1].split(",")[0]

    small, large = numpy.full((1, 8), 3), numpy.full((5, 1, 8), 300.0)
    path = os.path.join(FOLDER, "large.npy")
    numpy.save(path, large)
    assert type_of_product() == type_of_product(precision="fp32") == "fp32"
    assert type_of_product(precision="fp16") == "fp16"
    # Examples, in memory or in files, say that fp16 does not hold a product.
    for value, wanted in ((small + 0.5, "fp16"), (large, "fp32"), (path, "fp32")):
        assert type_of_product(precision="fp16", calibrate={"x": value}) == wanted, value
    for value, error in ((path + "x", anec.Error), (numpy.ones(3), anec.Error),
                         (small, anec.Error), ("x.txt", anec.Error), ("a", anec.Error),
                         (["a"], TypeError)):
        raises(error, type_of_product, precision="fp16", calibrate={"x": value})
    raises(anec.Error, type_of_product, precision="fp16", calibrate={"z": large})
    error = raises(anec.Error, type_of_product, calibrate={"x": large})
    assert error.diagnostics[0].id == "bad-argument", error
    raises(ValueError, type_of_product, precision="bf16")
    source = os.path.join(FOLDER, "square.tdsl")
    with open(source, "w") as file:
        file.write(SQUARE)
    program = anec.compile(source, precision="fp16", calibrate={"x": large})
    y = anec.Session(program).run({"x": numpy.full((1, 8), 100)})["y"]
    assert (y == 9999).all() or abs(y - 9999).max() <= 4, y
    assert anec.predict(source, "m1", precision="fp16", calibrate={"x": large})
    assert anec.check(source, "m1", precision="fp16", calibrate={"x": large}) is not None


def test_model():
    program = anec.compile_text(MODEL, seed=7)
    folder = program.folder
    assert program.is_model and program.mil is None and os.path.isdir(folder)
    # Not compiled for a chip: rows of its inputs are not padded for one.
    found = program.check("m1")
    assert not any(f.is_error for f in found)
    assert program.check("m1", framework="coreml", macos="26.1") is not None
    raises(ValueError, program.check, "m1", framework="coremltools")
    assert raises(anec.Error, program.check, "m1", macos="sequoia").status == 2
    assert "io-row-64" in {f.rule for f in found if f.impact == "layout"}
    (cost,) = program.predict("m4")
    assert cost.name == "classify.train" and cost.microseconds > 0
    program.write(os.path.join(FOLDER, "copy.anepkg"))
    for name in "m.mil", "m.mlpackage", "m":
        refuses_to_write(program, name)
    session = anec.Session(program)
    assert session.entries == ["classify.train"] and session.trains("classify.train")
    roles = {port.name: port.role for port in session.inputs("classify.train")}
    assert sorted(roles.values()) == ["input", "loss-scale", "target"], roles
    assert [port.role for port in session.outputs()] == ["loss"]
    assert session.role("classify.train") == "train"

    # Columns differ, so that their labels can be told apart.
    x = numpy.random.default_rng(0).normal(size=(16, 8)).astype(numpy.float16)
    inputs = {"x": x, "labels": numpy.arange(8) % 4}
    raises(ValueError, session.run, {"x": x, "labels": [1 << 40] * 8},
           "classify.train")
    loss = session.run(inputs, "classify.train")["output"]
    assert loss.shape == () and loss.dtype == numpy.float32
    gradient = session.gradients["dense.w"]
    weight = session.weights["dense.w"]
    assert gradient.shape == weight.shape == (4, 16) and gradient.any()

    # The weights are the session's own memory, and keep it.
    weight[:] = 0
    session.weights_changed()
    assert session.run(inputs, "classify.train")["output"] != loss
    trainer = anec.Trainer(session, warmup=0, learning_rate=0.1)
    losses = [trainer.step(inputs).loss for _ in range(10)]
    assert losses[-1] < losses[0]
    trainer.accumulate(inputs)
    assert trainer.update().step == 11
    assert raises(anec.Error, trainer.update).diagnostics[0].id == (
        "nothing-accumulated")
    raises(TypeError, anec.Trainer, session, warm=1)
    assert "takes a Session, not Program" in str(raises(TypeError, anec.Trainer, program))
    assert "takes a Session, not int" in str(raises(TypeError, anec.Trainer, 3))
    kernel = anec.Session(anec.compile_text(KERNEL, seed=1))
    error = raises(anec.Error, anec.Trainer, kernel)
    assert error.status == 2 and error.diagnostics[0].message == (
        "no entry computes a loss with gradients; there are `main`"), error
    error = raises(anec.Error, anec.Trainer, kernel, "main")
    assert error.diagnostics[0].message == (
        "entry `main` does not compute a loss with gradients; there are `main`"), error
    assert raises(anec.Error, anec.Trainer, session, beta1=2).status == 2

    path = os.path.join(FOLDER, "trained.safetensors")
    session.save_weights(path)
    other = anec.Session(os.path.join(FOLDER, "copy.anepkg"), weights=path)
    assert numpy.array_equal(other.weights["dense.w"], weight)
    del program, session, trainer
    gc.collect()
    assert weight.any() and os.path.isdir(folder)
    del weight, gradient
    gc.collect()
    assert not os.path.exists(folder)


def test_masks():
    session = anec.Session(anec.compile_text("""
        model m(x: fp16[8, 8]) -> fp32 {
          weight w: fp16[8, 8];
          y = w @ dropout(x, rate = 0.5);
          return mean(cast(y * y, fp32), axes = [0, 1]);
        }""", "masks.tdsl"), seed=1)
    inputs = {"x": numpy.ones((8, 8), numpy.float16)}
    first, second, other, default = [
        anec.Trainer(session, learning_rate=0, **seed).accumulate(inputs)
        for seed in [{"seed": 3}, {"seed": 3}, {"seed": 4}, {}]]
    assert first == second
    assert len({first, other, default}) == 3


def test_states():
    program = anec.compile_text("""program(1.3) {
      func main<ios18>(state<tensor<fp16, [2]>> k, tensor<fp16, [2]> x) {
        tensor<fp16, [2]> before = read_state(input = k);
        tensor<fp16, [2]> y = add(x = before, y = x);
        write_state(data = y, input = k);
      } -> (y);
    }""", "sum.mil")
    session = anec.Session(program)
    session.set_state("k", numpy.array([1, 2], numpy.float16))
    session.run({"x": [10, 20]})
    session.run({"x": [10, 20]})
    assert session.get_state("k", numpy.empty(2)).tolist() == [21, 42]


def test_rules():
    rule = anec.explain("op-limit")
    assert rule.id == "op-limit" and rule.summary in rule.text
    assert raises(anec.Error, anec.explain, "op-limits").status == 2
    source = os.path.join(FOLDER, "linear.tdsl")
    with open(source, "w") as file:
        file.write(KERNEL)
    # Compiled for the chip that it is checked for: warnings at most.
    found = anec.check(source, "m1", seed=1)
    assert found and not [f for f in found if f.is_error], found
    (cost,) = anec.predict(source, "m1", seed=1)
    assert cost.dispatches == 1 and cost.tasks >= 1
    assert (cost,) == tuple(anec.predict(source, "h13", seed=1))


def test_logs():
    log = b"ok\n\x1b[31mInvalidMILProgram\x1b[0m\n" \
          b"Error Domain=com.apple.appleneuralengine Code=6\n\xff\x00\n"
    known, unknown = anec.explain_log_text(log)
    assert (known.id, known.lines, known.first_line) == ("ane-invalid-program", 1, 2)
    assert known.text == "InvalidMILProgram" and "untyped-literal" in known.rules
    assert known.cause and known.remedy and known.source and not known.is_vague
    assert (unknown.id, unknown.cause, unknown.first_line) == ("", "", 3)
    path = os.path.join(FOLDER, "console.txt")
    with open(path, "wb") as file:
        file.write(log)
    assert anec.explain_log(path) == [known, unknown]
    assert anec.explain_log_text("") == []
    assert raises(anec.Error, anec.explain_log, path + "x").status == 1


def test_text():
    bytes_ = anec.Tokenizer()
    assert bytes_.vocabulary == 256
    assert bytes_.encode("abc").tolist() == [97, 98, 99]
    assert bytes_.decode([97, 98]) == b"ab"
    assert raises(anec.Error, bytes_.decode, [300]).status == 2
    path = os.path.join(FOLDER, "text.txt")
    with open(path, "w") as file:
        file.write("abcdefghijklmnopqrstuvwxyz" * 4)
    windows = anec.Windows(path, 5, validation=0)
    tokens, targets = next(windows)
    assert windows.count == 20 and tokens.dtype == numpy.int32
    assert tokens[1:].tolist() == targets[:-1].tolist()
    raises(anec.Error, anec.Windows, path, 0)


def test_generation():
    model = anec.compile(sys.argv[2], seed=1, forward_only=True, defines={
        "layers": 1, "dim": 16, "hidden": 32, "heads": 2, "kv_heads": 1, "seq": 8,
        "vocab": 256})
    session = anec.Session(model)
    pieces = []
    text = session.generate("ab", tokens=5, callback=pieces.append)
    assert text.startswith("ab") and text == "".join(pieces)
    assert text == session.generate("ab", tokens=5)

    class Enough(Exception):
        pass

    def stop(piece):
        if len(pieces) > 3:
            raise Enough
        pieces.append(piece)

    pieces = []
    raises(Enough, session.generate, "ab", tokens=1000, callback=stop)
    assert len(pieces) == 4
    raises(anec.Error, session.generate, "ab", temperature=-1)
    raises(anec.Error, session.generate, "ab", min_p=2)
    raises(anec.Error, session.generate, "ab", repeat_penalty=0)
    raises(anec.Error, session.generate, "ab", stop="")
    raises(anec.Error, session.generate, [1, 256])
    raises(anec.Error, session.generate, [])
    raises(ValueError, session.generate, [1 << 40])
    raises(anec.Error, session.generate, "ab", keep=7)
    raises(anec.Error, session.generate, "ab", draft=session)
    raises(ValueError, session.generate, "ab", draft="look")

    found = []
    assert session.generate([97, 98], tokens=6, echo=False,
                            token_callback=lambda *token: found.append(token)) == ""
    assert len(found) == 6 and all(0 <= id < 256 and p < 0 for id, p in found)
    greedy = {"tokens": 12, "temperature": 0}
    whole = session.generate("ab", **greedy)
    new = session.generate("ab", echo=False, **greedy)
    assert whole == "ab" + new
    assert session.generate("ab", stop=new[2:4], echo=False, **greedy) \
        == new[:new.find(new[2:4])]
    assert session.generate("ab", top_k=1, tokens=12) == whole
    assert session.generate("ab", draft="lookup", **greedy) == whole
    small = anec.compile(sys.argv[2], seed=2, forward_only=True, defines={
        "layers": 1, "dim": 8, "hidden": 16, "heads": 2, "kv_heads": 1, "seq": 8,
        "vocab": 256})
    assert session.generate("ab", draft=anec.Session(small), draft_tokens=2, **greedy) \
        == whole


def losses(session, ids, window, stride):
    """The loss of each token, from the logits of windows."""
    found = []
    for begin in range(0, len(ids) - 1, stride):
        part = ids[begin:begin + window + 1]
        tokens = numpy.zeros(8, numpy.int32)
        tokens[:len(part) - 1] = part[:-1]
        outputs = session.run({"tokens": tokens, "targets": tokens})
        (logits,) = [outputs[port.name] for port in session.outputs()
                     if port.role == "logits"]
        logits = numpy.asarray(logits, numpy.float64).reshape(256, 8).T
        logits -= logits.max(1, keepdims=True)
        logits -= numpy.log(numpy.exp(logits).sum(1, keepdims=True))
        new = 0 if begin == 0 else window - stride
        found += [(begin + i, -logits[i, part[i + 1]])
                  for i in range(new, len(part) - 1)]
    assert [place for place, _ in found] == list(range(len(ids) - 1))
    return numpy.array([loss for _, loss in found])


def test_evaluation():
    sessions = [anec.Session(anec.compile(
        sys.argv[2], seed=seed, forward_only=True, defines={
            "layers": 1, "dim": 16, "hidden": 32, "heads": 2, "kv_heads": 1,
            "seq": 8, "vocab": 256})) for seed in (1, 2)]
    path = os.path.join(FOLDER, "evaluated.txt")
    text = b"some text that is evaluated, of 51 bytes, in parts"
    with open(path, "wb") as file:
        file.write(text)
    ids = numpy.frombuffer(text, numpy.uint8)
    for window, stride in ((8, 8), (8, 3), (5, 5)):
        expected = [losses(session, ids, window, stride) for session in sessions]
        result = sessions[0].evaluate(path, window=window, stride=stride,
                                      baseline=sessions[1])
        assert result.tokens == len(ids) - 1
        assert abs(result.loss - expected[0].mean()) < 1e-4
        assert abs(result.baseline_loss - expected[1].mean()) < 1e-4
        change = expected[0] - expected[1]
        assert abs(result.loss_change - change.mean()) < 1e-4
        assert abs(result.loss_change_error
                   - change.std(ddof=1) / len(change) ** 0.5) < 1e-4
        assert abs(result.perplexity - math.exp(expected[0].mean())) < 0.05
    alone = sessions[0].evaluate([path], tokens=10)
    assert alone.tokens == 10 and alone.divergence is None

    seen = []
    sessions[0].evaluate(path, callback=lambda *progress: seen.append(progress))
    assert seen[-1][:2] == (len(ids) - 1, len(ids) - 1)

    class Enough(Exception):
        pass

    def stop(done, tokens, perplexity):
        raise Enough

    raises(Enough, sessions[0].evaluate, path, callback=stop)
    raises(anec.Error, sessions[0].evaluate, path + "x")
    raises(anec.Error, sessions[0].evaluate, path, window=9)
    raises(anec.Error, sessions[0].evaluate, path, window=4, stride=5)
    raises(anec.Error, sessions[0].evaluate, path, baseline=sessions[0])
    raises(anec.Error, sessions[0].evaluate, path, mark_beginning=True)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
print(anec.__version__)
