#!/usr/bin/env python3
"""What calls of the Python package cost beyond the C++ they run, and beside DyNet's own interface for Python.

usage: PYTHONPATH=build/python DBC_EXECUTABLE=build/bin/dbc python bench/python.py [--dynet DIR] [--trees N]

Times are the least of several rounds, of calls medians of what each takes beyond its run; in microseconds, by one thread. Trees are
random binary ones of 19 words on average, the length of the sentences in the Stanford Sentiment Treebank; the model is
examples/tree_lstm. DIR has DyNet: `pip install --target DIR --no-deps dyNET38`. What is compared there is to build the inputs of a
batch: with dbc nodes and the batch of them, with DyNet the expressions of the same network, neither computed.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import os
import random
import statistics
import sys
import time

import dbc
import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
VOCABULARY = 20000


def least_us(work, seconds=1.0, rounds=7):
    """The least time of a call, of `rounds` rounds in `seconds`."""
    start = time.perf_counter()
    work()
    calls = max(1, int(seconds / rounds / max(time.perf_counter() - start, 1e-7)))
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def draw(rng, words):
    """A tree as nested pairs."""
    if words == 1:
        return rng.randrange(VOCABULARY)
    left = rng.randrange(1, words)
    return draw(rng, left), draw(rng, words - left)


def build(tree, leaf, node):
    return node(build(tree[0], leaf, node), build(tree[1], leaf, node)) if isinstance(tree, tuple) else leaf(tree)


def dynet_builder(folder, hidden=150, embed=300):
    """What builds the expressions of a tree, and what makes a new graph."""
    sys.path.insert(0, folder)
    sys.argv = sys.argv[:1]
    import dynet as dy

    params = dy.ParameterCollection()
    table = params.add_lookup_parameters((VOCABULARY, embed))
    W, b = params.add_parameters((3 * hidden, embed)), params.add_parameters(3 * hidden)
    U, d = params.add_parameters((5 * hidden, 2 * hidden)), params.add_parameters(5 * hidden)

    def leaf(word):
        gates = dy.affine_transform([b, W, dy.lookup(table, word)])
        i, o, u = (dy.pick_range(gates, k * hidden, (k + 1) * hidden) for k in range(3))
        c = dy.cmult(dy.logistic(i), dy.tanh(u))
        return dy.cmult(dy.logistic(o), dy.tanh(c)), c

    def node(left, right):
        gates = dy.affine_transform([d, U, dy.concatenate([left[0], right[0]])])
        i, f, g, o, u = (dy.pick_range(gates, k * hidden, (k + 1) * hidden) for k in range(5))
        c = dy.esum([dy.cmult(dy.logistic(i), dy.tanh(u)), dy.cmult(dy.logistic(f), left[1]), dy.cmult(dy.logistic(g), right[1])])
        return dy.cmult(dy.logistic(o), dy.tanh(c)), c

    return dy.renew_cg, leaf, node


def columns_of(trees):
    """Trees as flat arrays: data and arguments of Model.columns."""
    kind, word, left, right, begin, roots = [], [], [], [], [0], []

    def add(tree):
        a, b = (add(tree[0]), add(tree[1])) if isinstance(tree, tuple) else (0, 0)
        kind.append(isinstance(tree, tuple))
        word.append(0 if isinstance(tree, tuple) else tree)
        left.append(a)
        right.append(b)
        return len(kind) - 1

    for tree in trees:
        roots.append(add(tree))
        begin.append(len(kind))
    arrays = {"begin": begin, "word": word, "left": left, "right": right}
    data = {name: np.array(values, np.int32) for name, values in arrays.items()}
    return {"Tree": {**data, "kind": np.array(kind, np.uint8)}}, {"t": np.array(roots, np.int32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dynet")
    parser.add_argument("--trees", type=int, default=64)
    options = parser.parse_args()
    rng = random.Random(0)
    trees = [draw(rng, rng.randrange(5, 34)) for _ in range(options.trees)]
    model = dbc.load(os.path.join(ROOT, "examples", "tree_lstm", "tree_lstm.dyn"), vocab=VOCABULARY)

    def beyond(batch, calls):
        """(what a call takes beyond the C++ run in it, that run), medians."""
        beyond, runs = [], []
        for _ in range(calls):
            start = time.perf_counter_ns()
            model.sentiment(batch)
            took = time.perf_counter_ns() - start
            runs.append(model._loaded.run_ns / 1e3)
            beyond.append(took / 1e3 - runs[-1])
        return statistics.median(beyond), statistics.median(runs)

    rows = []
    small = model.sentiment.batch([model.Leaf(word=3)])
    rows.append(("call with a batch of one leaf, beyond the C++ run", beyond(small, 20000)[0]))
    batch = model.sentiment.batch([build(tree, model.Leaf, model.Node) for tree in trees])
    more, run = beyond(batch, 200)
    rows.append((f"C++ run of {len(trees)} trees", run))
    rows.append((f"call with a batch of {len(trees)} trees, beyond the C++ run", more))

    def nodes():
        return [build(tree, model.Leaf, model.Node) for tree in trees]

    made = nodes()
    rows.append((f"{len(trees)} trees of Python objects", least_us(nodes)))
    rows.append(("a batch of these objects", least_us(lambda: model.sentiment.batch(made))))
    total = least_us(lambda: model.sentiment.batch(nodes()))
    rows.append(("both", total))
    data, args = columns_of(trees)
    rows.append(("a batch of the same trees in NumPy arrays", least_us(lambda: model.columns(len(trees), data, args))))
    if options.dynet:
        renew, leaf, node = dynet_builder(options.dynet)

        def expressions():
            renew()
            return [build(tree, leaf, node) for tree in trees]

        dynet = least_us(expressions)
        rows.append(("DyNet: expressions of the same trees", dynet))
        print(f"dbc builds the batch in {100 * total / dynet:.1f} % of DyNet's time")
    for what, us in rows:
        print(f"{us:10.1f} us  {what}")


main()
