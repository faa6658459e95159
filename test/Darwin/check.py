#!/usr/bin/env python3
"""Builds anec for macOS on Linux, as far as a program can be built without being run:
Debug is compiled and linked, Release is compiled as far as warnings and errors go
(syntax-only). See docs/develop/building.md.

  check.py --packages FOLDER [--results FILE] [--source CHECKOUT] [--jobs N]
  check.py --skip REASON | --fail REASON [--results FILE]"""
import argparse
import fcntl
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import traceback

import sdk
import sources
import stubs

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.abspath(os.path.join(HERE, "..", ".."))


class Results:
    """What was found, as lit writes it."""

    def __init__(self):
        self.tests = []

    def add(self, name, failures, said):
        most = 100
        for line in failures[:most]:
            print(line, flush=True)
        if len(failures) > most:
            print(f"and {len(failures) - most} more lines", flush=True)
        print(f"darwin: {name}: {said}", flush=True)
        self.tests.append({"name": f"darwin :: {name}",
                           "code": "FAIL" if failures else "PASS"})

    def write(self, path):
        if path:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            with open(path, "w") as file:
                json.dump({"tests": self.tests}, file, indent=1)


class Build:
    """A build folder of the copied sources. `makes` is what is made of each source:
    `objects`, or `syntax`, a check alone."""

    def __init__(self, work, kind, flags, makes):
        self.work, self.kind, self.flags, self.makes = work, kind, flags, makes
        self.folder = f"{work}/{kind.lower()}"

    def configure(self, jar):
        """Returns what went wrong."""
        command = ["cmake", "-G", "Ninja", "-S", f"{self.work}/source", "-B", self.folder,
                   f"-DCMAKE_TOOLCHAIN_FILE={self.work}/toolchain.cmake",
                   f"-DANEC_DARWIN={self.work}", f"-DCMAKE_BUILD_TYPE={self.kind}",
                   "-DANEC_WERROR=ON", f"-DANTLR4_JAR={jar}",
                   # One of the two as README's command builds on a new machine.
                   f"-DANEC_UNITY={'ON' if self.kind == 'Release' else 'OFF'}",
                   # CMake keeps the first that it found, which may be gone.
                   f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}"]
        for language in ("C", "CXX", "OBJCXX"):
            command += [f"-DCMAKE_{language}_FLAGS_{self.kind.upper()}={self.flags}",
                        f"-DCMAKE_{language}_COMPILER_LAUNCHER="
                        f"{self.work}/bin/compile;{self.makes}",
                        f"-DCMAKE_{language}_LINKER_LAUNCHER={self.work}/bin/link"]
        run = subprocess.run(command, capture_output=True, text=True)
        lines = (run.stdout + run.stderr).strip().split("\n")
        if run.returncode:
            return lines[-30:]
        # A library that a Mac has and this build goes without is compiled nowhere.
        return [line for line in lines if "not found" in line]

    def objects(self):
        with open(f"{self.folder}/compile_commands.json") as file:
            outputs = {re.search(r" -o (\S+)", entry["command"])[1]
                       for entry in json.load(file)}
        return sorted(name for name in outputs if name.endswith(".o"))

    def ninja(self, targets, jobs, link):
        """Returns how many files it compiled, and what the failed steps printed,
        without their commands."""
        run = subprocess.run(["ninja", "-C", self.folder, "-k0", f"-j{jobs}", *targets],
                             capture_output=True, text=True,
                             env=os.environ | {"LINK": "yes" if link else "no"})
        built = len(re.findall(r"^\[\d+/\d+\] Building", run.stdout, re.M))
        if run.returncode == 0:
            return built, []
        lines = [line for line in run.stdout.split("\n")
                 if line and not re.match(r"\[\d+/\d+\]|ninja: Entering", line)
                 and "/bin/clang" not in line[:200]]
        return built, lines or ["ninja failed"]

    def contractions(self):
        """Sources that are compiled with another setting than the others: all forbid
        contraction, and the kernels of the CPU backend and what measures the
        machine's peak allow it."""
        with open(f"{self.folder}/compile_commands.json") as file:
            entries = json.load(file)
        kernels = tuple(f"{self.work}/source/{folder}/"
                        for folder in ("lib/Runtime/CPU", "benchmarks/machine"))
        return [entry["file"] for entry in entries
                if re.findall(r"-ffp-contract=(\w+)", entry["command"])[-1:] not in
                (["off"], ["fast"] if entry["file"].startswith(kernels) else None)]

    def messages(self, name):
        """What the compiler said of the source of an object: its errors, or all."""
        path = f"{self.folder}/{name}.messages"
        lines = open(path).read().split("\n") if os.path.exists(path) else []
        errors = [(f"{name}: " if line.startswith("error:") else "") +
                  line.replace(f"{self.work}/source/", "")
                  for line in lines if re.search(r"\berror:", line)]
        return errors or [f"{name}: not compiled", *lines]

    def links(self):
        text = subprocess.run(["ninja", "-C", self.folder, "-t", "targets", "all"],
                              capture_output=True, text=True).stdout
        return re.findall(r"^(\S+): \w+_(?:EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)"
                          r"_LINKER__", text, re.M)


def use_toolchain(work):
    """What a toolchain file sets at first stays in CMake's cache."""
    source, target = f"{HERE}/toolchain.cmake", f"{work}/toolchain.cmake"
    if os.path.exists(target) and open(target).read() != open(source).read():
        for cache in glob.glob(f"{work}/*/CMakeCache.txt"):
            os.remove(cache)
    sdk.copy(source, target)


def declared(header):
    """The functions of the C API."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(header).read(), flags=re.S)
    return set(re.findall(r"\b(anec_\w+)\s*\(", text))


class Check:
    def __init__(self, work, jar, jobs, results):
        self.work, self.jar, self.jobs, self.results = work, jar, jobs, results
        self.debug = Build(work, "Debug", "-O0 -g0", "objects")
        self.release = Build(work, "Release", "-O2 -DNDEBUG", "syntax")
        self.closing = []

    def compile(self, build, only=None):
        begin = time.monotonic()
        failures = build.configure(self.jar)
        self.results.add(f"configure {build.kind}", failures,
                         "failed" if failures else "done")
        if failures and not os.path.exists(f"{build.folder}/build.ninja"):
            return []
        self.results.add(f"contraction in {build.kind}",
                         [f"{name}: does not say `-ffp-contract`"
                          for name in build.contractions()], "compared")
        objects = [name for name in build.objects() if not only or only.search(name)]
        for name in objects:  # What failed is tried again.
            path = f"{build.folder}/{name}"
            if os.path.exists(f"{path}.messages"):
                os.remove(f"{path}.messages")
                if os.path.exists(path):
                    os.remove(path)
        built, failures = build.ninja(objects, self.jobs, link=False)
        wrong = [name for name in objects
                 if os.path.exists(f"{build.folder}/{name}.messages")
                 or not os.path.exists(f"{build.folder}/{name}")]
        for name in wrong:
            failures += build.messages(name)
        figure = f"{len(objects) - len(wrong)} of {len(objects)} files in {build.kind}"
        self.closing.append(figure)
        self.results.add(f"compile {build.kind}", failures, f"{figure}, "
                         f"{built} compiled now, in {time.monotonic() - begin:.0f} s")
        return [f"{build.folder}/{name}" for name in objects if name not in wrong]

    def symbols(self, objects):
        _, wanted = stubs.symbols_of(objects)
        counts, missing = stubs.write_used(f"{self.work}/prefix",
                                           f"{self.work}/MacOSX.sdk", wanted)
        failures = [f"{symbol}: {why} ({os.path.relpath(wanted[symbol][1], self.work)})"
                    for symbol, why in sorted(missing.items())]
        weak = sorted(name for name, (may, _) in wanted.items() if may)
        self.results.add("symbols", failures, ", ".join(
            f"{number} of {name}" for name, number in sorted(counts.items()))
            + (f"; newer than the system, and asked for before use: {', '.join(weak)}"
               if weak else ""))
        return len(missing)

    def link(self):
        begin = time.monotonic()
        links = self.debug.links()
        for name in links:  # All are linked each time: what is there was linked now.
            if os.path.exists(f"{self.debug.folder}/{name}"):
                os.remove(f"{self.debug.folder}/{name}")
        _, failures = self.debug.ninja(["all"], self.jobs, link=True)
        made = sum(os.path.exists(f"{self.debug.folder}/{name}") for name in links)
        figure = f"{made} of {len(links)} links"
        self.closing.append(figure)
        self.results.add("link", failures,
                         f"{figure} in {time.monotonic() - begin:.0f} s")
        return [name for name in links if "libanec-c" in name]

    def exports(self, libraries):
        has = set()
        for library in libraries:
            if os.path.exists(f"{self.debug.folder}/{library}"):
                has |= {name[1:] for name in
                        stubs.exported(f"{self.debug.folder}/{library}")}
        wants = declared(f"{self.work}/source/include/anec-c.h")
        failures = [f"libanec-c does not export {name}" for name in sorted(wants - has)]
        failures += [f"libanec-c exports {name}" for name in sorted(has - wants)]
        self.closing.append(f"{len(has & wants)} of {len(wants)} symbols exported")
        self.results.add("exports of libanec-c", failures, self.closing[-1])

    def run(self, only):
        if only:
            self.compile(self.debug, only)
            self.compile(self.release, only)
            return
        objects = self.compile(self.debug)
        missing = self.symbols(objects)
        self.exports(self.link() if objects else [])
        self.compile(self.release)
        self.closing.append(f"{missing} symbols missing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--packages", help="the folder of .ci/install-darwin")
    parser.add_argument("--results", help="where results are written, as lit writes them")
    parser.add_argument("--source", default=CHECKOUT, help="the checkout to build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--skip", help="only write that all was skipped, and why")
    parser.add_argument("--fail", help="only write that it failed, and why")
    parser.add_argument("--only", type=re.compile, help="compile the objects that match "
                        "this expression alone, and link nothing")
    options = parser.parse_args()
    results = Results()
    if options.skip or options.fail:
        word, code = ("skipped", "SKIPPED") if options.skip else ("failed", "FAIL")
        print(f"darwin: {word}, {options.skip or options.fail}")
        results.tests.append({"name": "darwin :: packages", "code": code})
        results.write(options.results)
        return 1 if options.fail else 0
    begin = time.monotonic()
    work = os.path.join(os.path.dirname(options.packages), "build")
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sdk.make_sdk(options.packages, f"{work}/MacOSX.sdk")
        sdk.make_prefix(options.packages, f"{work}/prefix")
        sdk.make_commands(options.packages, f"{work}/bin")
        use_toolchain(work)
        sources.copy_changed(options.source, f"{work}/source")
        check = Check(work, f"{options.packages}/antlr/antlr.jar", options.jobs, results)
        try:
            check.run(options.only)
        except Exception:  # A fault of the check is a failure like others.
            results.add("check", traceback.format_exc().split("\n"), "broken")
    results.write(options.results)
    print(f"darwin: {', '.join(check.closing)}; {time.monotonic() - begin:.0f} s")
    return 1 if any(test["code"] == "FAIL" for test in results.tests) else 0


if __name__ == "__main__":
    sys.exit(main())
