"""Trains the child-sum Tree-LSTM of examples/sick by PyTorch, batched by level; the metric is Pearson's r.

Nodes are batched by depth: the children of the nodes of one depth are all nodes of the next, in order.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os

import torch
from torch import nn
from torch.nn.functional import cross_entropy, linear

from training import matrix, options, pearson, read_lines, read_tensor, train, vector

CLASSES = 5


def by_depth(nodes, root):
    """The nodes of a tree by depth: a list of (word, how many children) for each."""
    levels, level = [], [root]
    while level:
        fields = [nodes[i]["Tree"] for i in level]
        levels.append([(f["word"], len(f["children"])) for f in fields])
        level = [child for f in fields for child in f["children"]]
    return levels


def pair(line):
    args = line["args"]
    return by_depth(line["nodes"], args["a"]), by_depth(line["nodes"], args["b"]), args["target"], line["target"]


class Batch:
    """Pairs together: the first trees and then the second ones, by depth. For each depth how many nodes it has, and the number
    of the parent among those of the depth above for each."""

    def __init__(self, pairs):
        self.pairs = len(pairs)
        trees = [a for a, _, _, _ in pairs] + [b for _, b, _, _ in pairs]
        words, self.sizes, self.parents = [], [], []
        parents = [0] * len(trees)
        for depth in range(max(map(len, trees))):
            level = [node for tree in trees if depth < len(tree) for node in tree[depth]]
            words += [word for word, _ in level]
            self.sizes.append(len(level))
            self.parents.append(torch.tensor(parents))
            parents = [i for i, (_, count) in enumerate(level) for _ in range(count)]
        self.words = torch.tensor(words)
        self.targets = torch.tensor([target for _, _, target, _ in pairs])
        self.scores = torch.tensor([score for _, _, _, score in pairs])


class Similarity(nn.Module):
    def __init__(self, E, hidden, sim):
        super().__init__()
        self.register_buffer("words", E)
        self.W, self.b = matrix(4 * hidden, E.shape[1]), vector(4 * hidden)
        self.U, self.Uf = matrix(3 * hidden, hidden), matrix(hidden, hidden)
        self.Wx, self.Wp, self.bh = matrix(sim, hidden), matrix(sim, hidden), vector(sim)
        self.out_W, self.out_b = matrix(CLASSES, sim), vector(CLASSES)

    def roots(self, batch):
        """Hidden states of all roots."""
        hidden = self.Uf.shape[0]
        x = linear(self.words[batch.words], self.W, self.b).split(batch.sizes)
        h = c = parents = None
        for level, above in zip(reversed(x), reversed(batch.parents)):
            xi, xf, xg, xo = level.split(hidden, 1)
            if h is None:
                c = xi.sigmoid() * xg.tanh()
                h = xo.sigmoid() * c.tanh()
            else:
                zeros = level.new_zeros(len(level), hidden)
                hi, hg, ho = linear(zeros.index_add(0, parents, h), self.U).split(hidden, 1)
                forget = (xf[parents] + linear(h, self.Uf)).sigmoid()
                c = (xi + hi).sigmoid() * (xg + hg).tanh() + zeros.index_add(0, parents, forget * c)
                h = (xo + ho).sigmoid() * c.tanh()
            parents = above
        return h

    def logits(self, batch):
        left, right = self.roots(batch).split(batch.pairs)
        both = linear(left * right, self.Wx) + linear((left - right).abs(), self.Wp) + self.bh
        return linear(both.sigmoid(), self.out_W, self.out_b)

    def forward(self, batch):
        return cross_entropy(self.logits(batch), batch.targets)

    def scores(self, batch):
        return self.logits(batch).softmax(1) @ torch.arange(1.0, CLASSES + 1)


def correlation(model, batches):
    return pearson(torch.cat([model.scores(b) for b in batches]), torch.cat([b.scores for b in batches]))


def main():
    opts = options(hidden=150, sim=50, batch=25, lr=0.05, weight_decay=1e-4, kind="adagrad")
    data = [[pair(line) for line in read_lines(os.path.join(opts.data, name + ".jsonl"))] for name in ("train", "dev")]
    E = read_tensor(os.path.join(opts.data, "vectors.safetensors"), "E")
    train(lambda: Similarity(E, opts.hidden, opts.sim), Batch, *data, opts, correlation)


if __name__ == "__main__":
    main()
