"""Compares two files of results, JSON lines: structure must be the same, numbers as close as `dbc verify` asks for.

usage: compare.py FOUND EXPECTED [BOUND]     exit code 1 and the first difference if they differ

For each line: max |a - b| / max(1, max |b|) <= 1e-4; where a bound is given, max |a - b| <= BOUND.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import math
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


def distance(a, b):
    """|a - b|, infinite where one alone is not a number."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return math.inf if math.isnan(a - b) else abs(a - b)


def main():
    lines = [open(name, encoding="utf-8").read().splitlines() for name in sys.argv[1:3]]
    if len(lines[0]) != len(lines[1]) or not lines[0]:
        sys.exit(f"{len(lines[0])} and {len(lines[1])} lines")
    absolute = len(sys.argv) > 3
    bound = float(sys.argv[3]) if absolute else BOUND
    worst = 0
    for number, (found, expected) in enumerate(zip(*lines), 1):
        try:
            both = list(pairs(json.loads(found), json.loads(expected)))
        except ValueError as error:
            sys.exit(f"line {number}: {error}")
        scale = 1.0 if absolute else max([1.0] + [abs(b) for _, b in both])
        error = max([0.0] + [distance(a, b) / scale for a, b in both])
        if error > bound:
            sys.exit(f"line {number}: off by {error}:\n{found}\n{expected}")
        worst = max(worst, error)
    print(f"{len(lines[0])} lines, largest error {worst:.2g}")


main()
