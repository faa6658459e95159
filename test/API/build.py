"""`anec.build` writes what `anec` writes, byte by byte, and `anec.diff` says what `anec diff`
says. What an output cannot have is refused.

usage: build.py EXAMPLES, in a folder of its own"""
import json
import os
import pathlib
import subprocess
import sys

import anec
import numpy

EXAMPLES = pathlib.Path(sys.argv[1])
BASE = pathlib.Path("base.mlpackage")
SMALL = {"layers": 1, "dim": 64, "hidden": 64, "heads": 2, "kv_heads": 1, "seq": 8,
         "vocab": 256}


def files(path):
    path = pathlib.Path(path)
    if path.is_file():
        weights = path.parent / "weights" / f"{path.stem}.bin"
        return {each.name: each.read_bytes() for each in (path, weights) if each.exists()}
    return {each.relative_to(path): each.read_bytes() for each in path.rglob("*")
            if each.is_file()}


def tool(*args):
    return subprocess.run(["anec", *map(str, args)], capture_output=True, text=True)


def same(source, name, flags, **options):
    """Both write the same; gives the output of Python."""
    theirs, ours = pathlib.Path("tool", name), pathlib.Path("python", name)
    made = tool(source, *flags, "-o", theirs)
    assert made.returncode == 0, made.stderr
    anec.build(source, ours, **options)
    assert files(theirs) == files(ours) != {}, (source, flags)
    return ours


def raises(error, called, *args, **named):
    try:
        called(*args, **named)
    except error as raised:
        return str(raised)
    raise AssertionError(f"nothing was raised: {args} {named}")


def test_outputs():
    source = EXAMPLES / "mlp.tdsl"
    for name, flags, options in (
            ("a.mil", ["--init=7"], {"seed": 7}), ("a.ir", [], {}),
            ("c.mil", ["--init=7", "--canonical", "--skip-passes=cse"],
             {"seed": 7, "canonical": True, "skip_passes": "cse"}),
            ("p.ir", ["--passes=decompose,dce"], {"passes": ["decompose", "dce"]}),
            ("a.mlpackage", ["--init=7", "--deployment=macos13", "--interface=fp32"],
             {"seed": 7, "deployment": "macos13", "interface": "fp32"}),
            ("a.mlmodelc", ["--init=7"], {"seed": 7}),
            ("a.json", ["--init=7", "--emit=json", "--target=m1"],
             {"seed": 7, "emit": "json", "target": "m1"})):
        same(source, name, flags, **options)
    same(EXAMPLES / "llama.tdsl", "l.anepkg",
         ["--forward-only", "--init=1", *(f"--define={n}={v}" for n, v in SMALL.items())],
         forward_only=True, seed=1, defines=SMALL)
    same(EXAMPLES / "llama.tdsl", "d.anepkg",
         ["--decode", "--context=16", "--batch=2", "--init=1", "--block=1,2",
          "--prefill=4", "--ladder=8", *(f"--define={n}={v}" for n, v in SMALL.items())],
         decode=True, context=16, batch=2, seed=1, block=(1, 2), prefill=4, ladder=[8],
         defines=SMALL)
    same(EXAMPLES / "llama.tdsl", "s.mlpackage",
         ["--decode", "--context=16", "--cache=state", "--init=1",
          *(f"--define={n}={v}" for n, v in SMALL.items())],
         decode=True, context=16, cache="state", seed=1, defines=SMALL)
    same(EXAMPLES / "llama.tdsl", "t.anepkg",
         ["--lora=rank=2,targets=wq:wv", *(f"--define={n}={v}" for n, v in SMALL.items())],
         lora="rank=2,targets=wq:wv", defines=SMALL)


def test_quantized():
    source = BASE
    anec.build(EXAMPLES / "mlp.tdsl", source, seed=3)
    inputs = {port.name: numpy.random.default_rng(1).standard_normal(port.shape)
              for port in anec.Session(source).inputs()}
    for name, value in inputs.items():
        numpy.save(f"{name}.npy", value)
    examples = [f"--calibrate={name}={name}.npy" for name in inputs]
    for form in "int8", "int4:group=16", "lut4", "lut6:per-channel":
        same(source, "q.mlpackage", [f"--quantize={form}"], quantize=form)
    same(source, "c.mlpackage", ["--quantize=int4", *examples], quantize="int4",
         calibrate=inputs)
    same(source, "w.mlpackage", ["--quantize=w8a8", "--activation-scales=per-tensor",
                                 "--activation-margin=1.25", *examples],
         quantize="w8a8", calibrate=inputs, activation_scales="per-tensor",
         activation_margin=1.25)
    ours = same(source, "r.mlpackage", ["--quantize=int8", "--quantize-report=tool.json",
                                        "--quantize-skip=*w1"],
                quantize="int8", quantize_report="python.json", quantize_skip="*w1")
    assert files("tool.json")["tool.json"] == files("python.json")["python.json"]
    # A quantized program can be run before it is written, and is near the other.
    anec.compile(source, quantize="int8", quantize_skip=["*w1"]).write("again.mlpackage")
    whole, small, again = (anec.Session(path).run(inputs)
                           for path in (source, ours, "again.mlpackage"))
    for name, value in whole.items():
        assert numpy.array_equal(small[name], again[name])
        assert not numpy.array_equal(small[name], value)
        assert abs(small[name] - value).max() < 0.1 * abs(value).max()
    # A language model is quantized by text.
    with open("text.txt", "w") as file:
        file.write("some text to be read. " * 20)
    define = [f"--define={n}={v}" for n, v in SMALL.items()]
    same(EXAMPLES / "llama.tdsl", "l.anepkg",
         ["--forward-only", "--init=1", "--quantize=int8", "--calibrate=text.txt",
          "--calibrate-tokens=64", *define],
         forward_only=True, seed=1, quantize="int8", calibrate="text.txt",
         calibrate_tokens=64, defines=SMALL)


def test_refused():
    source, package = EXAMPLES / "mlp.tdsl", pathlib.Path("python", "l.anepkg")
    for path, output, options, message in (
            (source, "x.gguf", {}, "ends in none of .mil, .mlpackage"),
            (source, "-", {}, "`output` cannot be used: it is the path of a file"),
            (source, "x.mil", {"quantize": "int5"}, "`quantize` cannot be used"),
            (source, "x.ir", {"quantize": "int8"}, "it is for mil, coreml,"),
            (source, "x.ir", {"fuse": "max"}, "`fusion` cannot be used: it is for dot, report"),
            (source, "x.tdsl", {"target": "m1"}, "it is for mil, coreml,"),
            (source, "x.mil", {"fix": {"x": 1}}, "`fixes` cannot be used: it is for .mil"),
            (source, "x.mil", {"passes": "cse,decomposed"}, "there is no pass `decomposed`"),
            (source, "x.anepkg", {"decode": True, "block": 0}, "numbers of positions"),
            (source, "x.anepkg", {"ladder": 4}, "it is for `decode`"),
            (source, "x.ir", {"canonical": True}, "it is for mil, not for ir"),
            (source, "x.mil", {"target": "none.json"}, "none.json"),
            (source, "x.mil", {"quantize_report": "r.json"}, "it is for `quantize`"),
            (source, "x.mil", {"quantize_skip": "w"}, "it is for `quantize`"),
            (source, "x.mil", {"calibrate": "text.txt"}, "it is for `quantize`"),
            (source, "x.mil", {"quantize": "w8a8"}, "`w8a8` needs `calibration`"),
            (source, "x.mil", {"quantize": "int8", "activation_margin": 2.0}, "`w8a8`"),
            (source, "x.mil", {"deployment": "macos13"}, "it is for coreml or"),
            (source, "x.mlpackage", {"deployment": "macos113"}, "did you mean `macos13`?"),
            (source, "x.mil", {"folder": "x"}, "`output` says where"),
            (source, "x.mil", {"loss": "mse"}, "it is for ir, tdsl or package"),
            (source, "x.mil", {"context": 8}, "it is for `decode`"),
            (source, "x.mil", {"cache": "state"}, "it is for `decode`"),
            (source, "x.mlpackage", {"decode": True}, "is for coreml with `cache_states`"),
            (source, "x.anepkg", {"decode": True, "batch": 5000}, "1 to 1024"),
            (source, "x.anepkg", {"lora": "rank=x"}, "`lora` cannot be used"),
            (package, "x.mil", {}, "it is a package, which can be written as coreml"),
            (BASE, "x.anepkg", {"decode": True}, "it is for .tdsl or .ir")):
        text = raises(anec.Error, anec.build, path, output, **options)
        assert message in text, (output, options, text)
        assert not os.path.exists(output), (output, options)
    with open("own.tdsl", "w") as file:
        file.write(source.read_text())
    assert "overwrite" in raises(anec.Error, anec.build, "own.tdsl", "own.tdsl")
    assert "did you mean 'coreml'?" in raises(ValueError, anec.build, source, "x.mlpackage",
                                              emit="core-ml")
    for named in {"decode": True}, {"lora": "rank=2,targets=w"}:
        assert "this is a kernel" in raises(anec.Error, anec.compile, source, seed=1, **named)
    text = "kernel k(x: fp16[4]) -> fp16[4] { return relu(x); }"
    assert "must be a file" in raises(anec.Error, anec.compile_text, text, quantize="int8",
                                      calibrate={"x": numpy.ones(4)})


def test_diff():
    left, right = pathlib.Path("python", "a.mil"), pathlib.Path("tool", "b.mil")
    text = left.read_text()
    assert "relu" in text
    right.write_text(text.replace("relu(", "sigmoid(", 1))
    os.replace(left.parent / "weights" / "a.bin", right.parent / "weights" / "a.bin")
    (left.parent / "weights" / "a.bin").write_bytes(
        (right.parent / "weights" / "a.bin").read_bytes())
    found = anec.diff(left, right)
    assert [each.op for each in found if each.kind == "op"] == ["relu", "sigmoid"], found
    (old, new) = [each for each in found if each.kind == "op"]
    assert old.left and not old.right and new.right and not new.left
    assert str(found) == tool("diff", left, right).stdout
    assert found.counts == tool("diff", "--stat", left, right).stdout
    assert all(each.text in str(found) for each in found)
    same_program = anec.diff(left, left)
    assert same_program == [] and str(same_program) == same_program.counts == ""
    # Weights.
    quantized, whole = pathlib.Path("python", "r.mlpackage"), BASE
    assert anec.diff(whole, quantized)
    anec.build(whole, "w.mil")
    data = bytearray(pathlib.Path("weights", "w.bin").read_bytes())
    data[-2:] = b"\x00\x3c"
    pathlib.Path("weights", "w.bin").write_bytes(data)
    (weights,) = anec.diff("w.mil", whole)
    assert weights.kind == "weights" and weights.differing == 1 and weights.absolute > 0
    assert anec.diff("w.mil", whole, ignore_weights=True) == []
    assert "is a package" in raises(anec.Error, anec.diff, whole, "python/l.anepkg")
    assert "no-such.mil" in raises(anec.Error, anec.diff, whole, "no-such.mil")


def test_compare():
    program = anec.compile(BASE, quantize="int8")
    program.write("small.mlpackage")
    (port,) = anec.Session(BASE).inputs()
    x = numpy.random.default_rng(2).standard_normal(port.shape).astype("f")
    numpy.save("x.npy", x)
    for flags, options in (([], {}), (["--atol=1e-4", "--rtol=1e-3"],
                                      {"atol": 1e-4, "rtol": 1e-3}),
                           (["--reference=base.mlpackage", "--numerics=fp32"],
                            {"reference": BASE, "numerics": "fp32"})):
        made = subprocess.run(["ane-run", "small.mlpackage", f"--input={port.name}=x.npy",
                               "--compare", "--json", *flags], capture_output=True, text=True)
        theirs = json.loads(made.stdout)
        for inputs in {port.name: x}, {port.name: "x.npy"}:
            ours = anec.compare("small.mlpackage", inputs, **options)
            assert [each.name for each in ours] == [each["name"] for each in theirs["outputs"]]
            for one, other in zip(ours, theirs["outputs"]):
                assert one.wrong == other["wrong_elements"] and one.largest_error == other["largest_error"], (
                    one, other)
            assert all(each.is_right for each in ours) == theirs["passed"] == (
                made.returncode == 0)
    with open("words.tdsl", "w") as file:
        file.write((EXAMPLES / "mlp.tdsl").read_text())
    ours = anec.compare(BASE, {port.name: "random:1"}, reference="words.tdsl", seed=3)
    assert len(ours) == 2 and all(each.is_right for each in ours), ours
    assert not all(each.is_right for each in anec.compare(
        BASE, {port.name: "random:1"}, reference="words.tdsl", seed=4))
    for named, message in ((dict(inputs={}), port.name), (dict(inputs={"z": x}), "`z`"),
                           (dict(reference="no.onnx"), "no.onnx"),
                           (dict(atol=-1.0), "`atol` cannot be used"),
                           (dict(backend="gpu"), "`cpu`"), (dict(function="no"), "`no`")):
        text = raises(anec.Error, anec.compare, BASE, **{"inputs": {port.name: x}, **named})
        assert message in text, text
    assert "is a package" in raises(anec.Error, anec.compare, "python/l.anepkg", {})
    raises(TypeError, anec.compare, BASE, ["x.npy"])


for folder in "tool", "python":
    os.makedirs(folder)
for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
