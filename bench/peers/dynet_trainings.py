"""DyNet's trainings for serve.py: the models of dynet_models.py with their losses, and DyNet's plain SGD.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import numpy

import dynet_models


class Training:
    """Steps of SGD by a model of dynet_models, of which a class that has both is made. `losses(batch)` are the losses of all
    its parts, `named()` its parameters by the names that the .dyn file has."""

    trained = True

    def __init__(self, impl, threads, rate):
        super().__init__(impl, threads)
        self.rate = rate

    def load(self, weights, batches):
        super().load(weights, batches)
        # To find the fastest form has changed the weights.
        self.collection, self.cells = self.dy.ParameterCollection(), []
        self.make({name: numpy.frombuffer(values, dtype=numpy.float32) for name, values in weights.items()})

    def make(self, weights):
        super().make(weights)
        self.weights = weights
        self.trainer = self.dy.SimpleSGDTrainer(self.collection, self.rate)
        self.trainer.set_clip_threshold(0)  # by itself it clips gradients

    def run(self, batch):
        self.dy.renew_cg()
        for cell in self.cells:
            cell.renew(self.form)
        loss = self.dy.esum(self.losses(batch)) * (1 / (len(batch["arguments.begin"]) - 1))
        value = loss.npvalue()
        loss.backward()
        self.trainer.update()
        return value

    def learnt(self, name):
        # What the loss does not depend on stays as it was.
        return numpy.ascontiguousarray(self.named().get(name, self.weights[name]), numpy.float32).ravel()


def affine(cell):
    """The matrix and the bias of a cell in the form that it is computed in."""
    maps = cell.maps[cell.form.per_gate, cell.form.per_piece]
    rows = [numpy.concatenate([matrix.as_array() for matrix in matrices], axis=1) for _, matrices in maps]
    return numpy.concatenate(rows), numpy.concatenate([bias.as_array() for bias, _ in maps])


class TreeLstm(Training, dynet_models.TreeLstm):
    """The binary Tree-LSTM of examples/tree_lstm: cross entropies of all nodes."""

    def losses(self, batch):
        dy, V, e = self.dy, self.V.expr(True), self.e.expr(True)
        nodes = zip(self.states(batch), batch["Tree.label"])
        return [dy.pickneglogsoftmax(dy.affine_transform([e, V, h]), label) for h, label in nodes]

    def named(self):
        (W, b), (U, d) = affine(self.leaf), affine(self.node)
        return {"E": self.E.as_array(), "W": W, "b": b, "U": U, "d": d, "V": self.V.as_array(), "e": self.e.as_array()}


class Tagger(Training, dynet_models.Tagger):
    """test/models/05_bilstm_crf_tagger.dyn without the CRF: cross entropies of all words."""

    def losses(self, batch):
        return [self.dy.pickneglogsoftmax(z, tag) for z, tag in zip(self.scores(batch), batch["Sentence.tags"])]

    def named(self):
        found = {"E": self.E.as_array(), "H": affine(self.top)[0], "O": self.O.as_array()}
        for name, lstm in (("context.fwd.", self.forwards), ("context.bwd.", self.backwards)):
            if self.form.own_lstm:
                W, U, b = (parameter.as_array().copy() for parameter in lstm.own)
                b[lstm.hidden : 2 * lstm.hidden] += 1  # see Lstm
            else:
                both, b = affine(lstm.cell)
                W, U = both[:, : -lstm.hidden], both[:, -lstm.hidden :]
            for letter, values in zip("WUb", (W, U, b)):
                found[name + letter] = dynet_models.rows(values, 4, [0, 1, 3, 2])  # i, f, o, g there
        return found
