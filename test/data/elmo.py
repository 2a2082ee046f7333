"""AllenNLP's small ELMo for test/models/elmo_bilm.dyn: its weights, two texts of ten sentences, and what TensorFlow gave.

usage: elmo.py WEIGHTS INPUT TOP     names of the files to write; the last is what the entry must give

An input is a sentence together with those before it in its text.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import sys

from arrays import read_npy, stack, write_safetensors
from common import data_file, write_lines

FOLDER = "ref_elmo_bilm"
LETTERS = 50
# What stands beside the 256 bytes in a spelling.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(256, 261)


def weights():
    def read(name):
        return read_npy(FOLDER, "weights", name + ".npy")

    arrays = {"C": read("char_embed"), "project.W": read("CNN_proj.W_proj").transpose(), "project.b": read("CNN_proj.b_proj")}
    for i in range(5):
        kernel = read(f"CNN.W_cnn_{i}")  # [1, width, embedding, filters]
        _, width, embedding, filters = kernel.shape
        arrays[f"c{i + 1}.K"] = kernel.reshape(width * embedding, filters).transpose()
        arrays[f"c{i + 1}.b"] = read(f"CNN.b_cnn_{i}")
    for gate in ["transform", "carry"]:
        arrays[f"high.{gate}.W"] = stack([read(f"CNN_high_{i}.W_{gate}").transpose() for i in range(2)])
        arrays[f"high.{gate}.b"] = stack([read(f"CNN_high_{i}.b_{gate}") for i in range(2)])
    for i, direction in enumerate(["fwd", "bwd"]):
        for j, height in enumerate(["lower", "upper"]):
            cell = f"RNN_{i}.RNN.MultiRNNCell.Cell{j}.LSTMCell"
            arrays[f"{direction}.{height}.W"] = read(f"{cell}.W_0").transpose()
            arrays[f"{direction}.{height}.b"] = read(f"{cell}.B")
            arrays[f"{direction}.{height}.P"] = read(f"{cell}.W_P_0").transpose()
    return arrays


def spelling(letters):
    return ([BEGIN_WORD] + letters[: LETTERS - 2] + [END_WORD] + LETTERS * [PADDING])[:LETTERS]


def as_input(sentences):
    """The last of the sentences; each a node that knows the one before it. Equal words share a node."""
    words, chain = {}, []

    def word(*letters):
        return words.setdefault(letters, len(words))

    for text in sentences:
        between = [word(*token.encode()) for token in text.split()]
        chain.append([word(BEGIN_SENTENCE), *between, word(END_SENTENCE)])
    nodes = [{"Word": {"spelling": spelling(list(letters))}} for letters in words]
    for i, numbers in enumerate(chain):
        nodes.append({"Sentence": {"words": numbers, "before": [len(nodes) - 1] if i > 0 else []}})
    return {"nodes": nodes, "args": {"s": len(nodes) - 1}}


def main():
    write_safetensors(sys.argv[1], weights())
    inputs, expected = [], []
    for text in range(2):
        with data_file(FOLDER, f"sentences_{text}.txt") as file:
            sentences = file.read().splitlines()
        inputs += [as_input(sentences[: i + 1]) for i in range(len(sentences))]
        expected += [read_npy(FOLDER, "expected", f"{text}_{i}.npy").nested() for i in range(len(sentences))]
    write_lines(sys.argv[2], inputs)
    write_lines(sys.argv[3], expected)


main()
