#!/usr/bin/env python3
"""Checks that what the Markdown pages of a tree link to is there, and that the index
of docs/, where there is one, links to each of them.

usage: links.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]


def links(page):
    """The targets of a page's links; code has none."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(),
                   flags=re.M | re.S)
    return re.findall(r"\]\(([^)#]+)[^)]*\)", prose)


errors = [f"{page.relative_to(root)}: no {target}"
          for page in sorted(pages) for target in links(page)
          if "://" not in target and not (page.parent / target).exists()]
index = root / "docs/README.md"
if index.exists():
    linked = {(index.parent / target).resolve() for target in links(index)}
    errors += [f"{page.relative_to(root)}: docs/README.md does not link to it"
               for page in sorted(root.glob("docs/**/*.md"))
               if page != index and page.resolve() not in linked]
print("\n".join(errors + [f"{len(pages)} pages, {len(errors)} errors"]))
sys.exit(1 if errors or not pages else 0)
