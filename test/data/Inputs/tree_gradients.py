"""The losses and gradients of the binary Tree-LSTM of examples/tree_lstm by PyTorch, beside those of compiled code.

tree_gradients.py TREES WEIGHTS GRADIENTS LOSSES; fails where a loss or an element of a gradient differs by more than 1e-4 of the larger of it
and 1. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""

import json
import re
import struct
import sys

import torch


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    return {
        name: torch.frombuffer(data[slice(*each["data_offsets"])], dtype=torch.float32).reshape(each["shape"]).double()
        for name, each in header.items()
        if name != "__metadata__"
    }


def number(word, known, w):
    """As trees.h numbers words: the first ones that are seen, all others alike."""
    return known.setdefault(word, min(len(known), len(w["E"]) - 1))


def loss(line, w, known):
    """The sum over all nodes of a tree, leaves first, so that nothing recurses."""
    stack, total = [], torch.zeros((), dtype=torch.double)
    labels = []
    for token in re.findall(r"\(\d |[^() ]+(?=\))|\)", line):
        if token.startswith("("):
            labels.append(int(token[1]))
        elif token == ")":
            if not isinstance(stack[-1], tuple):  # a leaf's word
                i, o, u = (w["W"] @ w["E"][stack.pop()] + w["b"]).chunk(3)
                c = torch.sigmoid(i) * torch.tanh(u)
            else:
                right, left = stack.pop(), stack.pop()
                i, fl, fr, o, u = (w["U"] @ torch.cat([left[0], right[0]]) + w["d"]).chunk(5)
                c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * left[1] + torch.sigmoid(fr) * right[1]
            h = torch.sigmoid(o) * torch.tanh(c)
            stack.append((h, c))
            logits = w["V"] @ h + w["e"]
            total = total + torch.logsumexp(logits, 0) - logits[labels.pop()]
        else:
            stack.append(number(token, known, w))
    return total


def main(trees, weights, gradients, losses):
    w = {name: value.requires_grad_() for name, value in tensors(weights).items()}
    known = {}
    expected = torch.stack([loss(line, w, known) for line in open(trees)])
    expected.mean().backward()
    got = torch.tensor([float(line) for line in open(losses)], dtype=torch.double)
    pairs = {"the losses": (expected.detach(), got)}
    pairs.update({name: (w[name].grad, value) for name, value in tensors(gradients).items()})
    worst = {}
    for name, (want, have) in pairs.items():
        scale = torch.maximum(torch.maximum(want.abs(), have.abs()), torch.ones_like(want))
        worst[name] = float(((want - have).abs() / scale).max())
    print(", ".join(f"{name} {error:.1e}" for name, error in worst.items()))
    return max(worst.values()) > 1e-4 or len(worst) != len(w) + 1


sys.exit(main(*sys.argv[1:]))
