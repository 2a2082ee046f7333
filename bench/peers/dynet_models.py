"""DyNet's models for serve.py: one computation graph a batch, batched by DyNet itself.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import itertools
import os
import sys
import time

import numpy

# What DyNet calls the ways to batch that the implementations are named after.
AUTOBATCH = {"dynet-agenda": "1", "dynet-depth": "2"}
LEAF = 0


def start_dynet(impl):
    """DyNet with the way to batch that `impl` names: it takes its options from the command line when it is loaded, and
    says on stderr what it took."""
    sys.argv += ["--dynet-autobatch", AUTOBATCH[impl], "--dynet-mem", "1024"]
    stderr, silence = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)
    try:
        import dynet
    finally:
        os.dup2(stderr, 2)
    return dynet


class Cell:
    """The activations of M x + b, where x is made of several pieces: `sigmoids` logistic functions, then tanh, each of the
    same size. There are several ways to write it; `form` has
        per_gate   one affine map for each of them, not one for all
        per_piece  one matrix for each piece of x, not one for x put together
    """

    def __init__(self, dy, collection, M, b, sigmoids, gates, pieces):
        """`pieces`: the extents of the pieces, in the order of M's columns."""
        self.dy, self.sigmoids, self.gates = dy, sigmoids, gates
        self.extent = len(b) // gates
        add = lambda values: collection.parameters_from_numpy(numpy.ascontiguousarray(values))
        cut = lambda matrix: [add(part) for part in numpy.split(matrix, numpy.cumsum(pieces)[:-1], axis=1)]
        blocks = list(zip(numpy.split(M, gates), numpy.split(b, gates)))
        # The matrices and the bias of each affine map, by form.
        self.maps = {
            (False, False): [(add(b), [add(M)])],
            (False, True): [(add(b), cut(M))],
            (True, False): [(add(part), [add(rows)]) for rows, part in blocks],
            (True, True): [(add(part), cut(rows)) for rows, part in blocks],
        }

    def renew(self, form):
        """To be called for each graph."""
        self.form = form
        self.expressions = [
            (bias.expr(False), [matrix.expr(False) for matrix in matrices]) for bias, matrices in self.maps[form]
        ]

    def __call__(self, *pieces):
        dy, at = self.dy, self.sigmoids
        per_gate, per_piece = self.form
        if not per_piece and len(pieces) > 1:
            pieces = [dy.concatenate(list(pieces))]
        y = [
            dy.affine_transform([bias, *itertools.chain.from_iterable(zip(matrices, pieces))])
            for bias, matrices in self.expressions
        ]
        if per_gate:
            return [dy.logistic(x) for x in y[:at]] + [dy.tanh(x) for x in y[at:]]
        end, E = self.extent * self.gates, self.extent
        flat = dy.logistic(dy.pick_range(y[0], 0, at * E))
        gates = [dy.pick_range(flat, g * E, (g + 1) * E) for g in range(at)]
        return gates + [dy.tanh(dy.pick_range(y[0], g, g + E)) for g in range(at * E, end, E)]


class Model:
    """A model whose cells are written in the form that is fastest for the case."""

    schedule_seconds = None

    def __init__(self, impl, threads):
        self.dy = start_dynet(impl)
        self.collection = self.dy.ParameterCollection()
        self.form = (False, False)
        self.cells = []

    def cell(self, *arguments):
        self.cells.append(Cell(self.dy, self.collection, *arguments))
        return self.cells[-1]

    def lookup(self, values):
        return self.collection.lookup_parameters_from_numpy(values)

    def parameter(self, values):
        return self.collection.parameters_from_numpy(values)

    def load(self, weights, batches):
        self.make({name: numpy.frombuffer(values, dtype=numpy.float32) for name, values in weights.items()})
        # As many batches as have about 256 inputs, or one.
        some = batches[: max(1, 256 * len(batches) // sum(len(batch["arguments.begin"]) - 1 for batch in batches))]
        self.form = min(self.cells[0].maps, key=lambda form: self.seconds(form, some))
        per_gate, per_piece = self.form
        self.note = (
            f"DyNet {self.dy.__version__} in {os.path.dirname(os.path.abspath(self.dy.__file__))}, "
            f"one affine a {'gate' if per_gate else 'cell'}, "
            f"{'a matrix for each operand' if per_piece else 'operands put together'}"
        )

    def seconds(self, form, batches):
        """Of the batches in that form, the shortest of some tries."""
        self.form, tries = form, []
        for _ in range(4):
            start = time.perf_counter()
            for batch in batches:
                self.run(batch)
            tries.append(time.perf_counter() - start)
        return min(tries)

    def run(self, batch):
        self.dy.renew_cg()
        for cell in self.cells:
            cell.renew(self.form)
        return self.results(batch).npvalue()


class TreeLstm(Model):
    """The binary Tree-LSTM of examples/tree_lstm: softmax of the classes at each root."""

    def make(self, weights):
        H = len(weights["d"]) // 5
        W = weights["W"].reshape(3 * H, -1)
        embed = W.shape[1]
        self.E = self.lookup(weights["E"].reshape(-1, embed))
        self.leaf = self.cell(W, weights["b"], 2, 3, [embed])
        self.node = self.cell(weights["U"].reshape(5 * H, 2 * H), weights["d"], 4, 5, [H, H])
        self.V, self.e = self.parameter(weights["V"].reshape(-1, H)), self.parameter(weights["e"])

    def results(self, batch):
        dy = self.dy
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        h, c = [], []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                i, o, u = self.leaf(dy.lookup(self.E, word[n], update=False))
                new = dy.cmult(i, u)
            else:
                l, r = left[n], right[n]
                i, fl, fr, o, u = self.node(h[l], h[r])
                new = dy.esum([dy.cmult(i, u), dy.cmult(fl, c[l]), dy.cmult(fr, c[r])])
            c.append(new)
            h.append(dy.cmult(o, dy.tanh(new)))
        V, e = self.V.expr(False), self.e.expr(False)
        return dy.concatenate([dy.softmax(dy.affine_transform([e, V, h[root]])) for root in batch["arguments.t"]])
