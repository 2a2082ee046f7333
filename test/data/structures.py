"""Real structures as inputs of models in test/models.

usage: structures.py KIND [COUNT]

phrases   Stanford Sentiment Treebank (dev) for 38_rnng: argument `t`; labels are those of phrases, words 0..1999
places    Chinese lattices (dev) for 29_lattice_lstm: argument `places`; forms 0..2999, tags 0..17
ops       ENAS architectures for 34_dagnn: argument `ops`, `label` tells whether one is more accurate than 0.74
vertices  MUTAG molecules for 33_graph_attention: argument `vs`; what a vertex is stands one-hot in six features

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import ast
import sys

from common import Numbers, data_file, write
from lattice import lattices
from sst import read


def phrases():
    number = Numbers(2000)
    with data_file("sst", "dev.txt") as file:
        for line in file:
            nodes = []
            for node in read(line, number):
                if "Leaf" in node:
                    nodes.append({"Word": {"form": node["Leaf"]["word"], "left": [], "parent": []}})
                    continue
                left, right = node["Node"]["left"], node["Node"]["right"]
                for child, before in ((left, []), (right, [left])):
                    next(iter(nodes[child].values())).update(left=before, parent=[len(nodes)])
                label, parts = node["Node"]["label"], [left, right]
                nodes.append({"Phrase": {"label": label, "parts": parts, "left": [], "parent": []}})
            yield nodes, {"t": len(nodes) - 1}


def places():
    form = Numbers(3000)
    with data_file("lattice_ner", "edbatch_lattice.dev.txt") as file:
        tokens = file.read().split()
    for glyphs, tags, words in lattices(tokens):
        # An arc ends behind its last character; place 0 stands before the first.
        arcs = [[] for _ in range(len(glyphs) + 1)]
        for i, glyph in enumerate(glyphs):
            arcs[i + 1].append((0, form(glyph), i))
        for start, last, name in words:
            arcs[last + 1].append((1, form(("word", name)), start))
        nodes = [None] * len(arcs)
        for i, (here, tag) in enumerate(zip(arcs, [0] + tags)):
            numbers = range(len(nodes), len(nodes) + len(here))
            nodes[i] = {"Place": {"arcs": list(numbers), "tag": tag}}
            nodes += [{"Arc": {"kind": k, "form": f, "from": start}} for k, f, start in here]
        yield nodes, {"places": list(range(len(arcs)))}


def ops():
    with data_file("dag_enas", "final_structures6_first18018.txt.gz") as file:
        for line in file:
            rows, accuracy = ast.literal_eval(line)
            # 0 is the input, the last the output; there is an edge from each to the next.
            kinds = [6] + [row[0] for row in rows] + [7]
            before = [[] for _ in kinds]
            for i in range(1, len(kinds)):
                flags = rows[i - 1][1:] if i <= len(rows) else []
                before[i] = [j for j, flag in enumerate(flags) if flag and j != i - 1] + [i - 1]
            after = [[j for j, near in enumerate(before) if i in near] for i in range(len(kinds))]
            nodes = [{"Op": {"kind": k, "before": b, "after": a}} for k, b, a in zip(kinds, before, after)]
            yield nodes, {"ops": list(range(len(nodes))), "label": int(accuracy > 0.74)}


def vertices():
    with data_file("tu_graphs", "MUTAG.txt") as file:
        numbers = map(int, file.read().split())
    for _ in range(next(numbers)):
        size, label = next(numbers), next(numbers)
        nodes = []
        for _ in range(size):
            tag = next(numbers)
            near = [next(numbers) for _ in range(next(numbers))]
            x = [float(min(tag, 5) == i) for i in range(6)]
            nodes.append({"Vertex": {"x": x, "near": near, "label": label}})
        yield nodes, {"vs": list(range(size))}


KINDS = {"phrases": phrases, "places": places, "ops": ops, "vertices": vertices}
count = int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
for _, (nodes, args) in zip(range(count), KINDS[sys.argv[1]]()):
    write(nodes, **args)
