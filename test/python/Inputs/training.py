"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import pathlib
import sys

import common
import dbc
import numpy as np
from common import raises

scratch = pathlib.Path(sys.argv[1])
m = dbc.load(common.model("tree"), vocab=100, mode="train", real="f64", seed=2)
rng = np.random.default_rng(0)
inputs = [(tree, rng.normal(size=4)) for tree in common.trees(m, 5)]

# The gradient is that of the sum of weights times losses: compared with differences.
weights = np.array([1, 2, 0.5, 0, 3])
value, gradients = m.far.value_and_grad(inputs, weights=weights)
assert gradients.result.shape == (5,) and abs(value - gradients.result @ weights) < 1e-9 and set(gradients) == {"E", "W", "b"}
assert abs(m.far.value_and_grad(inputs)[0] - gradients.result.mean()) < 1e-6
start = m.weights()
for name in gradients:
    gradient = np.asarray(gradients[name])
    assert gradient.shape == start[name].shape
    for place in [(0,) * gradient.ndim, tuple(n - 1 for n in gradient.shape), tuple(n // 2 for n in gradient.shape)]:
        ends = []
        for step in (1 / 128, -1 / 128):  # exact in float32
            moved = {n: w.copy() for n, w in start.items()}
            moved[name][place] = np.float32(moved[name][place] + np.float32(step))
            m.set_weights(moved)
            ends.append((m.far(inputs) @ weights, moved[name][place]))
        difference = (ends[0][0] - ends[1][0]) / (float(ends[0][1]) - float(ends[1][1]))
        assert abs(difference - gradient[place]) < 1e-3 * max(1, abs(difference)), (name, place, difference, gradient[place])

# Of a table only the rows that were looked up.
table = gradients["E"]
assert table.shape == (100, 4) and table.rows.tolist() == sorted(set(table.rows)) and len(table.values) == len(table.rows) <= 20
assert (table.to_dense()[table.rows] == table.values).all() and np.count_nonzero(table.to_dense().any(axis=1)) <= len(table.rows)

# Which rows these are an optimizer believes: they cannot be written.
try:
    table.rows[0] = 10**6
except ValueError:
    pass
else:
    raise AssertionError
try:
    table.rows.flags.writeable = True
except ValueError:
    pass
else:
    raise AssertionError

# Optimizers: the formulas, from the gradients that are shown.
m = dbc.load(common.model("tree"), vocab=100, mode="train", seed=2)
f32 = np.float32


def formula(make, rule):
    m.set_weights(start)
    optimizer, state = make(m), {}
    for _ in range(3):
        before = m.weights()
        _, gradients = m.far.value_and_grad(inputs)
        given = {name: np.array(np.asarray(gradients[name]), np.float64) for name in gradients}
        optimizer.step(gradients)
        after = m.weights()
        for name in given:
            wanted = rule(before[name].astype(np.float64), given[name], state.setdefault(name, {}))
            assert np.allclose(after[name], wanted, rtol=1e-4, atol=1e-6), (make, name, abs(after[name] - wanted).max())
    assert optimizer.steps == 3


def adam(decay):
    def rule(w, g, s):
        s["t"] = s.get("t", 0) + 1
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
        w = w * (1 - 0.05 * decay)
        return w - 0.05 * s["m"] / (1 - 0.9 ** s["t"]) / (np.sqrt(s["v"] / (1 - 0.999 ** s["t"])) + 1e-8)
    return rule


def adagrad(w, g, s):
    s["s"] = s.get("s", 0) + g * g
    return w - 0.1 * g / (np.sqrt(s["s"]) + 1e-10)


def momentum(w, g, s):
    s["m"] = 0.5 * s.get("m", 0) + g
    return w - 0.1 * s["m"]


formula(lambda m: dbc.SGD(m, lr=0.1), lambda w, g, s: w - 0.1 * g)
formula(lambda m: dbc.SGD(m, lr=0.1, momentum=0.5), momentum)
formula(lambda m: dbc.AdaGrad(m, lr=0.1), adagrad)
formula(lambda m: dbc.Adam(m, lr=0.05), adam(0))
formula(lambda m: dbc.AdamW(m, lr=0.05, weight_decay=0.1), adam(0.1))

# What is changed in the arrays of gradients is what a step goes by; a frozen parameter stays.
m.set_weights(start)
_, gradients = m.far.value_and_grad(inputs)
gradients["b"][:] = 1
optimizer = dbc.SGD(m, lr=1.0)
optimizer.freeze("W")
optimizer.step(gradients)
assert np.allclose(m.weights()["b"], start["b"] - 1) and (m.weights()["W"] == start["W"]).all()

# A training that goes on from files gives the same bits.
def train(m, optimizer, steps):
    for _ in range(steps):
        optimizer.step(m.far.value_and_grad(inputs)[1])


one = dbc.Adam(m, lr=0.01)
train(m, one, 3)
m.save_weights(scratch / "w.safetensors")
one.save(scratch / "o.safetensors")
train(m, one, 2)
other = dbc.load(common.model("tree"), vocab=100, mode="train", weights=scratch / "w.safetensors")
two = dbc.Adam(other, lr=0.01)
two.load(scratch / "o.safetensors")
train(other, two, 2)
assert all((m.weights()[name] == other.weights()[name]).all() for name in start)

# Dropout: in gradients, by seed and step; not in plain values.
plain = m.drops(t for t, _ in inputs)
m.set_dropout(7)
first = [m.drops.value_and_grad([t for t, _ in inputs])[0] for _ in range(2)]
m.set_dropout(7)
assert first == [m.drops.value_and_grad([t for t, _ in inputs])[0] for _ in range(2)] and first[0] != first[1]
assert (m.drops([t for t, _ in inputs]) == plain).all() and abs(first[0] - plain.mean()) > 1e-6

# "weight" of lines: the mean of weight times loss.
line = '{"nodes": [{"Leaf": {"word": %d}}], "args": {"t": 0, "y": [0, 0, 0, 0]}, "weight": %d}\n'
value, gradients = m.far.value_and_grad(line % (1, 2) + line % (2, 5))
assert abs(value - (2 * gradients.result[0] + 5 * gradients.result[1]) / 2) < 1e-6

# Gradients of fields and arguments: lists as lists.
d = dbc.load(common.model("dense"), mode="train", gradients=["Tree.x", "far.y"])
leaf = d.Leaf(x=[1, 2, 3, 4])
_, gradients = d.far.value_and_grad([(leaf, [0, 0, 0, 0]), (d.Leaf(x=[0] * 4), [1, 1, 1, 1])])
assert gradients["Tree.x"].shape == (2, 4) and np.allclose(gradients["far.y"], [-np.tanh([1, 2, 3, 4]), [1, 1, 1, 1]], atol=1e-6)

# Those of components have the components' shapes.
c = dbc.load(common.model("clashes"), mode="train", gradients="all")
_, gradients = c.record_.value_and_grad([({"a": 1, "b": [[1, 2, 3], [4, 5, 6]]}, [(2, [1, 2])]), ((2, np.ones((2, 3))), [])], weights=[1, 1])
assert gradients["record_.p.a"].tolist() == [91, 6]
assert gradients["record_.p.b"].tolist() == [[[2, 4, 6], [8, 10, 12]], [[4] * 3] * 2]
assert [each.tolist() for each in gradients["record_.q.0"]] == [[3], []]
assert [each.tolist() for each in gradients["record_.q.1"]] == [[[2, 2]], []] and gradients["record_.q.1"][1].shape == (0, 2)
_, gradients = d.far.value_and_grad([(leaf, [0, 0, 0, 0])])

# What is refused, and changes nothing.
with raises(dbc.CallError, "the gradients are of another model"):
    two.step(gradients)
_, gradients = m.far.value_and_grad(inputs)
before = m.weights()
gradients["b"][1] = np.nan
with raises(dbc.CallError, "tree: the gradient of `b` is not finite"):
    one.step(gradients)
assert all((m.weights()[name] == before[name]).all() for name in before)
with raises(dbc.CallError, "tree has no parameter `c`"):
    one.freeze("c")
