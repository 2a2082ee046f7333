"""Baidu's lexical analysis (LAC, small) for test/models/lac_bigru_crf.dyn: trained weights, sentences, and what must come out.

usage: lac.py WEIGHTS INPUT TAG SUMMARY     names of the files to write; the last two are what the entries must give

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys

from arrays import read_npy, write_safetensors
from common import data_file, write_lines

FOLDER = "ref_lac_bigru_crf"


def weights():
    def read(name):
        return read_npy(FOLDER, "weights", name + ".npy")

    transitions = read("crfw")  # its rows: first, last, then [from, to]
    arrays = {
        "E": read("word_emb"),
        "out.W": read("fc_4.w_0").transpose(),
        "out.b": read("fc_4.b_0"),
        "crf.first": transitions[0],
        "crf.last": transitions[1],
        "crf.T": transitions[2:].transpose(),
    }
    for k, path in enumerate(["lower.fwd", "lower.bwd", "upper.fwd", "upper.bwd"]):
        bias = read(f"gru_{k}.b_0")
        arrays[f"{path}.W"] = read(f"fc_{k}.w_0").transpose()
        arrays[f"{path}.b"] = read(f"fc_{k}.b_0") + bias[0]
        arrays[f"{path}.U"] = read(f"gru_{k}.w_0.gates").transpose()
        arrays[f"{path}.C"] = read(f"gru_{k}.w_0.cand").transpose()
    return arrays


def main():
    write_safetensors(sys.argv[1], weights())
    with data_file(FOLDER, "expected_float64.jsonl.gz") as file:
        sentences = [json.loads(line) for line in file]
    write_lines(sys.argv[2], ({"nodes": [], "args": {"text": s["ids"]}} for s in sentences))
    write_lines(sys.argv[3], (s["tags"] for s in sentences))
    write_lines(sys.argv[4], ([s["emission_first"], s["emission_last"], s["emission_sum"]] for s in sentences))


main()
