# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles tensor programs for the Apple Neural Engine, and runs them.

    import anec, numpy

    model = anec.compile("digits.tdsl", seed=7, forward_only=True)
    session = anec.Session(model)
    outputs = session.run({"images": images, "labels": labels})
    print(outputs["output"])

`compile` gives a `Program`: a kernel as a MIL program, or a model as a package
in a folder. `build` writes either to a file, as the tool does, also quantized;
`diff` compares two, and `compare` what one computes with its source.
`import_model`, `convert` and `merge` are for models and weights of others. `check`, `explain` and `predict` say what a chip does with it, and
`explain_log` what the errors in a log mean. A
`Session` runs it with numpy arrays by name; `Trainer` trains a session step by
step; `Session.generate` continues a text, and `Session.evaluate` measures how well
a model predicts one.

Arrays have the shape of the port; axes of one element may be added or dropped.
Their order in memory, byte order and alignment are free. A float input takes any
float up to float64, integers and booleans, rounded to the nearest; what is too large
becomes infinite, with a warning. An integer or boolean input takes integers that fit.
All else raises TypeError or ValueError. Outputs are new arrays of the type of the
port. Any numpy from 1.24 on will do.

What goes wrong raises `anec.Error`, whose `diagnostics` have a place each.
Warnings are Python warnings of the category `anec.Warning`. One thread at a time
may use an object; others run meanwhile.
"""
from ._loading import version as _version
from ._build import build
from ._comparison import Comparison, compare
from ._compiler import (Cost, Finding, LoggedError, Program, Rule, check, compile,
                        compile_text, explain, explain_log, explain_log_text,
                        predict)
from ._differences import Difference, Differences, diff
from ._errors import Diagnostic, Error, Warning
from ._session import Evaluation, Port, Session
from ._text import Tokenizer, Windows
from ._trainer import Step, Trainer
from ._weights import convert, import_model, merge

__version__ = _version()
__all__ = ["Comparison", "Cost", "Diagnostic", "Difference", "Differences", "Error",
           "Evaluation", "Finding", "LoggedError", "Port", "Program", "Rule", "Session",
           "Step", "Tokenizer", "Trainer", "Warning", "Windows", "build", "check",
           "compare", "compile", "compile_text", "convert", "diff", "explain",
           "explain_log", "explain_log_text", "import_model", "merge", "predict"]
