"""PyTorch's models for serve.py, as one writes them for inference by hand.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import time

import torch
from torch.nn.functional import linear

LEAF = 0


def matrix(weights, name, columns):
    """[anything, columns] of a flat array."""
    return torch.frombuffer(weights[name], dtype=torch.float32).view(-1, columns).clone()


class TreeLstm:
    """The binary Tree-LSTM of examples/tree_lstm: softmax of the classes at each root."""

    schedule_seconds = None

    def __init__(self, impl, threads):
        torch.set_num_threads(threads)
        self.note = f"PyTorch {torch.__version__}"

    def load(self, weights, batches):
        self.hidden = H = len(weights["d"]) // 5
        embed = len(weights["W"]) // (3 * H)
        self.E = matrix(weights, "E", embed)
        self.W = matrix(weights, "W", embed)  # i, o, u
        self.U = matrix(weights, "U", 2 * H)  # i, fl, fr, o, u; columns h of left, h of right
        self.V = matrix(weights, "V", H)
        self.b, self.d, self.e = (matrix(weights, name, 1).flatten() for name in "bde")
        for batch in batches[:10]:
            self.run(batch)


class TreeLstmNodes(TreeLstm):
    """Eager, node by node."""

    @torch.inference_mode()
    def run(self, batch):
        H = self.hidden
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        h, c = [], []  # [hidden] a node
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                y = linear(self.E[word[n]], self.W, self.b)
                i, o = y[: 2 * H].sigmoid().chunk(2)
                new = i * y[2 * H :].tanh()
            else:
                l, r = left[n], right[n]
                y = linear(torch.cat((h[l], h[r])), self.U, self.d)
                i, fl, fr, o = y[: 4 * H].sigmoid().chunk(4)
                new = i * y[4 * H :].tanh() + fl * c[l] + fr * c[r]
            c.append(new)
            h.append(o * new.tanh())
        return torch.cat([linear(h[root], self.V, self.e).softmax(0) for root in batch["arguments.t"]])


class TreeLstmLevels(TreeLstm):
    """Batched by level: all leaves are one product, and so are all nodes above others at the same height."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        start = time.perf_counter()
        words, children, ends, roots = self.schedule(batch)
        self.schedule_seconds += time.perf_counter() - start
        H, begin = self.hidden, len(words)
        # A row a node, the levels one after the other: a level's states are written in one piece.
        h = torch.empty(ends[-1], H)
        c = torch.empty(ends[-1], H)
        y = linear(self.E.index_select(0, words), self.W, self.b)
        gates = y[:, : 2 * H].sigmoid_()
        torch.mul(gates[:, :H], y[:, 2 * H :].tanh_(), out=c[:begin])
        torch.mul(gates[:, H:], c[:begin].tanh(), out=h[:begin])
        for end in ends[1:]:
            both = children[2 * (begin - len(words)) : 2 * (end - len(words))]
            y = linear(h.index_select(0, both).view(-1, 2 * H), self.U, self.d)
            gates = y[:, : 4 * H].sigmoid_()
            kept = c.index_select(0, both).view(-1, 2 * H).mul_(gates[:, H : 3 * H])
            new = torch.add(kept[:, :H], kept[:, H:], out=c[begin:end])
            new.addcmul_(gates[:, :H], y[:, 4 * H :].tanh_())
            torch.mul(gates[:, 3 * H :], new.tanh(), out=h[begin:end])
            begin = end
        return linear(h.index_select(0, roots), self.V, self.e).softmax(1).flatten()

    @staticmethod
    def schedule(batch):
        """The leaves' words; the rows of the children, those of a node next to each other; the row at which each level
        ends; the rows of the roots."""
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        words, levels = [], []
        row, height = [0] * len(word), [0] * len(word)  # a node
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                row[n] = len(words)
                words.append(word[n])
                continue
            above, other = height[left[n]], height[right[n]]
            if other > above:
                above = other
            if above == len(levels):
                levels.append([])
            levels[above].append(n)
            height[n] = above + 1
        children, ends = [], [len(words)]
        for level in levels:
            end = ends[-1]
            for n in level:
                children.append(row[left[n]])
                children.append(row[right[n]])
                row[n] = end
                end += 1
            ends.append(end)
        roots = [row[root] for root in batch["arguments.t"]]
        words, children, roots = (torch.tensor(rows, dtype=torch.long) for rows in (words, children, roots))
        return words, children, ends, roots
