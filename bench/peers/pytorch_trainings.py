"""PyTorch's trainings for serve.py: the models of pytorch_models.py, by autograd and plain SGD.

The gradient of a table is one of the rows that were looked up, and only these change.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import time

import torch
from torch.nn.functional import cross_entropy, linear

from pytorch_models import LEAF, TaggerLevels, TaggerNodes, long, matrix


class Training:
    """Steps of SGD. `make` takes the weights as they are in the model, and `loss(batch, x)` is the sum of the losses of a
    batch whose words have the vectors x, in the order of `words(batch)`."""

    schedule_seconds = None

    def __init__(self, impl, threads, rate):
        torch.set_num_threads(threads)
        self.note = f"PyTorch {torch.__version__}"
        self.rate = rate

    def load(self, weights, batches):
        self.make(weights)
        for batch in batches[:10]:
            self.run(batch)
        # What that has changed was only to warm up.
        self.make(weights)

    def train(self, **parameters):
        """Says what the parameters are by their names, but for the words' vectors E, which it names apart."""
        self.E = parameters.pop("E")
        self.parameters = {name: parameter.requires_grad_() for name, parameter in parameters.items()}

    def scheduled(self, schedule, *arguments):
        """What `schedule` gives; the time that it takes is counted apart."""
        if self.schedule_seconds is None:
            return schedule(*arguments)
        start = time.perf_counter()
        found = schedule(*arguments)
        self.schedule_seconds += time.perf_counter() - start
        return found

    def run(self, batch):
        words, structure = self.scheduled(self.schedule, batch)
        x = self.E.index_select(0, words).requires_grad_()
        loss = self.loss(structure, x)
        dx, *gradients = torch.autograd.grad(loss, [x, *self.parameters.values()])
        inputs = len(batch["arguments.begin"]) - 1
        with torch.no_grad():
            self.E.index_add_(0, words, dx, alpha=-self.rate / inputs)
            for parameter, gradient in zip(self.parameters.values(), gradients):
                parameter.add_(gradient, alpha=-self.rate / inputs)
            return loss.detach().reshape(1) / inputs

    def learnt(self, name):
        found = self.E if name == "E" else self.parameters.get(name)
        return self.fixed[name] if found is None else found.detach().flatten().numpy()

    fixed = {}  # parameters of the model that the loss does not depend on


class TreeLstm(Training):
    """The binary Tree-LSTM of examples/tree_lstm: cross entropies of all nodes."""

    def make(self, weights):
        H = self.hidden = len(weights["d"]) // 5
        embed = len(weights["W"]) // (3 * H)
        columns = {"E": embed, "W": embed, "U": 2 * H, "V": H}
        shaped = {name: matrix(weights, name, columns.get(name, 1)) for name in weights}
        self.train(**{name: values if name in columns else values.flatten() for name, values in shaped.items()})

    def losses(self, h, labels):
        return cross_entropy(linear(h, self.parameters["V"], self.parameters["e"]), labels, reduction="sum")


class TreeLstmNodes(TreeLstm):
    """Eager, node by node."""

    @staticmethod
    def schedule(batch):
        leaves = [n for n, kind in enumerate(batch["Tree.kinds"]) if kind == LEAF]
        return long([batch["Tree.word"][n] for n in leaves]), batch

    def loss(self, batch, x):
        H, p = self.hidden, self.parameters
        left, right, vectors = batch["Tree.left"], batch["Tree.right"], iter(x.unbind(0))
        h, c = [], []  # [hidden] a node
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                y = linear(next(vectors), p["W"], p["b"])
                i, o = y[: 2 * H].sigmoid().chunk(2)
                new = i * y[2 * H :].tanh()
            else:
                l, r = left[n], right[n]
                y = linear(torch.cat((h[l], h[r])), p["U"], p["d"])
                i, fl, fr, o = y[: 4 * H].sigmoid().chunk(4)
                new = i * y[4 * H :].tanh() + fl * c[l] + fr * c[r]
            c.append(new)
            h.append(o * new.tanh())
        return self.losses(torch.stack(h), long(batch["Tree.label"]))


class TreeLstmLevels(TreeLstm):
    """Batched by depth: the children of the nodes of one depth are all nodes of the next, in order, so that a level's
    operands are its children's states as they lie, and no gradient is of more rows than a level has."""

    schedule_seconds = 0.0

    def loss(self, structure, x):
        levels, labels = structure
        H, p = self.hidden, self.parameters
        i, o, u = linear(x, p["W"], p["b"]).split(H, 1)
        leaf_c = i.sigmoid() * u.tanh()
        leaf_h = o.sigmoid() * leaf_c.tanh()
        counts = [leaves for _, leaves, _ in levels]
        h = c = None
        found = []
        for (inner, leaves, places), new_h, new_c in zip(levels, leaf_h.split(counts), leaf_c.split(counts)):
            if inner:
                gates = linear(h.view(inner, -1), p["U"], p["d"])
                i, fl, fr, o = gates[:, : 4 * H].sigmoid().split(H, 1)
                left, right = c.view(inner, 2, -1).unbind(1)
                c = i * gates[:, 4 * H :].tanh() + fl * left + fr * right
                h = o * c.tanh()
                if leaves:
                    h = torch.cat((h, new_h)).index_select(0, places)
                    c = torch.cat((c, new_c)).index_select(0, places)
            else:
                h, c = new_h, new_c
            found.append(h)
        return self.losses(torch.cat(found), labels)

    @staticmethod
    def schedule(batch):
        """The leaves' words; for each depth, the deepest first, how many inner nodes and leaves it has, and where its nodes
        stand in [inner nodes, leaves]; the labels in that order."""
        kinds, word, left, right, label = (batch["Tree." + name] for name in ("kinds", "word", "left", "right", "label"))
        depths, level = [], batch["arguments.t"]
        while level:
            leaves, below, places, own = [], [], [], []
            for n in level:
                own.append(label[n])
                if kinds[n] == LEAF:
                    places.append(~len(leaves))
                    leaves.append(word[n])
                else:
                    places.append(len(below) // 2)
                    below.append(left[n])
                    below.append(right[n])
            inner = len(below) // 2
            depths.append((leaves, own, inner, [inner + ~place if place < 0 else place for place in places]))
            level = below
        depths.reverse()
        words = long([word for leaves, _, _, _ in depths for word in leaves])
        labels = long([label for _, own, _, _ in depths for label in own])
        return words, ([(inner, len(leaves), long(places)) for leaves, _, inner, places in depths], labels)


class Tagger(Training):
    """test/models/05_bilstm_crf_tagger.dyn without the CRF: cross entropies of all words."""

    def make(self, weights):
        H = self.hidden = len(weights["context.fwd.b"]) // 4
        embed = len(weights["context.fwd.W"]) // (4 * H)
        columns = {"E": embed, "H": 2 * H, "O": H}
        for direction in ("context.fwd.", "context.bwd."):
            columns.update({direction + "W": embed, direction + "U": H, direction + "b": 1})
        shaped = {name: matrix(weights, name, extent) for name, extent in columns.items()}
        self.train(**{name: values.flatten() if name.endswith("b") else values for name, values in shaped.items()})
        self.fixed = {name: values for name, values in weights.items() if name not in columns}

    def directions(self):
        return [[self.parameters[direction + name] for name in "WUb"] for direction in ("context.fwd.", "context.bwd.")]

    def losses(self, states, tags):
        scores = linear(linear(states, self.parameters["H"]).tanh(), self.parameters["O"])
        return cross_entropy(scores, tags, reduction="sum")


class TaggerWords(Tagger):
    """Eager, word by word."""

    @staticmethod
    def schedule(batch):
        return long(batch["Sentence.words"]), batch

    def loss(self, batch, x):
        offsets, found = batch["Sentence.words.offsets"], []
        for begin, end in zip(offsets, offsets[1:]):
            vectors = x[begin:end].unbind(0)
            states = []
            for (W, U, b), inputs in zip(self.directions(), (vectors, vectors[::-1])):
                h = c = torch.zeros(self.hidden)
                states.append([])
                for each in inputs:
                    h, c = TaggerNodes.cell(linear(each, W, b) + linear(h, U), c)
                    states[-1].append(h)
            found += [torch.cat(both) for both in zip(states[0], reversed(states[1]))]
        return self.losses(torch.stack(found), long(batch["Sentence.tags"]))


class TaggerSteps(Tagger):
    """Batched by step: the sentences that are long enough, the longest first; other products over all words."""

    schedule_seconds = 0.0

    def loss(self, structure, x):
        directions, tags = structure
        states = []
        for (W, U, b), (counts, order, back) in zip(self.directions(), directions):
            h = c = torch.zeros(counts[0], self.hidden)
            found = []
            for y in linear(x.index_select(0, order), W, b).split(counts):
                h, c = TaggerNodes.cell(torch.addmm(y, h[: len(y)], U.t()), c[: len(y)])
                found.append(h)
            states.append(torch.cat(found).index_select(0, back))
        return self.losses(torch.cat(states, 1), tags)

    @staticmethod
    def schedule(batch):
        """All words, and for each direction how many sentences a step has, the words in the order of steps, and where each
        word stands in it; the tags."""
        words, steps = TaggerLevels.schedule(batch)
        directions = []
        for rows in steps:
            order = torch.cat(rows)
            back = torch.empty_like(order)
            back[order] = torch.arange(len(order))
            directions.append(([len(row) for row in rows], order, back))
        return words, (directions, long(batch["Sentence.tags"]))
