"""Prints what would mend each loss of one kind in a report of `dbc report --json`, from standard input, with its entry.

usage: lost.py KIND

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys

for program in json.load(sys.stdin)["programs"]:
    for lost in program["lost"]:
        if lost["kind"] == sys.argv[1]:
            print(f"{program['entry']}: {lost['mend']}")
