"""The losses of the examples' models by bench/training, beside those of the interpreter, with the same weights and inputs.

usage: references.py DBC ROOT SCRATCH

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import os
import subprocess
import sys

import torch

DBC, ROOT, SCRATCH = sys.argv[1:]
sys.path[:0] = [os.path.join(ROOT, "bench", "training"), os.path.join(ROOT, "test", "data")]
import molecules
import sick
import sst
import tagger
from arrays import Array, write_safetensors
from networks import by_own_names, of_tagger
from training import matrix


def dbc(command, model, dims, *arguments):
    """What a command prints for examples/`model`, a value a line."""
    source = os.path.join(ROOT, "examples", model, model + ".dyn")
    bound = [f"-D{name}={extent}" for name, extent in dims.items()]
    printed = subprocess.run([DBC, command, source, *bound, *arguments], capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    return list(map(json.loads, printed.stdout.splitlines()))


def drawn(network):
    """The network with weights, biases too, that are not those it starts with, and without dropout."""
    with torch.no_grad():
        for each in network.parameters():
            if each.requires_grad:
                each.uniform_(-0.5, 0.5)
    return network.eval()


def compare(model, dims, loss, network, weights, batch_of, target=lambda line: 0, real=lambda lines: lines):
    """Fails if the losses of random inputs differ, together or alone. `real` makes those of them that data could have."""
    path = os.path.join(SCRATCH, model + ".safetensors")
    tensors = {name: tensor.detach() for name, tensor in weights.items()}
    write_safetensors(path, {name: Array(t.shape, t.flatten().tolist()) for name, t in tensors.items()})
    lines = dbc("sample", model, dims, "--entry", loss, "-n", "100", "--seed", "1", "--length", "1..5")
    lines = real(lines)[:20]
    inputs = os.path.join(SCRATCH, model + ".jsonl")
    with open(inputs, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    expected = dbc("interpret", model, dims, "--entry", loss, "--weights", path, "--input", inputs)
    expected = [value[0] if isinstance(value, list) else value for value in expected]
    lines = [{**line, "target": target(line)} for line in lines]
    cases = [([line], value) for line, value in zip(lines, expected)] + [(lines, sum(expected) / len(expected))]
    for some, value in cases:
        found = network(batch_of(some)).item()
        assert abs(found - value) <= 1e-5 * max(1, abs(value)), f"{model}: {found}, the interpreter says {value}"
    print(f"{model}: {len(lines)} inputs")


def is_tree(line):
    """Whether no node is a child of two."""
    fields = [next(iter(node.values())) for node in line["nodes"]]
    children = [node[side] for node in fields for side in ("left", "right") if side in node]
    return len(set(children)) == len(children)


def with_all_atoms(line):
    atoms = [i for i, node in enumerate(line["nodes"]) if "Atom" in node]
    return {**line, "args": {**line["args"], "atoms": atoms}}


def compare_sst():
    network = drawn(sst.TreeLstm(matrix(9, 7).data, 6, 0.5))
    dims = {"vocab": 9, "embed": 7, "hidden": 6}
    batch_of = lambda lines: sst.Batch(list(map(sst.by_depth, lines)))
    compare("sst", dims, "nll", network, by_own_names(network), batch_of, real=lambda lines: list(filter(is_tree, lines)))


def compare_sick():
    network = drawn(sick.Similarity(torch.randn(9, 7), 6, 4))
    theirs = {"tree.W": "W", "tree.b": "b", "tree.U": "U", "tree.Uf": "Uf", "out.W": "out_W", "out.b": "out_b", "E": "words"}
    weights = {name: getattr(network, theirs.get(name, name)) for name in (*theirs, "Wx", "Wp", "bh")}
    dims = {"vocab": 9, "embed": 7, "hidden": 6, "sim": 4}
    compare("sick", dims, "kl", network, weights, lambda lines: sick.Batch(list(map(sick.pair, lines))))


def compare_tagger():
    network = drawn(tagger.Tagger(9, 8, 5, 3, 6, 0.5))

    def tags(line):
        words = (next(iter(line["nodes"][i].values())) for i in line["args"]["ws"])
        return [word["tag"] for word in words]

    dims = {"vocab": 9, "chars": 8, "tags": 5, "half": 3, "hidden": 6}
    compare("tagger", dims, "nll", network, of_tagger(network), lambda lines: tagger.Batch(list(map(tagger.sentence, lines))), tags)


def compare_molecules():
    network = drawn(molecules.GraphNetwork(7, 6))
    weights = {"gru." + part: getattr(network, "gru_" + part) for part in "WUbd"}
    for name in ("lift", "gate", "inner", "value"):
        linear = getattr(network, name)
        weights.update({name + ".W": linear.weight, name + ".b": linear.bias})
    weights["along.W"] = torch.stack([linear.weight for linear in network.along])
    weights["along.b"] = torch.stack([linear.bias for linear in network.along])
    dims = {"features": 7, "hidden": 6}
    batch_of = lambda lines: molecules.Batch(list(map(molecules.molecule, lines)))
    target = lambda line: line["args"]["measured"]
    real = lambda lines: list(map(with_all_atoms, lines))
    compare("molecules", dims, "squared", network, weights, batch_of, target, real)


def main():
    torch.manual_seed(1)
    compare_sst()
    compare_sick()
    compare_tagger()
    compare_molecules()


main()
