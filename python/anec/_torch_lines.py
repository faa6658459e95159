# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places in the user's Python: a finding names a node of the exported graph."""
import os
import re

import torch

FRAME = re.compile(r'File "([^"]+)", line (\d+)')
NODE = re.compile(r"^node `([^`]+)`")


def line_of(node):
    """(file, line) of the deepest frame outside of PyTorch, or None."""
    own = os.path.dirname(torch.__file__) + os.sep
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    users = [frame for frame in frames if not frame[0].startswith(own)]
    return (users[-1][0], int(users[-1][1])) if users else None


def moved(program, findings):
    """The findings at the lines of their nodes, where these are known."""
    nodes = {node.name: node for node in program.graph.nodes}

    def move(finding):
        named = NODE.match(finding.message)
        node = nodes.get(named[1]) if named else None
        place = line_of(node) if node else None
        if not place:
            return finding
        return finding._replace(file=place[0], line=place[1], column=0, end_line=0,
                                end_column=0)
    return [move(finding) for finding in findings]
