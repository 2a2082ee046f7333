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


class Model:
    """A model whose weights are tensors by their names; `make` shapes them."""

    schedule_seconds = None

    def __init__(self, impl, threads):
        torch.set_num_threads(threads)
        self.note = f"PyTorch {torch.__version__}"

    def load(self, weights, batches):
        self.make({name: matrix(weights, name, 1).flatten() for name in weights})
        for batch in batches[:10]:
            self.run(batch)

    def scheduled(self, schedule, *arguments):
        """What `schedule` gives; the time that it takes is counted apart."""
        start = time.perf_counter()
        found = schedule(*arguments)
        self.schedule_seconds += time.perf_counter() - start
        return found


def long(numbers):
    return torch.tensor(numbers, dtype=torch.long)


def levels(heights):
    """The numbers of the nodes at each height."""
    found = [[] for _ in range(max(heights) + 1)]
    for n, height in enumerate(heights):
        found[height].append(n)
    return found


class TreeFcNodes(Model):
    """test/models/13_treefc.dyn, eager, node by node: the root's vector."""

    def make(self, weights):
        self.b = weights["b"]
        self.E, self.W = weights["E"].view(-1, len(self.b)), weights["W"].view(len(self.b), -1)

    @torch.inference_mode()
    def run(self, batch):
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        h = []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                h.append(self.E[word[n]])
            else:
                h.append(linear(torch.cat((h[left[n]], h[right[n]])), self.W, self.b).relu())
        return torch.cat([h[root] for root in batch["arguments.t"]])


class TreeFcLevels(TreeFcNodes):
    """Batched by level."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        words, children, ends, roots = self.scheduled(TreeLstmLevels.schedule, batch)
        leaves = begin = len(words)
        h = torch.empty(ends[-1], len(self.b))
        torch.index_select(self.E, 0, words, out=h[:begin])
        for end in ends[1:]:
            both = children[2 * (begin - leaves) : 2 * (end - leaves)]
            y = linear(h.index_select(0, both).view(end - begin, -1), self.W, self.b)
            h[begin:end] = y.relu_()
            begin = end
        return h.index_select(0, roots).flatten()


class MvRnnNodes(Model):
    """test/models/21_mv_rnn.dyn, eager, node by node: the root's vector, and its matrix row by row."""

    def make(self, weights):
        self.bv = weights["bv"]
        d = self.d = len(self.bv)
        self.vec, self.mat = weights["vec"].view(-1, d), weights["mat"].view(-1, d, d)
        self.Wv, self.Wm, self.Bm = weights["Wv"].view(d, -1), weights["Wm"].view(d, -1), weights["Bm"].view(d, d)

    @torch.inference_mode()
    def run(self, batch):
        word, left, right = batch["Tree.word"], batch["Tree.left"], batch["Tree.right"]
        v, M = [], []
        for n, kind in enumerate(batch["Tree.kinds"]):
            if kind == LEAF:
                v.append(self.vec[word[n]])
                M.append(self.mat[word[n]])
            else:
                l, r = left[n], right[n]
                v.append(linear(torch.cat((M[r] @ v[l], M[l] @ v[r])), self.Wv, self.bv).tanh())
                M.append(torch.addmm(self.Bm, self.Wm, torch.cat((M[l], M[r]))))
        return torch.cat([value.flatten() for root in batch["arguments.t"] for value in (v[root], M[root])])


class MvRnnLevels(MvRnnNodes):
    """Batched by level."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        words, children, ends, roots = self.scheduled(TreeLstmLevels.schedule, batch)
        d, leaves = self.d, len(words)
        begin = leaves
        v, M = torch.empty(ends[-1], d), torch.empty(ends[-1], d, d)
        torch.index_select(self.vec, 0, words, out=v[:begin])
        torch.index_select(self.mat, 0, words, out=M[:begin])
        for end in ends[1:]:
            both = children[2 * (begin - leaves) : 2 * (end - leaves)]
            matrices = M.index_select(0, both).view(end - begin, 2, d, d)
            crossed = torch.bmm(matrices.flip(1).view(-1, d, d), v.index_select(0, both).unsqueeze(2))
            v[begin:end] = linear(crossed.view(end - begin, 2 * d), self.Wv, self.bv).tanh_()
            M[begin:end] = torch.matmul(self.Wm, matrices.view(-1, 2 * d, d)).add_(self.Bm)
            begin = end
        return torch.cat((v.index_select(0, roots), M.index_select(0, roots).flatten(1)), 1).flatten()


class ChildSumNodes(Model):
    """test/models/16_child_sum_tree_lstm.dyn, eager, node by node: softmax of the classes at each root."""

    def make(self, weights):
        self.b = weights["tree.b"]  # i, f, g, o
        H = self.hidden = len(self.b) // 4
        self.W = weights["tree.W"].view(4 * H, -1)
        self.E = weights["E"].view(-1, self.W.shape[1])
        self.U, self.Uf = weights["tree.U"].view(3 * H, H), weights["tree.Uf"].view(H, H)  # of i, g, o
        self.O = weights["O"].view(-1, H)

    @torch.inference_mode()
    def run(self, batch):
        H, zero = self.hidden, torch.zeros(self.hidden)
        children, offsets = batch["Tree.children"], batch["Tree.children.offsets"]
        h, c = [], []
        for n, word in enumerate(batch["Tree.word"]):
            i, f, g, o = linear(self.E[word], self.W, self.b).chunk(4)
            own = children[offsets[n] : offsets[n + 1]]
            kept = zero
            if own:
                below = torch.stack([h[k] for k in own])
                ui, ug, uo = linear(below.sum(0), self.U).chunk(3)
                i, g, o = i + ui, g + ug, o + uo
                forget = (f + linear(below, self.Uf)).sigmoid()
                kept = (forget * torch.stack([c[k] for k in own])).sum(0)
            c.append(i.sigmoid() * g.tanh() + kept)
            h.append(o.sigmoid() * c[n].tanh())
        return torch.cat([linear(h[root], self.O).softmax(0) for root in batch["arguments.t"]])


class ChildSumLevels(ChildSumNodes):
    """Batched by level; what needs no state is one product over all nodes."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        H = self.hidden
        steps, words, roots = self.scheduled(self.schedule, batch)
        y = linear(self.E.index_select(0, words), self.W, self.b)
        h, c = torch.empty(len(words), H), torch.empty(len(words), H)
        for nodes, kids, owners in steps:
            i, f, g, o = y.index_select(0, nodes).chunk(4, 1)
            kept = torch.zeros(len(nodes), H)
            if len(kids):
                below = h.index_select(0, kids)
                ui, ug, uo = linear(torch.zeros(len(nodes), H).index_add_(0, owners, below), self.U).chunk(3, 1)
                i, g, o = i + ui, g + ug, o + uo
                forget = (f.index_select(0, owners) + linear(below, self.Uf)).sigmoid_()
                kept.index_add_(0, owners, forget.mul_(c.index_select(0, kids)))
            new = kept.addcmul_(i.sigmoid(), g.tanh())
            c.index_copy_(0, nodes, new)
            h.index_copy_(0, nodes, o.sigmoid() * new.tanh())
        return linear(h.index_select(0, roots), self.O).softmax(1).flatten()

    @staticmethod
    def schedule(batch):
        """For each level its nodes, their children, and the positions of these children's nodes among them."""
        children, offsets = batch["Tree.children"], batch["Tree.children.offsets"]
        heights = []
        for begin, end in zip(offsets, offsets[1:]):
            heights.append(1 + max(heights[k] for k in children[begin:end]) if end > begin else 0)
        steps = []
        for nodes in levels(heights):
            kids = [(k, at) for at, n in enumerate(nodes) for k in children[offsets[n] : offsets[n + 1]]]
            steps.append((long(nodes), long([k for k, _ in kids]), long([at for _, at in kids])))
        return steps, long(batch["Tree.word"]), long(batch["arguments.t"])


class GgnnNodes(Model):
    """test/models/32_ggnn.dyn, eager, atom by atom: four rounds over the bonds, then a gated sum over the atoms."""

    steps = 4

    def make(self, weights):
        H = self.hidden = len(weights["lift.b"])
        self.lift = weights["lift.W"].view(H, -1), weights["lift.b"]
        kinds = len(weights["along.b"]) // H
        self.along = list(zip(weights["along.W"].view(kinds, H, H), weights["along.b"].view(kinds, H)))
        self.gru_in = weights["gru.W"].view(3 * H, H), weights["gru.b"]
        self.gru_state = weights["gru.U"].view(3 * H, H), weights["gru.d"]
        self.gate = weights["gate.W"].view(1, -1), weights["gate.b"]
        self.value = weights["value.W"].view(1, -1), weights["value.b"]

    def step(self, m, h):
        (pr, pz, pn), (qr, qz, qn) = linear(m, *self.gru_in).chunk(3, -1), linear(h, *self.gru_state).chunk(3, -1)
        new = torch.tanh(pn + torch.sigmoid(pr + qr) * qn)
        return new + torch.sigmoid(pz + qz) * (h - new)

    def energies(self, h, x):
        return linear(torch.cat((h, x), -1), *self.gate).sigmoid() * linear(h, *self.value)

    def features(self, batch):
        return torch.frombuffer(batch["Atom.x"], dtype=torch.float32).view(len(batch["Atom.bonds.offsets"]) - 1, -1)

    @torch.inference_mode()
    def run(self, batch):
        bonds, offsets = batch["Atom.bonds"], batch["Atom.bonds.offsets"]
        kind, to = batch["Bond.kind"], batch["Bond.to"]
        x = self.features(batch)
        h = [linear(each, *self.lift) for each in x]
        for _ in range(self.steps):
            new = []
            for a, state in enumerate(h):
                m = torch.zeros(self.hidden)
                for b in bonds[offsets[a] : offsets[a + 1]]:
                    m = m + linear(h[to[b]], *self.along[kind[b]])
                new.append(self.step(m, state))
            h = new
        energy = [self.energies(*each) for each in zip(h, x)]
        begin = batch["Atom.begin"]
        return torch.cat([torch.stack(energy[first:last]).sum(0) for first, last in zip(begin, begin[1:])])


class GgnnLevels(GgnnNodes):
    """All atoms at once, the bonds by their kinds."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        near, molecule = self.scheduled(self.schedule, batch, len(self.along))
        x = self.features(batch)
        h = linear(x, *self.lift)
        for _ in range(self.steps):
            m = torch.zeros_like(h)
            for (to, of), along in zip(near, self.along):
                m.index_add_(0, of, linear(h.index_select(0, to), *along))
            h = self.step(m, h)
        count = len(batch["Atom.begin"]) - 1
        return torch.zeros(count).index_add_(0, molecule, self.energies(h, x).flatten())

    @staticmethod
    def schedule(batch, kinds):
        """For each kind of bond the atoms that are looked at, and those that look; the molecule of each atom."""
        offsets, begin, kind, to = (batch[n] for n in ("Atom.bonds.offsets", "Atom.begin", "Bond.kind", "Bond.to"))
        near = [([], []) for _ in range(kinds)]
        for a, (first, last) in enumerate(zip(offsets, offsets[1:])):
            for b in batch["Atom.bonds"][first:last]:
                near[kind[b]][0].append(to[b])
                near[kind[b]][1].append(a)
        molecule = [n for n, (first, last) in enumerate(zip(begin, begin[1:])) for _ in range(first, last)]
        return [(long(one), long(other)) for one, other in near], long(molecule)


class TaggerNodes(Model):
    """The scores of test/models/05_bilstm_crf_tagger.dyn, eager, word by word: O tanh(H [forwards, backwards])."""

    def make(self, weights):
        H = self.hidden = len(weights["context.fwd.b"]) // 4
        name = "context.{}.{}".format
        self.directions = [
            (weights[name(d, "W")].view(4 * H, -1), weights[name(d, "U")].view(4 * H, H), weights[name(d, "b")])
            for d in ("fwd", "bwd")
        ]
        self.E = weights["E"].view(-1, self.directions[0][0].shape[1])
        self.H, self.O = weights["H"].view(H, 2 * H), weights["O"].view(-1, H)

    @staticmethod
    def cell(y, c):
        """From the sums of the gates i, f, g, o."""
        i, f, g, o = y.chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    @torch.inference_mode()
    def run(self, batch):
        words, offsets, scores = batch["Sentence.words"], batch["Sentence.words.offsets"], []
        for row in batch["arguments.s"]:
            x = [self.E[word] for word in words[offsets[row] : offsets[row + 1]]]
            states = []
            for (W, U, b), inputs in zip(self.directions, (x, x[::-1])):
                h = c = torch.zeros(self.hidden)
                states.append([])
                for each in inputs:
                    h, c = self.cell(linear(each, W, b) + linear(h, U), c)
                    states[-1].append(h)
            for both in zip(states[0], reversed(states[1])):
                scores.append(linear(linear(torch.cat(both), self.H).tanh(), self.O))
        return torch.cat(scores)


class TaggerLevels(TaggerNodes):
    """Batched by step: the sentences that are long enough, the longest first; other products over all words."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        words, steps = self.scheduled(self.schedule, batch)
        x, H = self.E.index_select(0, words), self.hidden
        states = torch.empty(len(words), 2 * H)
        for at, ((W, U, b), rows) in enumerate(zip(self.directions, steps)):
            y = linear(x, W, b)
            h = c = torch.zeros(len(rows[0]) if rows else 0, H)
            for here in rows:
                h, c = self.cell(torch.addmm(y.index_select(0, here), h[: len(here)], U.t()), c[: len(here)])
                states[:, at * H : (at + 1) * H].index_copy_(0, here, h)
        return linear(linear(states, self.H).tanh_(), self.O).flatten()

    @staticmethod
    def schedule(batch):
        """All words, and for each direction and step the rows of the words that are read then."""
        words, offsets = batch["Sentence.words"], batch["Sentence.words.offsets"]
        order, sentences = [], []
        for row in batch["arguments.s"]:
            first = len(order)
            order += words[offsets[row] : offsets[row + 1]]
            sentences.append((first, len(order)))
        sentences.sort(key=lambda ends: ends[0] - ends[1])
        longest = sentences[0][1] - sentences[0][0] if sentences else 0
        forwards, backwards = [], []
        for t in range(longest):
            alive = [(first, last) for first, last in sentences if last - first > t]
            forwards.append(long([first + t for first, _ in alive]))
            backwards.append(long([last - 1 - t for _, last in alive]))
        return long(order), (forwards, backwards)


class LatticeNodes(Model):
    """The scores of test/models/lattice_lstm.dyn, eager, character by character: O [forwards, backwards]."""

    def make(self, weights):
        H = self.hidden = len(weights["fwd.b"]) // 3
        inputs = len(weights["fwd.Wa"]) // H
        self.directions = [
            (*(weights[f"{d}.{name}"].view(-1, inputs) for name in ("W", "Ww", "Wa")), weights[f"{d}.b"])
            for d in ("fwd", "bwd")
        ]
        embed = inputs - H
        self.G, self.D = weights["G"].view(-1, embed), weights["D"].view(-1, embed)
        self.O = weights["O"].view(-1, 2 * H)

    def states(self, batch, rows, direction):
        """h of the characters `rows`, in the order in which they are read."""
        W, Ww, Wa, b = direction
        before, ending = batch["Char.before"], batch["Char.ending"]
        first_before, first_ending = batch["Char.before.offsets"], batch["Char.ending.offsets"]
        zero, h, c = torch.zeros(self.hidden), {}, {}
        for t in rows:
            x = self.G[batch["Char.glyph"][t]]
            old = before[first_before[t]] if first_before[t] < first_before[t + 1] else None
            i, o, g = linear(torch.cat((x, zero if old is None else h[old])), W, b).chunk(3)
            i, o, g = i.sigmoid(), o.sigmoid(), g.tanh()
            above, below, any_word = i.exp() * g, i.exp(), False
            for w in ending[first_ending[t] : first_ending[t + 1]]:
                start, any_word = batch["Word.start"][w], True
                forget, write, new = linear(torch.cat((self.D[batch["Word.form"][w]], h[start])), Ww).chunk(3)
                cell = forget.sigmoid() * c[start] + write.sigmoid() * new.tanh()
                share = linear(torch.cat((x, cell)), Wa).sigmoid().exp()
                above, below = above + share * cell, below + share
            kept = zero if old is None else c[old]
            c[t] = above / below if any_word else kept + i * (g - kept)
            h[t] = o * c[t].tanh()
        return [h[t] for t in rows]

    @torch.inference_mode()
    def run(self, batch):
        scores, offsets = [], batch["arguments.f.offsets"]
        for begin, end in zip(offsets, offsets[1:]):
            one = self.states(batch, batch["arguments.f"][begin:end], self.directions[0])
            other = self.states(batch, batch["arguments.b"][begin:end][::-1], self.directions[1])
            scores += [linear(torch.cat(both), self.O) for both in zip(one, reversed(other))]
        return torch.cat(scores)


class LatticeLevels(LatticeNodes):
    """Batched by step: a character of each sentence that is long enough, with all words that end there."""

    schedule_seconds = 0.0

    @torch.inference_mode()
    def run(self, batch):
        H, count = self.hidden, len(batch["Char.glyph"])
        x = self.G.index_select(0, long(batch["Char.glyph"]))
        forms = self.D.index_select(0, long(batch["Word.form"]))
        h, c = torch.zeros(count + 1, H), torch.zeros(count + 1, H)  # the last row: nothing before
        for argument, (W, Ww, Wa, b) in zip("fb", self.directions):
            for rows, old, words, starts, owners, has in self.scheduled(self.schedule, batch, argument, count):
                own = x.index_select(0, rows)
                y = linear(torch.cat((own, h.index_select(0, old)), 1), W, b)
                i, o = y[:, : 2 * H].sigmoid().chunk(2, 1)
                g, kept = y[:, 2 * H :].tanh(), c.index_select(0, old)
                new = kept + i * (g - kept)
                if len(words):
                    y = linear(torch.cat((forms.index_select(0, words), h.index_select(0, starts)), 1), Ww)
                    forget, write = y[:, : 2 * H].sigmoid().chunk(2, 1)
                    cell = forget * c.index_select(0, starts) + write * y[:, 2 * H :].tanh()
                    share = linear(torch.cat((own.index_select(0, owners), cell), 1), Wa).sigmoid_().exp_()
                    below = i.exp()
                    above = (below * g).index_add_(0, owners, share * cell)
                    new = torch.where(has, above / below.index_add_(0, owners, share), new)
                c.index_copy_(0, rows, new)
                h.index_copy_(0, rows, o * new.tanh())
        both = [h.index_select(0, long(batch["arguments." + argument])) for argument in "fb"]
        return linear(torch.cat(both, 1), self.O).flatten()

    @staticmethod
    def schedule(batch, argument, none):
        """For each step of a direction: its characters, those before them, the words that end there with the
        characters that they start from and the positions of those where they end, and which have any."""
        offsets, before, ending = batch["arguments.f.offsets"], batch["Char.before"], batch["Char.ending"]
        first_before, first_ending = batch["Char.before.offsets"], batch["Char.ending.offsets"]
        order = batch["arguments." + argument]
        sentences = [order[begin:end] for begin, end in zip(offsets, offsets[1:])]
        if argument == "b":  # the argument has the sentence's order, the model reads it from its end
            sentences = [sentence[::-1] for sentence in sentences]
        steps = []
        for t in range(max(map(len, sentences), default=0)):
            rows = [sentence[t] for sentence in sentences if len(sentence) > t]
            old = [before[first_before[r]] if first_before[r] < first_before[r + 1] else none for r in rows]
            found = [(w, at) for at, r in enumerate(rows) for w in ending[first_ending[r] : first_ending[r + 1]]]
            words, owners = [w for w, _ in found], [at for _, at in found]
            has = torch.zeros(len(rows), 1, dtype=torch.bool)
            has[owners] = True
            starts = [batch["Word.start"][w] for w in words]
            steps.append((long(rows), long(old), long(words), long(starts), long(owners), has))
        return steps
