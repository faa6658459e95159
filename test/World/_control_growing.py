"""Random loops of TorchScript whose values change shape from turn to turn: rows are added
to an array, or taken from it, as often as the count and values decide, beside the branches
and loops of _control_script and in them. coremltools converts them; what is right is what
the module computes in PyTorch."""
import numpy as np

import _control_mil
import _control_script
from _control_script import smaller, text, loads  # noqa: F401 (this kind's, too)

FIXED_ONLY = True  # What values decide is written after --fix.
ENDS = ["{}.sum(0)", "{0}.min(0)[0]", "{}[0]", "{0}.max(0)[0]"]


class Draw(_control_mil.Draw):
    def statement(self, depth):
        if not depth or self.int(0, 2):
            return super().statement(depth)
        if self.int(0, 2):
            return ["grow", self.pick(["count", "known", "until", "until"]), self.int(0, 4),
                    self.place(), self.pick(ENDS), self.statements(depth - 1, 2)]
        return ["shrink", [self.place() for _ in range(self.int(2, 4))],
                self.pick([0.5, 1.5, 4.0]), self.pick(ENDS)]


def draw(seed):
    drawn = Draw(("growing", seed))
    return {"body": [drawn.statement(3) for _ in range(drawn.int(2, 4))], "seed": seed,
            "flag": bool(drawn.int(0, 1)), "count": drawn.int(0, 3),
            "x": [round(float(v), 3) for v in drawn.random.standard_normal(3)]}


class Source(_control_script.Source):
    def do_grow(self, depth, name, values, kind, turns, x, end, body):
        rows, turn = self.name("g"), self.name("i")
        self.line(depth, f"{rows} = {self.at(values, x)}.unsqueeze(0)")
        if kind == "until":
            self.line(depth, f"{turn} = 0")
            self.line(depth, f"while {turn} < {turns} and bool({rows}.abs().sum() < 9.0):")
            self.line(depth + 1, f"{turn} += 1")
        else:
            self.line(depth, f"for _ in range({turns if kind == 'known' else 'turns'}):")
        last = self.name()
        self.line(depth + 1, f"{last} = {rows}.sum(0)")
        last = self.run(depth + 1, body, values + [last])
        self.line(depth + 1, f"{rows} = torch.cat([{rows}, {last}.unsqueeze(0)], 0)")
        self.line(depth, f"{name} = {end.format(rows)}")

    def do_shrink(self, depth, name, values, places, limit, end):
        rows, turn = self.name("g"), self.name("i")
        parts = ", ".join(f"{self.at(values, place)}.unsqueeze(0)" for place in places)
        self.line(depth, f"{rows} = torch.cat([{parts}], 0)")
        self.line(depth, f"{turn} = 1")
        self.line(depth, f"while {turn} < {len(places)} and bool({rows}.abs().sum() > {limit}):")
        self.line(depth + 1, f"{rows} = {rows}[1:]")
        self.line(depth + 1, f"{turn} += 1")
        self.line(depth, f"{name} = {end.format(rows)}")


def arrays(program):
    # An input that is never fixed.
    return {**_control_script.arrays(program), "z": np.float32([1, 2])}


def write(program, folder):
    path, inputs, _ = _control_script.write(program, folder, Source, arrays(program))
    return path, inputs, ["x", "flag", "count"]


def reference(program, path, inputs):
    return _control_script.reference(program, path, inputs, Source)
