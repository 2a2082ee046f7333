"""Chemprop's network on ESOL for test/models/chemprop_mpnn.dyn: trained weights, molecules, and the predictions published.

usage: chemprop.py WEIGHTS INPUT PREDICT     names of the files to write; the last is what the entry must give

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys

from arrays import Array, read_npy, write_safetensors
from common import data_file, write_lines

FOLDER = "ref_chemprop_mpnn"
FEATURES = 133
NAMES = {
    "Wi": "W_i",
    "Wh": "W_h",
    "Wo.W": "W_o",
    "Wo.b": "b_o",
    "ffn.W": "ffn1_W",
    "ffn.b": "ffn1_b",
    "value.W": "ffn2_W",
    "value.b": "ffn2_b",
}


def weights():
    arrays = {ours: read_npy(FOLDER, "weights", theirs + ".npy") for ours, theirs in NAMES.items()}
    with data_file(FOLDER, "scaler.json") as file:
        scaler = json.load(file)
    return {**arrays, "centre": Array([], [scaler["mean"]]), "spread": Array([], [scaler["std"]])}


def as_input(molecule):
    """A molecule with two edges for each bond, there and back."""
    n = molecule["n_atoms"]
    edges, incoming = [], [[] for _ in range(n)]
    for (i, j), x in zip(molecule["bonds"], molecule["bond_features"]):
        there = n + len(edges)
        edges.append({"Edge": {"x": x, "start": i, "back": there + 1}})
        edges.append({"Edge": {"x": x, "start": j, "back": there}})
        incoming[j].append(there)
        incoming[i].append(there + 1)
    atoms = []
    for features, edges_in in zip(molecule["atom_features_sparse"], incoming):
        values = dict(features)
        atoms.append({"Atom": {"x": [values.get(k, 0) for k in range(FEATURES)], "incoming": edges_in}})
    return {"nodes": atoms + edges, "args": {"molecule": list(range(n))}}


def main():
    write_safetensors(sys.argv[1], weights())
    with data_file(FOLDER, "molecules.jsonl.gz") as file:
        molecules = [json.loads(line) for line in file]
    write_lines(sys.argv[2], map(as_input, molecules))
    write_lines(sys.argv[3], (m["published_prediction"] for m in molecules))


main()
