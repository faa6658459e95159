#!/usr/bin/env python3
"""cut.py FILE SIZE: leaves the first SIZE bytes of a file; of a negative SIZE, all but
the last ones."""
import os
import sys

path, size = sys.argv[1], int(sys.argv[2])
before = os.path.getsize(path)
after = size if size >= 0 else before + size
if not 0 <= after < before:
    sys.exit(f"cut.py: {path} has {before} bytes")
os.truncate(path, after)
