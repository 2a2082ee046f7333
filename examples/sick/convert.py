"""Makes inputs of sick.dyn from pairs of sentences with their dependency trees. A folder holds, line for line: the words
(a.toks, b.toks), the head of each word, counted from 1, 0 at the root (a.parents, b.parents), and how related the two
sentences are, 1 to 5 (sim.txt). Words are taken in lower case; index 0 is every word that occurs in neither folder. `target`
of an input is its relatedness.

usage: convert.py TRAIN DEV VECTORS OUT     two folders, vectors of words in GloVe's text format (.gz or not)
Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/vectors.safetensors (the const `E`), and prints what the model's dims are. The
model does not train its vectors, so words of DEV are numbered as those of TRAIN are.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import math
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from dataset import Vocabulary, open_text, read_vectors, write_lines, write_vectors

CLASSES = 5
FILES = ("a.toks", "a.parents", "b.toks", "b.parents", "sim.txt")


def read_pairs(folder):
    """(words, heads) of both sentences, and the relatedness."""
    columns = []
    for name in FILES:
        with open_text(os.path.join(folder, name)) as file:
            columns.append([line.split() for line in file])
    if len(set(map(len, columns))) != 1:
        sys.exit(f"the files of {folder} have different numbers of lines")
    for number, (a, heads_a, b, heads_b, score) in enumerate(zip(*columns), 1):
        for words, heads in ((a, heads_a), (b, heads_b)):
            if len(words) != len(heads) or heads.count("0") != 1:
                sys.exit(f"line {number} of {folder}: a sentence has a head for each word, and one of them is 0")
        yield (
            ([word.lower() for word in a], list(map(int, heads_a))),
            ([word.lower() for word in b], list(map(int, heads_b))),
            float(score[0]),
        )


def add_tree(nodes, words, sentence):
    """Appends a node for each word; gives the index of the root."""
    first = len(nodes)
    forms, heads = sentence
    children = [[] for _ in forms]
    for i, head in enumerate(heads):
        if head:
            children[head - 1].append(first + i)
    nodes += [{"Tree": {"word": words[form], "children": below}} for form, below in zip(forms, children)]
    return first + heads.index(0)


def distribution(score):
    """The distribution over 1 .. 5 whose mean is the score, of no more than two neighbours (Tai et al. 2015)."""
    low = min(math.floor(score), CLASSES - 1)
    parts = {low: low + 1 - score, low + 1: score - low}
    return [round(parts.get(k, 0.0), 6) for k in range(1, CLASSES + 1)]


def as_input(pair, words):
    a, b, score = pair
    nodes = []
    roots = {"a": add_tree(nodes, words, a), "b": add_tree(nodes, words, b)}
    return {"nodes": nodes, "args": {**roots, "target": distribution(score)}, "target": score}


def main():
    parser = argparse.ArgumentParser()
    for name in ("train", "dev", "vectors", "out"):
        parser.add_argument(name)
    options = parser.parse_args()

    pairs = {name: list(read_pairs(getattr(options, name))) for name in ("train", "dev")}
    words = Vocabulary()
    for a, b, _ in pairs["train"] + pairs["dev"]:
        for form in a[0] + b[0]:
            words.add(form)
    for name, some in pairs.items():
        write_lines(os.path.join(options.out, name + ".jsonl"), (as_input(pair, words) for pair in some))
    size, known = write_vectors(os.path.join(options.out, "vectors.safetensors"), words, read_vectors(options.vectors))
    print(f"{known} of {len(words)} words have a vector", file=sys.stderr)
    print(f"-Dvocab={len(words)} -Dembed={size}")


main()
