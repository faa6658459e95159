# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the module in C++, or says why it cannot be loaded."""
import importlib.machinery
import pathlib
import sys

try:
    import numpy  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"anec needs numpy: {sys.executable} -m pip install numpy") from error

try:
    from ._anec import version as version
except ImportError as error:
    _built = sorted(path.name for path in pathlib.Path(__file__).parent.glob("_anec.*"))
    _wanted = importlib.machinery.EXTENSION_SUFFIXES[0]
    if "_anec" + _wanted in _built:
        raise
    raise ImportError(
        f"anec is built for another Python: {sys.executable} loads _anec{_wanted}, and "
        f"there is {', '.join(_built) or 'none'}; build anec again with "
        f"-DANEC_PYTHON={sys.executable}") from error
