"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import gc
import resource
import sys
import weakref

import common
import dbc
import numpy as np

# Arrays keep what they show: the model may go, and later runs change nothing that somebody holds.
m = dbc.load(common.model("tree"), vocab=20, mode="train")
inputs = common.trees(m, 8)
held = [m.code(inputs[i : i + 1]) for i in range(8)]
copies = [each.copy() for each in held]
loss, gradients = m.far.value_and_grad([(tree, [0] * 4) for tree in inputs])
gradient = gradients["W"]
copy = gradient.copy()
for _ in range(10):
    m.code(inputs)
    m.far.value_and_grad([(tree, [1] * 4) for tree in inputs])
assert all((a == b).all() for a, b in zip(held, copies)) and (gradient == copy).all()
del m, gradients, inputs
gc.collect()
assert all((a == b).all() for a, b in zip(held, copies)) and (gradient == copy).all()

# Memory that nobody shows any more is used again.
m = dbc.load(common.model("tree"), vocab=20)
batch = m.code.batch(common.trees(m, 8))
places = {m.code(batch).ctypes.data for _ in range(100)}
assert len(places) <= 2, places

# Nodes are kept by batches and by errors, not by models.
leaf = m.Leaf(3)
count = sys.getrefcount(leaf)
batch = m.code.batch([leaf, m.Node(leaf, leaf)])
assert sys.getrefcount(leaf) > count
m.code(batch)
del batch
gc.collect()
assert sys.getrefcount(leaf) == count
for wrong in (3, "x", [1]):
    try:
        m.code([m.Node(leaf, leaf), wrong])
    except dbc.InputError:
        pass
gc.collect()
assert sys.getrefcount(leaf) == count

del held, gradient

# A batch and an entry keep the code that they are of.
entry, batch = m.code, m.code.batch([leaf])
del m
gc.collect()
assert entry(batch).shape == (1, 4)
del entry, batch, leaf
gc.collect()

# A thousand loads, runs and steps leave nothing behind. Each asks the program; here its answer is kept.
from dbc import _compile

ask, answers = _compile.ask, {}
_compile.ask = lambda *asked: answers.setdefault(repr(asked), None) or answers.update({repr(asked): ask(*asked)}) or answers[repr(asked)]


def use():
    m = dbc.load(common.model("tree"), vocab=20, mode="train")
    loss, gradients = m.far.value_and_grad([(m.Node(m.Leaf(1), m.Leaf(2)), np.zeros(4))])
    dbc.Adam(m).step(gradients)
    m.code([m.Leaf(1)])
    try:
        m.code([3])
    except dbc.InputError:
        pass
    return weakref.ref(m), weakref.ref(m._code), weakref.ref(m.Leaf)


def memory():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 10


for _ in range(100):
    use()
before = memory()
for _ in range(1000):
    references = use()
after = memory()
assert [reference() for reference in references] == [None] * 3
assert after - before < 4096, f"{before} KiB, then {after} KiB"
