"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import json
import pathlib
import subprocess
import sys

import common
import dbc
import numpy as np

scratch = pathlib.Path(sys.argv[1])
program = sys.argv[2]
m = dbc.load(common.model("tree"), vocab=20, seed=5)

# What `dbc run` prints of the same lines, weights and seed: from a string, a file, objects and arrays.
lines = subprocess.run([program, "sample", common.model("tree"), "-Dvocab=20", "-n", "40", "--entry", "code"],
                       capture_output=True, text=True, check=True).stdout
(scratch / "lines").write_text(lines)
printed = subprocess.run([program, "run", common.model("tree"), "-Dvocab=20", "--seed", "5", "--entry", "code"], input=lines,
                         capture_output=True, text=True, check=True).stdout
expected = np.array([json.loads(line) for line in printed.splitlines()], np.float32)
got = m.code(lines)
assert got.dtype == np.float32 and got.shape == (40, 4)
assert (got == expected).all()
assert (m.code(scratch / "lines") == expected).all() and (m.code(lines.encode()) == expected).all()
assert len(m.code.batch(lines + "\n \n")) == 40  # empty lines at the end are none


def objects(line):
    made = []
    for node in json.loads(line)["nodes"]:
        made.append(m.constructors[next(iter(node))]())
    for node, its in zip(json.loads(line)["nodes"], made):
        for name, value in next(iter(node.values())).items():
            setattr(its, name, value if name == "word" else made[value])
    return made[json.loads(line)["args"]["t"]]


inputs = [objects(line) for line in lines.splitlines()]
assert (m.code(inputs) == expected).all()
assert (m.code(iter(inputs)) == expected).all()

kind, word, left, right, begin, roots = [], [], [], [], [0], []
for line in lines.splitlines():
    first = len(kind)
    for node in json.loads(line)["nodes"]:
        name, fields = next(iter(node.items()))
        kind.append(name == "Node")
        word.append(fields.get("word", 0))
        left.append(fields.get("left", -first) + first)
        right.append(fields.get("right", -first) + first)
    begin.append(len(kind))
    roots.append(json.loads(line)["args"]["t"] + first)
columns = m.columns(40, {"Tree": dict(kind=kind, begin=begin, word=word, left=left, right=right)}, {"t": roots})
assert (m.code(columns) == expected).all()

# Sharing is by identity: the same object is one node.
leaf = m.Leaf(3)
assert len(m.code.batch([m.Node(leaf, leaf)]).nodes("Tree")) == 2
assert len(m.code.batch([m.Node(m.Leaf(3), m.Leaf(3))]).nodes("Tree")) == 3

# A batch may be run again, and by an entry that has the same arguments.
batch = m.drops.batch(inputs)
assert (m.code(batch) == expected).all() and (m.code(batch) == expected).all()

# Threads change no bit; weights go through a file and through a dict.
m.save_weights(scratch / "w.safetensors")
for again in (dbc.load(common.model("tree"), vocab=20, weights=scratch / "w.safetensors", threads=2),
              dbc.load(common.model("tree"), dims={"vocab": 20}, weights=m.weights())):
    assert (again.code(inputs) == expected).all()
assert dbc.load(common.model("tree"), vocab=20, real="f64").code(inputs).dtype == np.float64

# DLPack: the array is taken over without a copy.
shown = np.from_dlpack(got)
assert shown.ctypes.data == got.ctypes.data

# All that fields, arguments and results may be.
f = dbc.load(common.model("fields"))
a = f.Token(word=1, class_=5, flag=True, deps=[], xs=[[1, 2], [3, 4]], ys=[[1.0], [], [2, 3]])
b = f.Token(word=1, class_=-5, flag=np.True_, deps=(a, a), xs=np.zeros((0, 2)), ys=[])
total, pair, listed, nested, number, flag = f.report_([(a, {"a": 1, "b": [2, 3]}, [(a, 1.5), (b, 2)]), {"t": b, "p": (3, [4, 5]), "q": []}])
assert total.tolist() == [10, 0] and pair.a.tolist() == [1, 3] and pair.b.tolist() == [[2, 3], [4, 5]]
assert [each.tolist() for each in listed] == [[1.5, 2], []]
assert [[each.tolist() for each in of] for of in nested] == [[[1], [], [2, 3]], []]
assert number.tolist() == [5, -5] and number.dtype == np.int32 and flag.tolist() == [True, True] and flag.dtype == bool
again = f.report_([{"t": b, "p": pair.__class__(1.0, np.ones(2)), "q": ()}])
assert again[1].b.tolist() == [[1, 1]]
assert f.load([a, b])[1] is b and f.word([f.A(a), f.B(7)]).tolist() == [5, 7]
product, indices = f.both([(np.eye(2), np.array([0, 1, 2], np.uint8)), ([[1, 1], [0, 1]], [])])
assert product.tolist() == [[1, 2], [3, 2]] and [each.tolist() for each in indices] == [[0, 1, 2], []]
assert f.nothing([(), ()]).tolist() == [1, 1] and f.nothing([]).shape == (0,)
assert f.load('{"nodes": [{"B": {"a": 1}}, {"Token": {}}], "args": {"t": 1}}') == [1]
batch = f.columns(1, {"Token": {"begin": [0, 2], "ys": ([0, 1, 2], [0, 2, 3], [1, 2, 3]), "xs": ([0, 0, 1], [[5, 6]]), "class": [3, 4],
                                "flag": [True, False]}}, {"t": [1], "p.a": [2], "p.b": [[7, 8]], "q.0": ([0, 2], [1, 0]), "q.1": ([0, 2], [9, 8])})
assert str(f.report_(batch)[2:4]) == str(([np.array([9, 8], np.float32)], [[np.array([3], np.float32)]]))

# A chain that Python could not recurse over.
chain = m.Leaf(1)
for i in range(200000):
    chain = m.Node(left=chain, right=m.Leaf(i % 20))
assert m.code([chain]).shape == (1, 4)
