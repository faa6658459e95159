"""Runs tests of other folders again, once for each instruction set that the CPU backend
has kernels for, as Instructions/SET/FOLDER/NAME.test. A set that the processor lacks is
compiled only, and its tests are reported as unsupported.
"""

import copy
import os
import subprocess

import lit.Test
import timed_format

# By processor. With each, the kernels of OpenBLAS that a processor has whose best set it
# is, where they differ.
SETS = {
    "x86_64": {"baseline": "Prescott", "avx2": "Haswell", "avx512": "SkylakeX"},
    "aarch64": {"baseline": None, "neon": None},
}
NAMES = {"AMD64": "x86_64", "amd64": "x86_64", "arm64": "aarch64"}


def is_available(config, name):
    """Whether the processor has the set; True too when nothing is built yet."""
    tool = os.path.join(config.anec_test_tools_dir, "fuzz-ops")
    if not os.path.exists(tool):
        return True
    command = [tool, f"--instructions={name}", "--graphs=0"]
    return subprocess.run(command, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode != 3


class ForcedTest(lit.Test.Test):
    """The test of another folder."""

    def __init__(self, suite, path, config, original):
        super().__init__(suite, path, config)
        self.original = original

    def getSourcePath(self):
        return self.suite.getSourcePath(self.original)


class ForcedFormat(timed_format.TimedFormat):
    """All tests of `names` for all sets."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def getTestsInDirectory(self, suite, path, lit_config, config):
        processor = NAMES.get(config.processor, config.processor)
        for name, core in SETS.get(processor, {"baseline": None}).items():
            forced = copy.copy(config)
            forced.environment = dict(config.environment, ANEC_INSTRUCTIONS=name)
            if core:
                forced.environment["OPENBLAS_CORETYPE"] = core
            forced.unsupported = not is_available(config, name)
            for test in self.names:
                original = tuple(test.split("/"))
                yield ForcedTest(suite, path + (name,) + original, forced, original)
