"""Makes inputs of molecules.dyn from graphs of molecules. The first line of a file says how many there are. Each is a line
`atoms bonds target`, then a line an atom, `atomic-number degree charge hydrogens hybridisation aromatic`, and a line a bond,
`i j type conjugated in-ring`, with atoms counted from 0. `target` of an input is the molecule's.

usage: convert.py GRAPHS OUT     a file, .gz or not
Writes OUT/dev.jsonl, a tenth of the molecules, drawn with a fixed seed, and OUT/train.jsonl, the others; prints what the model's
dims are.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from dataset import open_text, write_lines

# What the numbers of an atom may be; each has a place for others.
ELEMENTS = (5, 6, 7, 8, 9, 14, 15, 16, 17, 35, 53)  # B C N O F Si P S Cl Br I
DEGREES, HYDROGENS, HYBRIDISATIONS = range(5), range(4), (2, 3, 4)
BOND_TYPES = 5


def one_of(values, value):
    """1 at the place of a value, the last place for one that is none of them."""
    return [int(value == each) for each in values] + [int(value not in values)]


def features(element, degree, charge, hydrogens, hybridisation, aromatic):
    return [
        *one_of(ELEMENTS, element),
        *one_of(DEGREES, degree),
        *one_of(HYDROGENS, hydrogens),
        *one_of(HYBRIDISATIONS, hybridisation),
        charge,
        aromatic,
    ]


def read_molecules(path):
    """(atoms, bonds, target): the features of each atom, (i, j, type) of each bond."""
    with open_text(path) as file:
        for _ in range(int(file.readline())):
            sizes = file.readline().split()
            if len(sizes) != 3 or sizes[2] == "nan":
                sys.exit(f"{path}: a molecule with one known target begins with three numbers, not `{' '.join(sizes)}`")
            atoms = [features(*map(int, file.readline().split())) for _ in range(int(sizes[0]))]
            bonds = [tuple(map(int, file.readline().split()[:3])) for _ in range(int(sizes[1]))]
            yield atoms, bonds, float(sizes[2])


def as_input(molecule):
    atoms, bonds, target = molecule
    nodes = [{"Atom": {"x": x, "bonds": []}} for x in atoms]
    for i, j, kind in bonds:
        for start, end in ((i, j), (j, i)):
            nodes[start]["Atom"]["bonds"].append(len(nodes))
            nodes.append({"Bond": {"kind": kind, "to": end}})
    return {"nodes": nodes, "args": {"atoms": list(range(len(atoms))), "measured": target}, "target": target}


def main():
    parser = argparse.ArgumentParser()
    for name in ("graphs", "out"):
        parser.add_argument(name)
    options = parser.parse_args()

    inputs = [as_input(molecule) for molecule in read_molecules(options.graphs)]
    random.Random(1).shuffle(inputs)
    tenth = max(1, len(inputs) // 10)
    write_lines(os.path.join(options.out, "dev.jsonl"), inputs[:tenth])
    write_lines(os.path.join(options.out, "train.jsonl"), inputs[tenth:])
    print(f"-Dfeatures={len(inputs[0]['nodes'][0]['Atom']['x'])} -Dkinds={BOND_TYPES}")


main()
