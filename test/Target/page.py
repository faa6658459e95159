#!/usr/bin/env python3
"""Checks that a page is well-formed, refers to nothing outside of itself, and
has as many nodes in its graphs.

usage: page.py FILE.html NODES"""
import html.parser
import sys

VOID = {"meta", "path", "rect"}
REFERENCES = {"src", "href", "data", "action", "xlink:href"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.nodes, self.errors = [], 0, []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self.nodes += tag == "g"
        self.errors += [f"{tag} refers to {value}" for name, value in attributes
                        if name in REFERENCES]

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing")


def main(path, nodes):
    page = Page()
    page.feed(open(path).read())
    page.errors += [f"<{tag}> is not closed" for tag in page.open]
    if page.nodes != int(nodes):
        page.errors.append(f"{page.nodes} nodes")
    print("\n".join(page.errors))
    return bool(page.errors)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
