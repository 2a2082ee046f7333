"""What the converters of the examples share: vocabularies, JSON lines, word vectors as weights.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import gzip
import json
import os
import random
import struct


class Vocabulary:
    """Numbers of names, from 1 on in the order in which they were added; 0 is every name that was not."""

    def __init__(self):
        self.numbers = {}

    def __len__(self):
        return len(self.numbers) + 1

    def add(self, name):
        """The number of a name, a new one if it is new."""
        return self.numbers.setdefault(name, len(self))

    def __getitem__(self, name):
        return self.numbers.get(name, 0)


def open_text(path):
    """A text file to read, unpacked if its name ends in .gz."""
    return gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")


def write_lines(path, inputs):
    """One JSON line an input."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for value in inputs:
            file.write(json.dumps(value, separators=(",", ":")) + "\n")


def read_vectors(path):
    """Vectors of words, from the text format of GloVe: a word and its numbers a line."""
    with open_text(path) as file:
        fields = (line.rstrip().split(" ") for line in file)
        return {word: [float(x) for x in numbers] for word, *numbers in fields}


def write_vectors(path, vocabulary, vectors):
    """Weights with one tensor `E` [words, size]: the vectors of a vocabulary, in the format of safetensors. A word without
    a vector, and the unknown one, gets one from uniform(-0.05, 0.05), as Tai et al. (2015) draw it. Gives the size, and how
    many words have a vector."""
    size = len(next(iter(vectors.values())))
    draw = random.Random(1)
    rows = [[draw.uniform(-0.05, 0.05) for _ in range(size)]]
    for word in vocabulary.numbers:
        rows.append(vectors.get(word) or [draw.uniform(-0.05, 0.05) for _ in range(size)])
    data = b"".join(struct.pack(f"<{size}f", *row) for row in rows)
    tensor = {"dtype": "F32", "shape": [len(rows), size], "data_offsets": [0, len(data)]}
    header = json.dumps({"E": tensor}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)
    return size, sum(word in vectors for word in vocabulary.numbers)
