"""What the converters of real data share: where it lies, and how lines are written.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import gzip
import json
import os
import sys


def data_path(*names):
    """The path of a file of the data folder. Ends the program with a word where it is absent."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.environ.get("DBC_DATA") or os.path.join(here, "..", "..", "..", "shared", "data")
    path = os.path.join(root, *names)
    if not os.path.exists(path):
        print(f"{path} is absent: skipped", file=sys.stderr)
        sys.exit(3)
    return path


def data_file(*names):
    """A file of the data folder, opened as text; plain or gzip. Ends the program with a word where it is absent."""
    path = data_path(*names)
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8")


class Numbers:
    """Numbers names in the order of their first use, none above `limit` - 1: names beyond share the last number."""

    def __init__(self, limit):
        self.limit = limit
        self.known = {}

    def __call__(self, name):
        return self.known.setdefault(name, min(len(self.known), self.limit - 1))


def write(nodes, **args):
    """One input as a JSON line."""
    print(json.dumps({"nodes": nodes, "args": args}, separators=(",", ":")))


def count_from_command_line(default):
    """How many inputs are wanted: the program's argument."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else default


def write_lines(path, values):
    """A file of JSON lines, one for each value."""
    with open(path, "w", encoding="utf-8") as file:
        for value in values:
            print(json.dumps(value, separators=(",", ":")), file=file)
