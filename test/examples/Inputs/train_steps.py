"""Steps of plain SGD by PyTorch, in double precision, beside those of train_steps.cpp: with the same weights, batches and rate.

usage: train_steps.py MODEL ROOT LINES BATCH RATE FOLDER, where FOLDER has what train_steps wrote, and `losses`, what it printed

Fails where a loss differs from PyTorch's by more than 1e-4 of it in the first step and 1e-3 in a later one, an element of the first
step's gradient by more than 1e-4 of its parameter's largest one, or the change of a weight over all steps by more than 1e-3 of its
parameter's largest change. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import os
import struct
import sys

import torch

MODEL, ROOT, LINES, BATCH, RATE, FOLDER = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "bench", "training"))
import sst
import tagger
from networks import by_own_names, of_tagger
from training import read_lines, read_tensor


def read_tensors(name):
    """All tensors of a file of weights, in double precision."""
    path = os.path.join(FOLDER, name + ".safetensors")
    with open(path, "rb") as file:
        names = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return {name: read_tensor(path, name).double() for name in names if name != "__metadata__"}


def make_tree_lstm(weights):
    """examples/tree_lstm: that of examples/sst where nothing is dropped."""
    network = sst.TreeLstm(weights["E"].clone(), len(weights["d"]) // 5, 0)
    return network, by_own_names(network), lambda lines: sst.Batch(list(map(sst.by_depth, lines)))


def make_tagger(weights):
    extents = len(weights["E"]), len(weights["C"]), len(weights["O"]), weights["E"].shape[1] // 2, weights["O"].shape[1] // 2
    network = tagger.Tagger(*extents, 0)

    def sentence(line):
        tags = [next(iter(line["nodes"][i].values()))["tag"] for i in line["args"]["ws"]]
        return tagger.sentence({**line, "target": tags})

    return network, of_tagger(network), lambda lines: tagger.Batch(list(map(sentence, lines)))


def furthest(got, expected):
    """The largest difference, by the largest of what is expected."""
    return float((got - expected).abs().max() / expected.abs().max())


def main():
    weights, gradient, trained = map(read_tensors, ("weights", "gradient", "trained"))
    network, parameters, batch_of = {"tree_lstm": make_tree_lstm, "tagger": make_tagger}[MODEL](weights)
    network.double()
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    assert set(parameters) == set(weights) == set(gradient) == set(trained)
    with open(os.path.join(FOLDER, "losses")) as file:
        losses = list(map(float, file))
    lines, size = read_lines(LINES), int(BATCH)
    optimizer = torch.optim.SGD(parameters.values(), lr=float(RATE))
    expected = []
    for step in range(len(losses)):
        at = step * size % len(lines)
        loss = network(batch_of(lines[at : at + size]))
        optimizer.zero_grad()
        loss.backward()
        expected.append(loss.item())
        if step == 0:
            gradients = {name: furthest(gradient[name], p.grad.to_dense()) for name, p in parameters.items()}
        optimizer.step()
    with torch.no_grad():
        changes = {name: furthest(trained[name] - weights[name], p - weights[name]) for name, p in parameters.items()}
    curve = [abs(got - want) / abs(want) for got, want in zip(losses, expected)]
    print(f"{MODEL}: {len(losses)} steps, losses {losses[0]:.4f} to {losses[-1]:.4f}")
    print(f"first loss {curve[0]:.1e}, curve {max(curve):.1e}")
    print("gradients " + ", ".join(f"{name} {error:.1e}" for name, error in gradients.items()))
    print("changes " + ", ".join(f"{name} {error:.1e}" for name, error in changes.items()))
    assert losses[-1] < 0.9 * losses[0], "nothing was learnt: such a curve shows little"
    return curve[0] > 1e-4 or max(curve) > 1e-3 or max(gradients.values()) > 1e-4 or max(changes.values()) > 1e-3


sys.exit(main())
