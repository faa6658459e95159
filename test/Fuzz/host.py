#!/usr/bin/env python3
"""A program that holds anec as a library, for faults.py.

  host.py BUILD c|python OPERATION

Does an operation without faults, then with those of Faults.cpp, then without again. The
second may be refused, with a reason; its outputs are whole or absent. The process lives
on, and the third gives what the first did. Exit codes: 0, it succeeded, 1, it was
refused, with the reason after `error: `, and 2, the library broke one of these rules."""
import array
import ctypes
import os
import pathlib
import shutil
import sys
import traceback

LIBRARIES = "libanec-c.so", "libanec-c.dylib"  # of Linux, of a Mac
SEQ = 16  # positions of the model that faults.py compiles


def library_in(build):
    """The C library of a build; None without one."""
    paths = (build / "lib" / "C" / name for name in LIBRARIES)
    return next((path for path in paths if path.exists()), None)


class Refused(Exception):
    """What the library says where it cannot do what it is asked."""


# ---------------------------------------------------------------------------
# The C API, in the words of the Python module
# ---------------------------------------------------------------------------

def members(*rows):
    """A structure whose first member is its own size."""
    class Members(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), *rows]

        def __init__(self, **values):
            super().__init__(struct_size=ctypes.sizeof(type(self)), **values)
    return Members


POINTER, TEXT, SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
DIMS = ctypes.POINTER(ctypes.c_int64)
CompileOptions = members(
    ("target", TEXT), ("kernel", TEXT), ("defines", POINTER), ("define_count", SIZE),
    ("assumptions", POINTER), ("assumption_count", SIZE), ("weights", TEXT),
    ("weight_map", TEXT), ("seed", ctypes.POINTER(ctypes.c_uint64)), ("mil_version", TEXT),
    ("folder", TEXT), ("forward_only", ctypes.c_int))
Elements = members(("name", TEXT), ("dtype", ctypes.c_int), ("data", POINTER),
                   ("bytes", SIZE), ("rank", SIZE), ("dims", DIMS))
Step = members(("step", ctypes.c_uint64), ("loss", ctypes.c_double))
GenerateOptions = members(("tokens", ctypes.c_uint), ("temperature", ctypes.c_double),
                          ("top_p", ctypes.c_double), ("seed", ctypes.c_uint64))
ON_TEXT = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, SIZE, POINTER)
FP16, INT32 = 1, 7


class CApi:
    def __init__(self, build):
        self.library = ctypes.CDLL(str(library_in(build)))
        self.library.anec_diagnostics_create.restype = POINTER
        self.library.anec_diagnostics_text.restype = TEXT
        self.diags = POINTER(self.library.anec_diagnostics_create())
        for kind in ("program", "session", "trainer", "findings"):
            getattr(self.library, f"anec_{kind}_destroy").restype = None

    def call(self, name, *arguments):
        self.library.anec_diagnostics_clear(self.diags)
        if getattr(self.library, name)(*arguments, self.diags):
            text = self.library.anec_diagnostics_text(self.diags).decode(errors="replace")
            if "error: " not in text:
                raise AssertionError(f"{name} fails without a reason: {text!r}")
            raise Refused(text)

    def made(self, kind, name, *arguments):
        """The object that the function `name` makes; an error leaves it null."""
        out = POINTER()
        try:
            self.call(name, *arguments, ctypes.byref(out))
        except Refused:
            if out.value:
                raise AssertionError(f"{name} fails, and gives something")
            raise
        return Held(self.library, kind, out)

    def compile(self, source, target, seed=None):
        seed = ctypes.pointer(ctypes.c_uint64(seed)) if seed else None
        options = CompileOptions(seed=seed)
        with self.made("program", "anec_compile_file", source.encode(),
                       ctypes.byref(options)) as program:
            self.call("anec_program_write", program, target.encode())

    def check(self, source):
        options = CompileOptions(target=b"m1")
        with self.made("findings", "anec_check_file", source.encode(),
                       ctypes.byref(options)) as findings:
            self.library.anec_findings_count.restype = SIZE
            return str(self.library.anec_findings_count(findings)).encode()

    def opened(self, path):
        return self.made("session", "anec_session_open_file", path.encode(), None)

    def run(self, path, name, values, result, count):
        out = (ctypes.c_uint16 * count)()
        with self.opened(path) as session:
            given = Elements(name=name.encode(), dtype=FP16, data=values.buffer_info()[0],
                             bytes=2 * len(values))
            taken = Elements(name=result.encode(), dtype=FP16, data=ctypes.addressof(out),
                             bytes=2 * count)
            self.call("anec_session_run", session, None, ctypes.byref(given), SIZE(1),
                      ctypes.byref(taken), SIZE(1))
        return bytes(out)

    def train(self, package, target):
        ids = (ctypes.c_int32 * SEQ)(*range(SEQ))
        both = (Elements * 2)(*(Elements(name=name, dtype=INT32, bytes=4 * SEQ,
                                         data=ctypes.addressof(ids))
                                for name in (b"tokens", b"targets")))
        step = Step()
        with self.opened(package) as session:
            with self.made("trainer", "anec_trainer_open", session, None, None) as trainer:
                for _ in range(2):
                    self.call("anec_trainer_step", trainer, both, SIZE(2),
                              ctypes.byref(step))
            self.call("anec_session_save_weights", session, target.encode())
        return repr(step.loss).encode()

    def generate(self, package):
        options = GenerateOptions(tokens=8, temperature=0, top_p=1, seed=1)
        pieces = []

        @ON_TEXT
        def collect(text, size, _):
            pieces.append(ctypes.string_at(text, size))
            return 0
        with self.opened(package) as session:
            self.call("anec_session_generate", session, None, b"All", ctypes.byref(options),
                      collect, None)
        return b"".join(pieces)


class Held:
    def __init__(self, library, kind, pointer):
        self.destroy, self.pointer = getattr(library, f"anec_{kind}_destroy"), pointer

    def __enter__(self):
        return self.pointer

    def __exit__(self, *_):
        self.destroy(self.pointer)


# ---------------------------------------------------------------------------
# The Python module
# ---------------------------------------------------------------------------

class PythonApi:
    def __init__(self, build):
        sys.path.insert(0, str(build / "python"))
        # A fault is not to hit what Python itself imports when it is needed first.
        import anec
        import json.decoder  # noqa: F401
        import numpy
        self.anec, self.numpy = anec, numpy

    def refusing(self, operation):
        try:
            return operation()
        except (self.anec.Error, OSError, MemoryError) as error:
            raise Refused(f"error: {type(error).__name__}: {error}") from None

    def compile(self, source, target, seed=None):
        self.refusing(lambda: self.anec.compile(source, seed=seed).write(target))

    def check(self, source):
        return self.refusing(
            lambda: str(len(self.anec.check(source, target="m1"))).encode())

    def run(self, path, name, values, result, _):
        rows = self.numpy.frombuffer(values, "<u2").view("<f2")

        def operation():
            session = self.anec.Session(path)
            shape = session.inputs()[0].shape
            return session.run({name: rows.reshape(shape)})[result].tobytes()
        return self.refusing(operation)

    def train(self, package, target):
        ids = self.numpy.arange(SEQ, dtype="<i4")

        def operation():
            session = self.anec.Session(package)
            trainer = self.anec.Trainer(session)
            steps = [trainer.step({"tokens": ids, "targets": ids}) for _ in range(2)]
            session.save_weights(target)
            return repr(steps[-1].loss).encode()
        return self.refusing(operation)

    def generate(self, package):
        return self.refusing(lambda: self.anec.Session(package).generate(
            "All", tokens=8, temperature=0).encode())


def is_built(build, api):
    if api == "c":
        return library_in(build) is not None
    return any((build / "python" / "anec").glob("_anec*"))


# ---------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------

ONES = array.array("H", [0x3c00]) * (1024 * 64)  # fp16
OPERATIONS = {
    "mil": lambda api: api.compile("large.tdsl", "host.mil", seed=1),
    "mlpackage": lambda api: api.compile("large.tdsl", "host.mlpackage", seed=1),
    "package": lambda api: api.compile("m.tdsl", "host.anepkg"),
    "check": lambda api: api.check("large.tdsl"),
    "run": lambda api: api.run("large.mil", "x", ONES, "output", 1024 * 64),
    "train": lambda api: api.train("full.anepkg", "host.safetensors"),
    "generate": lambda api: api.generate("decode.anepkg"),
}


def outputs():
    """{path: bytes} of what an operation has written."""
    found = {}
    for top in sorted(pathlib.Path().glob("*host*")):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            found[str(path)] = path.read_bytes() if path.is_file() else b""
    for path in pathlib.Path().glob("weights/host*"):
        found[str(path)] = path.read_bytes()
    return found


def remove_outputs():
    for path in [*pathlib.Path().glob("*host*"), *pathlib.Path().glob("weights/host*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main(build, name, operation):
    api = {"c": CApi, "python": PythonApi}[name](pathlib.Path(build).resolve())
    arm = getattr(ctypes.CDLL(None), "anec_faults_arm", lambda armed: None)

    def attempt():
        return OPERATIONS[operation](api), outputs()
    remove_outputs()  # of another operation
    first = attempt()
    remove_outputs()
    refusal = result = ""
    arm(1)
    try:
        result = OPERATIONS[operation](api)
    except Refused as reason:
        refusal = str(reason)
    finally:
        arm(0)
    seen = outputs()
    if refusal and any(seen[path] != first[1].get(path) for path in seen):
        raise AssertionError(f"refused, it leaves {sorted(seen)}\n{refusal}")
    if not refusal and (result, seen) != first:
        raise AssertionError("without an error, it does not give what it did before")
    remove_outputs()
    if attempt() != first:
        raise AssertionError(f"afterwards it does not give what it did before\n{refusal}")
    print(refusal, file=sys.stderr)
    return 1 if refusal else 0


if __name__ == "__main__":
    try:
        code = main(*sys.argv[1:])
    except Exception:  # whatever it is, it is no refusal
        traceback.print_exc()
        code = 2
    sys.exit(code)
