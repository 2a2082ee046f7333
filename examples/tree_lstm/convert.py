"""Makes inputs of tree_lstm.dyn from trees in the form of the Stanford Sentiment Treebank: `(label left right)` and
`(label word)`, a tree a line. Words are taken in lower case. The vocabulary is that of the training trees; index 0 is every
other word. `target` of an input is the label of its root.

usage: convert.py TRAIN DEV OUT [--vectors FILE]
Writes OUT/train.jsonl and OUT/dev.jsonl, and prints what the model's dims are. With vectors of words (GloVe's text format,
.gz or not) also OUT/vectors.safetensors: the weight `E`.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from dataset import Vocabulary, open_text, read_vectors, write_lines, write_vectors

# An opening bracket with its label, a closing one, or a word.
TOKEN = re.compile(r"\((\d+)|(\))|([^() \n]+|\()")
LEAF, INNER = [int, str], [int, int, int]


def read_tree(line):
    """The nodes of a tree, children before parents, so that the root is the last: (label, word) or (label, left, right)."""
    nodes, opened = [], [[]]
    for label, closed, word in TOKEN.findall(line):
        if label:
            opened.append([int(label)])
        elif closed and len(opened) > 1:
            nodes.append(tuple(opened.pop()))
            opened[-1].append(len(nodes) - 1)
        else:
            opened[-1].append((word or closed).lower())
    whole = opened == [[len(nodes) - 1]] and all([type(x) for x in node] in (LEAF, INNER) for node in nodes)
    return nodes if whole else sys.exit(f"this is no binary tree with labels: {line.strip()}")


def read_trees(path):
    with open_text(path) as file:
        return [read_tree(line) for line in file if line.strip()]


def is_leaf(node):
    return len(node) == 2


def as_input(tree, words):
    nodes = []
    for node in tree:
        if is_leaf(node):
            nodes.append({"Leaf": {"word": words[node[1]], "label": node[0]}})
        else:
            nodes.append({"Node": {"left": node[1], "right": node[2], "label": node[0]}})
    return {"nodes": nodes, "args": {"t": len(tree) - 1}, "target": tree[-1][0]}


def main():
    parser = argparse.ArgumentParser()
    for name in ("train", "dev", "out"):
        parser.add_argument(name)
    parser.add_argument("--vectors")
    options = parser.parse_args()

    train, dev = read_trees(options.train), read_trees(options.dev)
    words = Vocabulary()
    for tree in train:
        for node in filter(is_leaf, tree):
            words.add(node[1])
    write_lines(os.path.join(options.out, "train.jsonl"), (as_input(tree, words) for tree in train))
    write_lines(os.path.join(options.out, "dev.jsonl"), (as_input(tree, words) for tree in dev))
    dims = f"-Dvocab={len(words)}"
    if options.vectors:
        size, known = write_vectors(os.path.join(options.out, "vectors.safetensors"), words, read_vectors(options.vectors))
        print(f"{known} of {len(words)} words have a vector", file=sys.stderr)
        dims += f" -Dembed={size}"
    print(dims)


main()
