"""Trains the Tree-LSTM of examples/sst by PyTorch, batched by level; the metric is the accuracy at the roots.

Nodes are batched by depth: the children of the nodes of one depth are all nodes of the next, in order, so that a level's
operands are its children's states as they lie.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
from itertools import accumulate

import torch
from torch import nn
from torch.nn.functional import cross_entropy, dropout, embedding, linear

from training import matrix, options, read_lines, read_tensor, train, vector

CLASSES = 5


def by_depth(line):
    """The nodes of a tree by depth: a list of (label, word) for each, where word is -1 at inner nodes."""
    nodes = line["nodes"]
    levels, level = [], [line["args"]["t"]]
    while level:
        found, below = [], []
        for i in level:
            ((_, fields),) = nodes[i].items()
            found.append((fields["label"], fields.get("word", -1)))
            if "word" not in fields:
                below += fields["left"], fields["right"]
        levels.append(found)
        level = below
    return levels


class Batch:
    """Trees together, by depth: words of all leaves, labels of all nodes, and for each depth how many inner nodes and leaves it
    has, and where its nodes stand in [inner nodes, leaves]."""

    def __init__(self, trees):
        self.trees = len(trees)
        words, labels, self.levels = [], [], []
        for depth in range(max(map(len, trees))):
            level = [node for tree in trees if depth < len(tree) for node in tree[depth]]
            leaf = [word >= 0 for _, word in level]
            inner = len(leaf) - sum(leaf)
            places = [inner + k - 1 if is_leaf else i - k for i, (k, is_leaf) in enumerate(zip(accumulate(leaf), leaf))]
            self.levels.append((inner, sum(leaf), torch.tensor(places)))
            labels += [label for label, _ in level]
            words += [word for _, word in level if word >= 0]
        self.words, self.labels = torch.tensor(words), torch.tensor(labels)


class TreeLstm(nn.Module):
    def __init__(self, E, hidden, drop):
        super().__init__()
        self.drop = drop
        self.E = nn.Parameter(E)
        self.W, self.b = matrix(3 * hidden, E.shape[1]), vector(3 * hidden)
        self.U, self.d = matrix(5 * hidden, 2 * hidden), vector(5 * hidden)
        self.V, self.e = matrix(CLASSES, hidden), vector(CLASSES)

    def logits(self, batch):
        """Those of all nodes, by depth: the roots are the first."""
        x = dropout(embedding(batch.words, self.E, sparse=True), self.drop, self.training)
        hidden = self.V.shape[1]
        i, o, u = linear(x, self.W, self.b).split(hidden, 1)
        leaf_c = i.sigmoid() * u.tanh()
        leaf_h = o.sigmoid() * leaf_c.tanh()
        leaves = [count for _, count, _ in batch.levels]
        states = list(zip(batch.levels, leaf_h.split(leaves), leaf_c.split(leaves)))
        h = c = None
        found = []
        for (inner, _, places), leaf_h, leaf_c in reversed(states):
            if inner:
                gates = linear(h.view(inner, -1), self.U, self.d)
                i, fl, fr, o = gates[:, : 4 * hidden].sigmoid().split(hidden, 1)
                left, right = c.view(inner, 2, -1).unbind(1)
                c = i * gates[:, 4 * hidden :].tanh() + fl * left + fr * right
                h = o * c.tanh()
                h, c = torch.cat((h, leaf_h))[places], torch.cat((c, leaf_c))[places]
            else:
                h, c = leaf_h, leaf_c
            found.append(h)
        h = torch.cat(found[::-1])
        return linear(dropout(h, self.drop, self.training), self.V, self.e)

    def forward(self, batch):
        """The loss: of all nodes of a tree, in the mean over trees."""
        return cross_entropy(self.logits(batch), batch.labels, reduction="sum") / batch.trees


def accuracy(model, batches):
    right = sum((model.logits(b)[: b.trees].argmax(1) == b.labels[: b.trees]).sum().item() for b in batches)
    return right / sum(b.trees for b in batches)


def main():
    opts = options(
        embed=300, hidden=150, vectors=False, batch=25, lr=0.05, weight_decay=1e-4, dropout=0.5, kind="adagrad"
    )
    data = [[by_depth(line) for line in read_lines(os.path.join(opts.data, name + ".jsonl"))] for name in ("train", "dev")]
    vocab = 1 + max(word for tree in data[0] for level in tree for _, word in level)

    def make():
        if opts.vectors:
            E = read_tensor(os.path.join(opts.data, "vectors.safetensors"), "E")
        else:
            E = matrix(vocab, opts.embed).data
        return TreeLstm(E, opts.hidden, opts.dropout)

    train(make, Batch, *data, opts, accuracy)


if __name__ == "__main__":
    main()
