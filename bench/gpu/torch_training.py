"""Training the binary Tree-LSTM of examples/tree_lstm by PyTorch on a CUDA device, level by level, eagerly: a loss at every
node, autograd, plain SGD, of the table of words only the rows that there are.

usage: torch_training.py WEIGHTS INPUTS BATCH SECONDS HIDDEN

WEIGHTS is the folder that the program `weights-MODEL` wrote. Prints one line of JSON. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE.
"""
import statistics
import sys
import time

import torch
from torch.nn.functional import cross_entropy, linear

from torch_levels import LEAST, MOST, begin, end, levels_of, pinned, read, schedule, to_device

RATE = 1e-4


def labels_of(lines):
    """The label of each row, rows being in the order of `schedule`."""
    labels = []
    for level in levels_of(lines):
        for tree, n in level:
            (fields,) = lines[tree]["nodes"][n].values()
            labels.append(fields["label"])
    return torch.tensor(labels)


def loss_of(weights, hidden, batch, labels):
    """The mean over trees of the sum of their nodes' losses; and the vectors of the words, whose gradient is wanted."""
    words, levels, roots, _ = batch
    H = hidden
    x = weights["E"].index_select(0, words).requires_grad_()
    y = linear(x, weights["W"], weights["b"])
    i, o = y[:, : 2 * H].sigmoid().chunk(2, 1)
    c = i * y[:, 2 * H :].tanh()
    h = o * c.tanh()
    for children in levels:
        flat = children.t().reshape(-1)
        y = linear(h.index_select(0, flat).view(-1, 2 * H), weights["U"], weights["d"])
        i, left, right, o = y[:, : 4 * H].sigmoid().chunk(4, 1)
        cells = c.index_select(0, flat).view(-1, 2 * H)
        new = torch.addcmul(torch.addcmul(i * y[:, 4 * H :].tanh(), left, cells[:, :H]), right, cells[:, H:])
        c = torch.cat((c, new))
        h = torch.cat((h, o * new.tanh()))
    return cross_entropy(linear(h, weights["V"], weights["e"]), labels, reduction="sum") / len(roots), x


TRAINED = ("W", "b", "U", "d", "V", "e")


def step(weights, hidden, batch, labels):
    loss, x = loss_of(weights, hidden, batch, labels)
    gradients = torch.autograd.grad(loss, [weights[name] for name in TRAINED] + [x])
    with torch.no_grad():
        torch._foreach_add_([weights[name] for name in TRAINED], gradients[:-1], alpha=-RATE)
        weights["E"].index_add_(0, batch[0], gradients[-1], alpha=-RATE)
    return loss


def measure(weights, hidden, batches, seconds):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    whole, start = [], time.perf_counter()
    while len(whole) < LEAST or (time.perf_counter() - start < seconds and len(whole) < MOST):
        batch, labels = batches[len(whole) % len(batches)]
        events[0].record()
        loss = step(weights, hidden, to_device(batch), labels.cuda(non_blocking=True))
        loss.item()
        events[1].record()
        events[1].synchronize()
        whole.append(1e3 * events[0].elapsed_time(events[1]))
    return statistics.median(whole), len(whole)


def main():
    folder, some, size, seconds, hidden, of_trees = begin()
    batches = [(pinned(schedule(trees)), labels_of(trees).pin_memory()) for trees in some]
    expected = of_trees.mean().item()
    paths = []
    for math in ("f32", "tf32"):
        torch.backends.cuda.matmul.allow_tf32 = math == "tf32"
        weights = read(folder, hidden)
        for name in TRAINED:
            weights[name].requires_grad_()
        batch, labels = batches[0]
        found = loss_of(weights, hidden, to_device(batch), labels.cuda())[0].item()
        error = abs(found - expected) / max(1, abs(expected))
        if not error <= (5e-3 if math == "tf32" else 1e-4):
            sys.exit(f"PyTorch's loss differs from the CPU's: {found}, {expected}")
        for batch, labels in batches:
            step(weights, hidden, to_device(batch), labels.cuda())
        taken, runs = measure(weights, hidden, batches, seconds)
        paths.append({"path": "pytorch eager", "math": math, "runs": runs, "step_us": taken, "max_error": error})
    end(size, len(batches), paths)


if __name__ == "__main__":
    main()
