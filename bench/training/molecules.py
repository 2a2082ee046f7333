"""Trains the graph network of examples/molecules by PyTorch, all atoms of a batch together; the metric is the mean absolute
error, the lower the better.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os

import torch
from torch import gru_cell, nn, relu
from torch.nn.functional import mse_loss

from training import matrix, options, read_lines, start_as_matrix, train, vector

KINDS = 5
ROUNDS = 4


def molecule(line):
    """(features of each atom, (start, kind, end) of each bond, target)."""
    nodes = line["nodes"]
    number = {i: k for k, i in enumerate(line["args"]["atoms"])}
    atoms = [nodes[i]["Atom"] for i in number]
    bonds = []
    for start, atom in enumerate(atoms):
        for bond in (nodes[i]["Bond"] for i in atom["bonds"]):
            bonds.append((start, bond["kind"], number[bond["to"]]))
    return [atom["x"] for atom in atoms], bonds, line["target"]


class Batch:
    """Molecules together: features of all atoms, the molecule of each, and the start and end of all bonds of each kind."""

    def __init__(self, molecules):
        self.x = torch.tensor([x for atoms, _, _ in molecules for x in atoms], dtype=torch.float32)
        self.owner = torch.tensor([i for i, (atoms, _, _) in enumerate(molecules) for _ in atoms])
        bonds, first = [[] for _ in range(KINDS)], 0
        for atoms, some, _ in molecules:
            for start, kind, end in some:
                bonds[kind].append((first + start, first + end))
            first += len(atoms)
        self.bonds = [torch.tensor(some).unbind(1) if some else None for some in bonds]
        self.targets = torch.tensor([target for _, _, target in molecules])


class Linear(nn.Linear):
    """nn.Linear of the library: a matrix that starts by `glorot`, a bias at 0."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        start_as_matrix(self.weight)
        nn.init.zeros_(self.bias)


class GraphNetwork(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.lift = Linear(features, hidden)
        self.along = nn.ModuleList(Linear(hidden, hidden) for _ in range(KINDS))
        self.gru_W, self.gru_U = matrix(3 * hidden, hidden), matrix(3 * hidden, hidden)
        self.gru_b, self.gru_d = vector(3 * hidden), vector(3 * hidden)
        self.gate, self.inner, self.value = Linear(hidden + features, hidden), Linear(hidden, hidden), Linear(hidden, 1)

    def predict(self, batch):
        h = self.lift(batch.x).tanh()
        for _ in range(ROUNDS):
            heard = torch.zeros_like(h)
            for along, bonds in zip(self.along, batch.bonds):
                if bonds:
                    heard = heard.index_add(0, bonds[0], along(h[bonds[1]]))
            h = gru_cell(heard, h, self.gru_W, self.gru_U, self.gru_b, self.gru_d)
        parts = self.gate(torch.cat((h, batch.x), 1)).sigmoid() * h
        whole = parts.new_zeros(len(batch.targets), parts.shape[1]).index_add(0, batch.owner, parts)
        return self.value(relu(self.inner(whole)))[:, 0]

    def forward(self, batch):
        return mse_loss(self.predict(batch), batch.targets)


def mean_error(model, batches):
    errors = torch.cat([(model.predict(b) - b.targets).abs() for b in batches])
    return errors.mean().item()


def main():
    opts = options(hidden=64, batch=25, lr=0.001, weight_decay=0.0, kind="adam")
    data = [[molecule(line) for line in read_lines(os.path.join(opts.data, name + ".jsonl"))] for name in ("train", "dev")]
    features = len(data[0][0][0][0])
    train(lambda: GraphNetwork(features, opts.hidden), Batch, *data, opts, mean_error, lower_is_better=True)


if __name__ == "__main__":
    main()
