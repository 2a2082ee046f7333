"""Runs each bad line of input between two good ones, in one batch: the good ones must keep their bytes, the exit code is 1.
Prints what was said about each bad one.

usage: bad_inputs.py DBC bad.dyn FOLDER     FOLDER is for files in between

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import subprocess
import sys

dbc, model, folder = sys.argv[1:4]

KNOWN = {"Known": {"id": 3, "weight": 0.5}}
LEAF = {"Leaf": {"word": 0}}
ARGS = {"t": 1, "scale": 1, "words": [0]}


def node(constructor, **fields):
    return {constructor: fields}


def many(**changed):
    return {"Many": {**{"parts": [1], "bias": [1, 2, 3], "sure": True}, **changed}}


def line(*more, nodes=(KNOWN, LEAF), **args):
    return json.dumps({"nodes": [*nodes, *more], "args": {**ARGS, **args}})


GOOD = [
    line(node("Node", left=1, right=3), many(), t=2),
    line(many(parts=[1, 1, 4], sure=False), node("Unknown"), {"Leaf": {"word": 3}}, t=2, scale=-2, words=[3, 0, 0]),
]

BAD = {
    "a constructor that is none": line({"Node2": {"left": 1, "right": 1}}, t=2),
    "two constructors in one": line({"Leaf": {"word": 0}, "Node": {"left": 1, "right": 1}}, t=2),
    "a node that is no object": line([1, 2]),
    "fields that are no object": line({"Leaf": [0]}),
    "index too large": line(nodes=[{"Known": {"id": 10, "weight": 1}}, LEAF]),
    "index negative": line(nodes=[{"Known": {"id": -1, "weight": 1}}, LEAF]),
    "index 0.5": line(nodes=[{"Known": {"id": 0.5, "weight": 1}}, LEAF]),
    "index 3.0": line(nodes=[{"Known": {"id": 3.0, "weight": 1}}, LEAF]),
    "index beyond 32 bits": line(nodes=[{"Known": {"id": 2**40, "weight": 1}}, LEAF]),
    "index beyond 64 bits": line(nodes=[{"Known": {"id": 2**70, "weight": 1}}, LEAF]),
    "index a string": line(nodes=[{"Known": {"id": "3", "weight": 1}}, LEAF]),
    "index null": line(nodes=[{"Known": {"id": None, "weight": 1}}, LEAF]),
    "number a bool": line(nodes=[{"Known": {"id": 3, "weight": True}}, LEAF]),
    "number too large": line(nodes=[{"Known": {"id": 3, "weight": 1e300}}, LEAF]),
    "number not a number": line(nodes=[{"Known": {"id": 3, "weight": float("nan")}}, LEAF]),
    "number infinite": line(nodes=[{"Known": {"id": 3, "weight": 1}}, LEAF], scale=float("inf")),
    "bool a number": line(many(sure=1), t=2),
    "tensor too short": line(many(bias=[1, 2]), t=2),
    "tensor too deep": line(many(bias=[[1], [2], [3]]), t=2),
    "list a number": line(many(parts=1), t=2),
    "field missing": line(nodes=[{"Known": {"weight": 1}}, LEAF]),
    "child missing": line(nodes=[{"Leaf": {"word": 2}}, node("Node", left=0), KNOWN], words=[2]),
    "list missing": line(nodes=[{"Leaf": {"word": 2}}, {"Many": {"bias": [1, 2, 3], "sure": True}}, KNOWN], words=[2]),
    "field unknown": line(node("Node", left=1, rigth=1, right=1), t=2),
    "child out of range": line(node("Node", left=1, right=3), t=2),
    "child negative": line(node("Node", left=1, right=-1), t=2),
    "child 1.5": line(node("Node", left=1, right=1.5), t=2),
    "child in a list out of range": line(many(parts=[1, 1, 7]), t=2),
    "child of another type": line(node("Node", left=1, right=0), t=2),
    "child in a list of another type": line(many(parts=[1, 0]), t=2),
    "field of another type": line(nodes=[KNOWN, {"Leaf": {"word": 1}}]),
    "root of another type": line(t=0),
    "root out of range": line(t=2),
    "element of an argument of another type": line(words=[0, 1]),
    "cycle of one": line(nodes=[{"Leaf": {"word": 2}}, node("Node", left=1, right=0), KNOWN], words=[2]),
    "cycle of three": line(
        nodes=[KNOWN, node("Node", left=4, right=2), many(parts=[4, 3]), node("Node", left=1, right=4), {"Leaf": {"word": 0}}],
        words=[0]),
    "argument missing": line().replace('"scale": 1, ', ""),
    "argument unknown": line(scael=1),
    "no arguments": '{"nodes": []}',
    "no nodes": json.dumps({"args": ARGS}),
    "unknown key": '{"node": [], "args": {}}',
    "key twice": line().replace('"scale": 1', '"scale": 1, "scale": 2'),
    "field twice": line().replace('"id": 3', '"id": 3, "id": 4'),
    "a list": "[]",
    "a number": "7",
    "no JSON": "nodes",
    "two values": line() + " " + line(),
    "single quotes": line().replace('"', "'"),
    "a comma too many": line().replace("}}]", "}},]"),
    "not UTF-8": line().replace("Known", "Kno\udcff"),
    "a zero byte": line().replace("Known", "Kno\0"),
    "a hundred thousand brackets": "[" * 100000,
    "a hundred thousand objects": '{"nodes":' * 100000,
    "brackets in a field": line().replace('"id": 3', '"id": ' + "[" * 100000 + "]" * 100000),
    "a constructor with a long name": line().replace("Known", "K" * 100000),
    "a number of a hundred thousand digits": line().replace('"id": 3', '"id": ' + "3" * 100000),
}


def run(lines, name):
    with open(f"{folder}/{name}", "wb") as file:
        file.write("".join(x + "\n" for x in lines).encode(errors="surrogateescape"))
    command = [dbc, "run", model, "--input", f"{folder}/{name}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode(errors="replace")


def check(truth, what):
    if not truth:
        sys.exit(f"failed: {what}")


code, expected, err = run(GOOD, "good")
check(code == 0 and len(expected) == 2 and not err, f"the good ones: {code} {expected} {err}")

for what, text in BAD.items():
    code, found, err = run([GOOD[0], text, GOOD[1]], "mixed")
    check(code == 1 and not err, f"{what}: exit code {code}, {err}")
    check(len(found) == 3 and [found[0], found[2]] == expected, f"{what}: {found}")
    error = json.loads(found[1])["error"]
    where = f"(node {error['node']}, field {error['field']})"
    check(error["code"] == "bad_input", f"{what}: {found[1]}")
    print(f"{what}:\n  {error['message']} {where}")

# All of them in one batch, several batches, and every way to cut a line short.
mixed = [GOOD[0], *BAD.values(), GOOD[1]]
code, found, err = run(mixed, "mixed")
check(code == 1 and len(found) == len(mixed) and [found[0], found[-1]] == expected, "all in one file")
check(all(x.startswith('{"error"') for x in found[1:-1]), "all in one file are errors")
cut = [GOOD[0][:n] for n in range(len(GOOD[0]))]
code, found, err = run([GOOD[0], *cut, GOOD[1]], "cut")
check(code == 1 and len(found) == len(cut) + 2 and [found[0], found[-1]] == expected, "lines cut short")
check(all('"bad_input"' in x for x in found[1:-1]), "lines cut short are errors")
