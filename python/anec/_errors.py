# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong. _anec raises and warns with these."""
from __future__ import annotations

import typing


class Diagnostic(typing.NamedTuple):
    """Something that was reported, and where."""
    severity: str  #: `error`, `warning`, `remark` or `note`
    id: str        #: `cannot-open`
    message: str
    file: str      #: empty when it is about none
    line: int      #: from 1 on; 0 when it has no place in a text
    column: int
    end_line: int
    end_column: int


class Error(Exception):
    """A call failed. The text is what the tools print.

    `diagnostics` is a list of Diagnostic; `status` is 1 when a source, a file or
    an array is at fault, 2 when the call is, 3 when the machine failed."""

    status: int
    diagnostics: typing.List[Diagnostic]

    def __init__(self, status: int, text: str,
                 diagnostics: typing.Iterable[typing.Tuple[typing.Any, ...]]) -> None:
        """What _anec raises: `diagnostics` has the fields of each Diagnostic."""
        super().__init__(text.rstrip("\n"))
        self.status = status
        self.diagnostics = [Diagnostic(*fields) for fields in diagnostics]

    def __reduce__(self) -> typing.Tuple[typing.Any, ...]:
        # For pickle and copy: another process raises it where it is waited for.
        return type(self), (self.status, str(self),
                            [tuple(fields) for fields in self.diagnostics])


class Warning(UserWarning):
    """A call succeeded, and something is worth knowing."""
