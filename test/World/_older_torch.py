"""Run by itself, with the packages of torch-2.6.txt on its path: what PyTorch 2.6 does for
exported.py."""
import pathlib

import _requests
import architectures
import exported
import harness

ROWS = {row.name: row for row in exported.ROWS}


def save(name, form, folder):
    """Writes what `exported.save` does, and the inputs and outputs of this version."""
    folder = pathlib.Path(folder)
    row = ROWS[name]
    arrays = architectures.compute_arrays(row, *architectures.built(row))
    harness.save_arrays(folder / "arrays.npz", arrays)
    exported.save(row, form, folder)


_requests.answer({"save": save})
