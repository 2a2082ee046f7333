#!/usr/bin/env python3
# Colours all .dyn files by editors/dyn.tmLanguage.json as an editor does, line by line, and compares with the lexer's grammar.
# textmate.py ROOT
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import glob
import json
import re
import sys

root = sys.argv[1]
with open(f"{root}/editors/dyn.tmLanguage.json") as file:
    patterns = json.load(file)["patterns"]
with open(f"{root}/dsl/Dyn.g4") as file:
    words = set(re.findall(r"^[A-Z]+ *: '([a-z]+)' ;", file.read(), re.M))
assert len(words) > 20, words


def colour(text):
    """(scope, text) of each piece: of the patterns that match first in a line, the first one."""
    inside = None
    for line in text.split("\n"):
        at = 0
        while at <= len(line):
            if inside:
                end = re.compile(inside["end"]).search(line, at)
                yield inside["name"], line[at : end.end() if end else len(line)]
                if not end:
                    break
                at, inside = end.end(), None
                continue
            found = [(match.start(), i, match) for i, p in enumerate(patterns) if (match := re.compile(p.get("match") or p["begin"]).search(line, at))]
            if not found:
                break
            _, i, match = min(found, key=lambda each: each[:2])
            pattern = patterns[i]
            if "begin" in pattern:
                inside = pattern
                yield pattern["name"], match.group()
            elif "captures" in pattern:
                for number, capture in pattern["captures"].items():
                    yield capture["name"], match.group(int(number))
            else:
                yield pattern["name"], match.group()
            at = match.end() if match.end() > match.start() else match.end() + 1


files = [path for pattern in ("examples/*/*.dyn", "dsl/*/*.dyn", "dsl/*/*/*.dyn", "test/models/*.dyn") for path in glob.glob(f"{root}/{pattern}")]
keywords = declared = 0
for path in files:
    with open(path) as file:
        text = file.read()
    pieces = list(colour(text))
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    expected = [word for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", code) if word in words]
    found = [piece for scope, piece in pieces if scope.startswith(("keyword.d", "keyword.c", "constant.l"))]
    assert found == expected, f"{path}: {found} are coloured as keywords, {expected} are some"
    keywords += len(found)
    declared += sum(scope == "entity.name.dyn" for scope, _ in pieces)
print(f"{len(files)} files, {keywords} keywords, {declared} names declared")
