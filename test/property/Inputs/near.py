"""Whether the numbers of two files of JSON lines differ by no more than a bound, relative to what is larger than 1.

usage: near.py BOUND EXPECTED FOUND

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys


def near(a, b, bound):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(near(x, y, bound) for x, y in zip(a, b))
    return abs(a - b) <= bound * max(1, abs(a))


def main():
    bound, *files = sys.argv[1:]
    expected, found = ([json.loads(line) for line in open(file)] for file in files)
    if not near(expected, found, float(bound)):
        print(f"{files[1]} is not near {files[0]}")
        return 1
    return 0


sys.exit(main())
