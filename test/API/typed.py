"""A program with types, which a type checker reads with anec; no line is run."""
from __future__ import annotations

import pathlib

import anec
import numpy
from numpy.typing import NDArray


def compiled(path: pathlib.Path) -> anec.Program:
    program = anec.compile(path, target="m1", seed=7, weight_mode="baked", io="separate",
                           shapes={"x": (1, 3)}, calibrate={"x": numpy.ones(3)},
                           precision="fp16", train_weights="*.w", defines={"layers": 2})
    program.write("model.mlpackage", describe={"author": "Ada"}, interface="fp32")
    text: str | None = program.mil
    print(text, [finding.rule for finding in program.check("m1")])
    return anec.compile_text("kernel k(x: fp16[2]) -> fp16[2] { return x; }")


def trained(session: anec.Session, images: NDArray[numpy.float32]) -> float:
    trainer = anec.Trainer(session, learning_rate=1e-3, seed=1)
    step: anec.Step = trainer.step({"images": images, "labels": [1, 2]})
    weights: dict[str, NDArray[numpy.float32]] = session.weights
    weights["w"][:] = 0
    return step.loss


def run(path: str) -> dict[str, NDArray[numpy.float16]]:
    session = anec.Session(path, numerics="m1", backend="cpu")
    names: list[str] = [port.name for port in session.inputs()]
    text: str = session.generate("abc", draft="lookup", stop=["\n"])
    loss: float = session.evaluate(["a.txt"], tokenizer="tokenizer.json").loss
    tokens, targets = next(anec.Windows([path], 8, tokenizer=anec.Tokenizer()))
    print(names, text, loss, tokens + targets, anec.explain("op-limit").advice)
    return session.run({"x": [[1, 2.5]]})


# What is wrong, and has to be said: a checker that reads no types of anec finds these
# comments unused.
anec.compile("a.tdsl", weight_mode="bake")  # type: ignore[arg-type]
anec.compile("a.tdsl", fuze="max")  # type: ignore[call-arg]
anec.Session("a.mil", numerics="fp64")  # type: ignore[arg-type]
anec.check("a.mil")  # type: ignore[call-arg]
anec.compile("a.tdsl").folder + "/x"  # type: ignore[operator]
