"""Compares two files of results, JSON lines: structure must be the same, numbers as close as `dbc verify` asks for.

usage: compare.py FOUND EXPECTED     exit code 1 and the first difference if they differ

For each line: max |a - b| / max(1, max |b|) <= 1e-4.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys

BOUND = 1e-4


def pairs(a, b):
    """All pairs of numbers of two values of one structure; raises ValueError if they differ otherwise."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b):
            yield from pairs(x, y)
    elif isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from pairs(a[key], b[key])
    elif isinstance(a, float) or isinstance(b, float):
        yield float(a), float(b)
    elif a != b:
        raise ValueError(f"{a} is not {b}")


def main():
    lines = [open(name, encoding="utf-8").read().splitlines() for name in sys.argv[1:3]]
    if len(lines[0]) != len(lines[1]) or not lines[0]:
        sys.exit(f"{len(lines[0])} and {len(lines[1])} lines")
    worst = 0
    for number, (found, expected) in enumerate(zip(*lines), 1):
        try:
            both = list(pairs(json.loads(found), json.loads(expected)))
        except ValueError as error:
            sys.exit(f"line {number}: {error}")
        scale = max([1.0] + [abs(b) for _, b in both])
        error = max([0.0] + [abs(a - b) / scale for a, b in both])
        if not error <= BOUND:
            sys.exit(f"line {number}: off by {error}:\n{found}\n{expected}")
        worst = max(worst, error)
    print(f"{len(lines[0])} lines, largest error {worst:.2g}")


main()
