"""DyNet's models for serve.py: one computation graph a batch, batched by DyNet itself.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import collections
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


class Form(collections.namedtuple("Form", "per_gate per_piece own_lstm", defaults=[False])):
    """A way to write a model's cells.

    per_gate   one affine map for each gate, not one for all
    per_piece  one matrix for each operand of a product, not one for the operands concatenated
    own_lstm   DyNet's own nodes for an LSTM, whatever the others are
    """

    def __str__(self):
        cell = "DyNet's LSTM nodes" if self.own_lstm else f"one affine a {'gate' if self.per_gate else 'cell'}"
        return f"{cell}, {'a matrix for each operand' if self.per_piece else 'operands concatenated'}"


class Cell:
    """The activations of M x + b, where x is made of several pieces: `sigmoids` logistic functions, then tanh, each of
    the same size."""

    def __init__(self, model, M, b, sigmoids, gates, pieces, other="tanh"):
        """`pieces`: the extents of the pieces, in the order of M's columns. `b` may be None. `other`: DyNet's name of
        what is no logistic function."""
        dy, collection = model.dy, model.collection
        self.trained, self.bias_trained = model.trained, model.trained and b is not None
        self.dy, self.sigmoids, self.gates, self.other = dy, sigmoids, gates, getattr(dy, other)
        self.extent = len(M) // gates
        b = numpy.zeros(len(M), numpy.float32) if b is None else b
        add = lambda values: collection.parameters_from_numpy(numpy.ascontiguousarray(values))
        cut = lambda matrix: [add(piece) for piece in numpy.split(matrix, numpy.cumsum(pieces)[:-1], axis=1)]
        blocks = list(zip(numpy.split(M, gates), numpy.split(b, gates)))
        # The bias and the matrices of each affine map, by form.
        self.maps = {
            (False, False): [(add(b), [add(M)])],
            (False, True): [(add(b), cut(M))],
            (True, False): [(add(block), [add(rows)]) for rows, block in blocks],
            (True, True): [(add(block), cut(rows)) for rows, block in blocks],
        }

    def renew(self, form):
        """To be called for each graph."""
        self.form = form
        self.expressions = [
            (bias.expr(self.bias_trained), [matrix.expr(self.trained) for matrix in matrices])
            for bias, matrices in self.maps[form.per_gate, form.per_piece]
        ]

    def __call__(self, *pieces):
        """The gates' activations for the expressions that x is made of."""
        dy, at = self.dy, self.sigmoids
        if not self.form.per_piece and len(pieces) > 1:
            pieces = [dy.concatenate(list(pieces))]
        y = [
            dy.affine_transform([bias, *itertools.chain.from_iterable(zip(matrices, pieces))])
            for bias, matrices in self.expressions
        ]
        if self.form.per_gate or self.gates == 1:
            return [dy.logistic(x) for x in y[:at]] + [self.other(x) for x in y[at:]]
        size, middle, end = self.extent, at * self.extent, self.gates * self.extent
        logistic = dy.logistic(dy.pick_range(y[0], 0, middle))
        gates = [dy.pick_range(logistic, begin, begin + size) for begin in range(0, middle, size)]
        return gates + [self.other(dy.pick_range(y[0], begin, begin + size)) for begin in range(middle, end, size)]


class Model:
    """A model whose cells are written in the form that is fastest for the case."""

    trained = False  # whether there are gradients of its parameters
    schedule_seconds = None
    forms = [Form(False, False), Form(False, True), Form(True, False), Form(True, True)]

    def __init__(self, impl, threads):
        self.dy = start_dynet(impl)
        self.collection = self.dy.ParameterCollection()
        self.form = None
        self.cells = []

    def cell(self, *arguments, **named):
        """A cell of that form."""
        self.cells.append(Cell(self, *arguments, **named))
        return self.cells[-1]

    def row(self, table, number):
        """A row of a lookup as an expression."""
        return self.dy.lookup(table, number, update=self.trained)

    def lookup(self, values):
        return self.collection.lookup_parameters_from_numpy(values)

    def parameter(self, values):
        return self.collection.parameters_from_numpy(values)

    def load(self, weights, batches):
        self.make({name: numpy.frombuffer(values, dtype=numpy.float32) for name, values in weights.items()})
        # As many batches as have about 256 inputs, or one.
        some = batches[: max(1, 256 * len(batches) // sum(len(batch["arguments.begin"]) - 1 for batch in batches))]
        self.form = min(self.forms, key=lambda form: self.seconds(form, some))
        folder = os.path.dirname(os.path.abspath(self.dy.__file__))
        self.note = f"DyNet {self.dy.__version__} in {folder}, {self.form}"

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

    def states(self, batch):
        """h of all nodes."""
        dy = self.dy
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        h, c = [], []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                i, o, u = self.leaf(self.row(self.E, word[n]))
                new = dy.cmult(i, u)
            else:
                l, r = left[n], right[n]
                i, fl, fr, o, u = self.node(h[l], h[r])
                new = dy.esum([dy.cmult(i, u), dy.cmult(fl, c[l]), dy.cmult(fr, c[r])])
            c.append(new)
            h.append(dy.cmult(o, dy.tanh(new)))
        return h

    def results(self, batch):
        dy, h = self.dy, self.states(batch)
        V, e = self.V.expr(False), self.e.expr(False)
        return dy.concatenate([dy.softmax(dy.affine_transform([e, V, h[root]])) for root in batch["arguments.t"]])


class Lstm:
    """An LSTM as a cell (see Cell) or with DyNet's own nodes."""

    def __init__(self, model, W, U, b):
        """[4 hidden, ...]: i, f, g, o."""
        self.dy, self.hidden, self.trained = model.dy, U.shape[1], model.trained
        order = [0, 1, 3, 2]  # the logistic functions first; DyNet's nodes have it so too
        W, U, b = (numpy.concatenate([numpy.split(x, 4)[gate] for gate in order]) for x in (W, U, b))
        self.cell = model.cell(numpy.concatenate([W, U], axis=1), b, 3, 4, [W.shape[1], self.hidden])
        b[self.hidden : 2 * self.hidden] -= 1  # DyNet's nodes add it
        self.own = [model.parameter(x) for x in (W, U, b)]
        model.cells.append(self)

    def renew(self, form):
        self.form = form
        self.expressions = [parameter.expr(self.trained) for parameter in self.own]
        self.zero = self.dy.zeros(self.hidden)

    def states(self, inputs):
        """h after each of the inputs."""
        dy, h, c, all_h = self.dy, self.zero, self.zero, []
        for x in inputs:
            if self.form.own_lstm:
                gates = dy.vanilla_lstm_gates(x, h, *self.expressions)
                c = dy.vanilla_lstm_c(c, gates)
                h = dy.vanilla_lstm_h(c, gates)
            else:
                i, f, o, g = self.cell(x, h)
                c = dy.cmult(f, c) + dy.cmult(i, g)
                h = dy.cmult(o, dy.tanh(c))
            all_h.append(h)
        return all_h


class Tagger(Model):
    """The scores of test/models/05_bilstm_crf_tagger.dyn: O tanh(H [forwards, backwards]) for each word."""

    forms = Model.forms + [Form(False, False, True), Form(False, True, True)]

    def make(self, weights):
        H = len(weights["context.fwd.b"]) // 4
        embed = len(weights["context.fwd.W"]) // (4 * H)
        self.E = self.lookup(weights["E"].reshape(-1, embed))
        self.forwards, self.backwards = (
            Lstm(
                self,
                weights[f"context.{direction}.W"].reshape(4 * H, embed),
                weights[f"context.{direction}.U"].reshape(4 * H, H),
                weights[f"context.{direction}.b"],
            )
            for direction in ("fwd", "bwd")
        )
        self.top = self.cell(weights["H"].reshape(H, 2 * H), None, 0, 1, [H, H])
        self.O = self.parameter(weights["O"].reshape(-1, H))

    def scores(self, batch):
        """Those of all words."""
        O, scores = self.O.expr(self.trained), []
        words, offsets = batch["Sentence.words"], batch["Sentence.words.offsets"]
        for row in batch["arguments.s"]:
            x = [self.row(self.E, word) for word in words[offsets[row] : offsets[row + 1]]]
            both = zip(self.forwards.states(x), reversed(self.backwards.states(reversed(x))))
            scores += [O * self.top(*states)[0] for states in both]
        return scores

    def results(self, batch):
        return self.dy.concatenate(self.scores(batch))


class LatticeLstm:
    """One direction of a lattice: the states of its characters, each with the words that end there."""

    def __init__(self, model, weights, direction):
        self.model, self.dy = model, model.dy
        self.hidden = H = len(weights[f"{direction}.b"]) // 3
        pieces = [len(weights[f"{direction}.Wa"]) // H - H, H]
        W, Ww, Wa = (weights[f"{direction}.{name}"].reshape(-1, sum(pieces)) for name in ("W", "Ww", "Wa"))
        self.character = model.cell(W, weights[f"{direction}.b"], 2, 3, pieces)  # i, o, g
        self.word = model.cell(Ww, None, 2, 3, pieces)  # f, i, g
        self.share = model.cell(Wa, None, 1, 1, pieces)

    def states(self, batch, rows, zero):
        """h of the characters `rows`, in the order in which they are read."""
        dy, model = self.dy, self.model
        before, ending = batch["Char.before"], batch["Char.ending"]
        first_before, first_ending = batch["Char.before.offsets"], batch["Char.ending.offsets"]
        h, c = {}, {}
        for t in rows:
            x = dy.lookup(model.G, batch["Char.glyph"][t], update=False)
            old = before[first_before[t]] if first_before[t] < first_before[t + 1] else None
            i, o, g = self.character(x, zero if old is None else h[old])
            mixed, whole = [], []
            for w in ending[first_ending[t] : first_ending[t + 1]]:
                start = batch["Word.start"][w]
                form = dy.lookup(model.D, batch["Word.form"][w], update=False)
                forget, write, new = self.word(form, h[start])
                cell = dy.cmult(forget, c[start]) + dy.cmult(write, new)
                share = dy.exp(self.share(x, cell)[0])
                mixed.append(dy.cmult(share, cell))
                whole.append(share)
            if whole:
                own = dy.exp(i)
                c[t] = dy.cdiv(dy.esum([dy.cmult(own, g)] + mixed), dy.esum([own] + whole))
            else:
                kept = zero if old is None else c[old]
                c[t] = kept + dy.cmult(i, g - kept)
            h[t] = dy.cmult(o, dy.tanh(c[t]))
        return [h[t] for t in rows]


class Lattice(Model):
    """The scores of test/models/lattice_lstm.dyn: O [forwards, backwards] for each character."""

    def make(self, weights):
        self.hidden = H = len(weights["fwd.b"]) // 3
        embed = len(weights["fwd.Wa"]) // H - H
        self.G, self.D = (self.lookup(weights[name].reshape(-1, embed)) for name in "GD")
        self.forwards, self.backwards = (LatticeLstm(self, weights, direction) for direction in ("fwd", "bwd"))
        self.O = self.parameter(weights["O"].reshape(-1, 2 * H))

    def results(self, batch):
        dy, O, scores = self.dy, self.O.expr(False), []
        zero = dy.zeros(self.hidden)
        forwards, backwards = batch["arguments.f"], batch["arguments.b"]
        offsets = batch["arguments.f.offsets"]
        for begin, end in zip(offsets, offsets[1:]):
            # The argument has the sentence's order, the model reads it from its end.
            from_end = backwards[begin:end][::-1]
            both = zip(
                self.forwards.states(batch, forwards[begin:end], zero),
                reversed(self.backwards.states(batch, from_end, zero)),
            )
            scores += [O * dy.concatenate(list(states)) for states in both]
        return dy.concatenate(scores)


def rows(matrix, count, order):
    """Of a matrix or vector that is made of equal slices, these, in this order."""
    blocks = numpy.split(matrix, count)
    return numpy.concatenate([blocks[number] for number in order])


class TreeFc(Model):
    """test/models/13_treefc.dyn: the root's vector."""

    def make(self, weights):
        H = len(weights["b"])
        self.E = self.lookup(weights["E"].reshape(-1, H))
        self.node = self.cell(weights["W"].reshape(H, 2 * H), weights["b"], 0, 1, [H, H], other="rectify")

    def results(self, batch):
        dy, word, left, right = self.dy, batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        h = []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                h.append(dy.lookup(self.E, word[n], update=False))
            else:
                h.append(self.node(h[left[n]], h[right[n]])[0])
        return dy.concatenate([h[root] for root in batch["arguments.t"]])


class ChildSum(Model):
    """test/models/16_child_sum_tree_lstm.dyn: softmax of the classes at each root."""

    def make(self, weights):
        self.hidden = H = len(weights["tree.b"]) // 4
        embed = len(weights["tree.W"]) // (4 * H)
        W, b = weights["tree.W"].reshape(4 * H, embed), weights["tree.b"]  # i, f, g, o
        U = rows(weights["tree.U"].reshape(3 * H, H), 3, [0, 2, 1])  # of i, g, o
        self.E = self.lookup(weights["E"].reshape(-1, embed))
        both = numpy.concatenate([rows(W, 4, [0, 3, 2]), U], axis=1)
        self.gates = self.cell(both, rows(b, 4, [0, 3, 2]), 2, 3, [embed, H])  # i, o, g
        forget = numpy.concatenate([rows(W, 4, [1]), weights["tree.Uf"].reshape(H, H)], axis=1)
        self.forget = self.cell(forget, rows(b, 4, [1]), 1, 1, [embed, H])
        self.O = self.parameter(weights["O"].reshape(-1, H))

    def results(self, batch):
        dy, O, zero = self.dy, self.O.expr(False), self.dy.zeros(self.hidden)
        children, offsets = batch["Tree.children"], batch["Tree.children.offsets"]
        h, c = [], []
        for n, word in enumerate(batch["Tree.word"]):
            x = dy.lookup(self.E, word, update=False)
            own = children[offsets[n] : offsets[n + 1]]
            i, o, g = self.gates(x, dy.esum([h[k] for k in own]) if own else zero)
            kept = [dy.cmult(self.forget(x, h[k])[0], c[k]) for k in own]
            c.append(dy.esum([dy.cmult(i, g)] + kept))
            h.append(dy.cmult(o, dy.tanh(c[n])))
        return dy.concatenate([dy.softmax(O * h[root]) for root in batch["arguments.t"]])


class MvRnn(Model):
    """test/models/21_mv_rnn.dyn: the root's vector, and its matrix row by row."""

    def make(self, weights):
        d = len(weights["bv"])
        self.vec = self.lookup(weights["vec"].reshape(-1, d))
        # DyNet takes the elements of a matrix that is looked up column by column.
        self.mat = self.lookup(numpy.ascontiguousarray(weights["mat"].reshape(-1, d, d).transpose(0, 2, 1)))
        self.vector = self.cell(weights["Wv"].reshape(d, 2 * d), weights["bv"], 0, 1, [d, d])
        self.Wm, self.Bm = self.parameter(weights["Wm"].reshape(d, 2 * d)), self.parameter(weights["Bm"].reshape(d, d))
        self.extent = d

    def results(self, batch):
        dy, d, Wm, Bm = self.dy, self.extent, self.Wm.expr(False), self.Bm.expr(False)
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        v, M = [], []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                v.append(dy.lookup(self.vec, word[n], update=False))
                M.append(dy.lookup(self.mat, word[n], update=False))
            else:
                l, r = left[n], right[n]
                v.append(self.vector(M[r] * v[l], M[l] * v[r])[0])
                M.append(Wm * dy.concatenate([M[l], M[r]]) + Bm)
        values = []
        for root in batch["arguments.t"]:
            values += [v[root], dy.reshape(dy.transpose(M[root]), (d * d,))]
        return dy.concatenate(values)


class Ggnn(Model):
    """test/models/32_ggnn.dyn: four rounds over the bonds of each molecule, then a gated sum over its atoms."""

    steps = 4

    def make(self, weights):
        H = len(weights["lift.b"])
        self.features = len(weights["lift.W"]) // H
        kinds = len(weights["along.b"]) // H
        W, U = (weights[name].reshape(3 * H, H) for name in ("gru.W", "gru.U"))  # r, z, n
        b, d = weights["gru.b"], weights["gru.d"]
        both = numpy.concatenate([W[: 2 * H], U[: 2 * H]], axis=1)
        self.gates = self.cell(both, b[: 2 * H] + d[: 2 * H], 2, 2, [H, H])
        add = self.parameter
        self.maps = {
            "lift": (add(weights["lift.b"]), add(weights["lift.W"].reshape(H, -1))),
            "new": (add(b[2 * H :]), add(W[2 * H :])),
            "old": (add(d[2 * H :]), add(U[2 * H :])),
            "gate": (add(weights["gate.b"]), add(weights["gate.W"].reshape(1, -1))),
            "value": (add(weights["value.b"]), add(weights["value.W"].reshape(1, -1))),
        }
        along = zip(weights["along.b"].reshape(kinds, H), weights["along.W"].reshape(kinds, H, H))
        self.along = [(add(bias), add(matrix)) for bias, matrix in along]

    def results(self, batch):
        dy = self.dy
        maps = {name: [operand.expr(False) for operand in operands] for name, operands in self.maps.items()}
        along = [[operand.expr(False) for operand in operands] for operands in self.along]
        affine = lambda operands, x: dy.affine_transform([*operands, x])
        bonds, offsets = batch["Atom.bonds"], batch["Atom.bonds.offsets"]
        kind, to = batch["Bond.kind"], batch["Bond.to"]
        count = len(offsets) - 1
        values = numpy.asarray(batch["Atom.x"], numpy.float32).reshape(count, self.features)
        x = [dy.inputTensor(row) for row in values]
        h = [affine(maps["lift"], each) for each in x]
        zero = dy.zeros(len(self.maps["lift"][0].as_array()))
        for _ in range(self.steps):
            new = []
            for a in range(count):
                near = [affine(along[kind[b]], h[to[b]]) for b in bonds[offsets[a] : offsets[a + 1]]]
                m = dy.esum(near) if near else zero
                r, z = self.gates(m, h[a])
                g = dy.tanh(affine(maps["new"], m) + dy.cmult(r, affine(maps["old"], h[a])))
                new.append(g + dy.cmult(z, h[a] - g))
            h = new
        energy = lambda a: dy.logistic(affine(maps["gate"], dy.concatenate([h[a], x[a]]))) * affine(maps["value"], h[a])
        begin = batch["Atom.begin"]
        return dy.concatenate([dy.esum([energy(a) for a in range(*ends)]) for ends in zip(begin, begin[1:])])
