"""The binary Tree-LSTM of examples/tree_lstm by PyTorch on a CUDA device, level by level, eagerly.

usage: torch_levels.py WEIGHTS INPUTS BATCH SECONDS HIDDEN

WEIGHTS is the folder that the program `weights` wrote. Prints one line of JSON. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE.
"""
import json
import statistics
import sys
import time

import torch
from torch.nn.functional import linear

BATCHES, LEAST, MOST = 8, 20, 1000


def read(folder, hidden):
    def matrix(name, columns):
        with open(f"{folder}/{name}.f32", "rb") as file:
            return torch.frombuffer(bytearray(file.read()), dtype=torch.float32).view(-1, columns).cuda()

    weights = {name: matrix(name, 1).flatten() for name in "bde"}
    weights["E"] = matrix("E", matrix("W", 1).numel() // (3 * hidden))
    weights["W"] = matrix("W", weights["E"].shape[1])
    weights["U"] = matrix("U", 2 * hidden)
    weights["V"] = matrix("V", hidden)
    return weights


def levels_of(lines):
    """The nodes of each height as (tree, node), from the leaves up."""
    by_height = []
    for tree, line in enumerate(lines):
        nodes = line["nodes"]
        height, order, stack = [0] * len(nodes), [], [line["args"]["t"]]
        while stack:
            n = stack.pop()
            order.append(n)
            if "Node" in nodes[n]:
                stack += [nodes[n]["Node"]["left"], nodes[n]["Node"]["right"]]
        for n in reversed(order):
            if "Node" in nodes[n]:
                height[n] = 1 + max(height[nodes[n]["Node"][side]] for side in ("left", "right"))
            while len(by_height) <= height[n]:
                by_height.append([])
            by_height[height[n]].append((tree, n))
    return by_height


def schedule(lines):
    """Words of the leaves, the children of each level's nodes by their rows, the roots' rows; all on the host."""
    by_height = levels_of(lines)
    rows = {at: row for row, at in enumerate(at for level in by_height for at in level)}
    words = [lines[tree]["nodes"][n]["Leaf"]["word"] for tree, n in by_height[0]]
    levels = []
    for level in by_height[1:]:
        children = [[rows[tree, lines[tree]["nodes"][n]["Node"][side]] for tree, n in level] for side in ("left", "right")]
        levels.append(torch.tensor(children))
    roots = torch.tensor([rows[tree, line["args"]["t"]] for tree, line in enumerate(lines)])
    return torch.tensor(words), levels, roots, len(rows)


def pinned(batch):
    words, levels, roots, rows = batch
    return words.pin_memory(), [level.pin_memory() for level in levels], roots.pin_memory(), rows


def to_device(batch):
    words, levels, roots, rows = batch
    return words.cuda(non_blocking=True), [level.cuda(non_blocking=True) for level in levels], roots.cuda(non_blocking=True), rows


@torch.inference_mode()
def compute(weights, hidden, batch):
    words, levels, roots, rows = batch
    H = hidden
    h = torch.empty(rows, H, device="cuda")
    c = torch.empty(rows, H, device="cuda")
    begin = len(words)
    y = linear(weights["E"].index_select(0, words), weights["W"], weights["b"])
    gates = y[:, : 2 * H].sigmoid_()
    torch.mul(gates[:, :H], y[:, 2 * H :].tanh_(), out=c[:begin])
    torch.mul(gates[:, H:], c[:begin].tanh(), out=h[:begin])
    for children in levels:
        end = begin + children.shape[1]
        flat = children.t().reshape(-1)
        y = linear(h.index_select(0, flat).view(-1, 2 * H), weights["U"], weights["d"])
        cells = c.index_select(0, flat).view(-1, 2 * H)
        gates = y[:, : 4 * H].sigmoid_()
        new = torch.mul(gates[:, :H], y[:, 4 * H :].tanh_(), out=c[begin:end])
        new.addcmul_(gates[:, H : 2 * H], cells[:, :H]).addcmul_(gates[:, 2 * H : 3 * H], cells[:, H:])
        torch.mul(gates[:, 3 * H :], new.tanh(), out=h[begin:end])
        begin = end
    return linear(h.index_select(0, roots), weights["V"], weights["e"]).softmax(1)


def measure(weights, hidden, batches, seconds):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    whole, kernels, start = [], [], time.perf_counter()
    while len(whole) < LEAST or (time.perf_counter() - start < seconds and len(whole) < MOST):
        batch = batches[len(whole) % len(batches)]
        events[0].record()
        there = to_device(batch)
        events[1].record()
        results = compute(weights, hidden, there)
        events[2].record()
        results.cpu()
        events[3].record()
        events[3].synchronize()
        whole.append(1e3 * events[0].elapsed_time(events[3]))
        kernels.append(1e3 * events[1].elapsed_time(events[2]))
    return statistics.median(whole), statistics.median(kernels), len(whole)


def begin():
    """What the arguments say: the folder of weights, the batches' trees, their size, seconds, hidden; and what the CPU
    found of the first batch."""
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no CUDA device")
    folder, inputs, size, seconds, hidden = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
    with open(inputs) as file:
        lines = [json.loads(line) for line, _ in zip(file, range(BATCHES * size))]
    count = min(max(len(lines) // size, 1), BATCHES)
    trees = [[lines[n % len(lines)] for n in range(b * size, (b + 1) * size)] for b in range(count)]
    with open(f"{folder}/expected-{size}.f32", "rb") as file:
        expected = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    return folder, trees, size, seconds, hidden, expected


def end(size, count, paths):
    print(json.dumps({"batch": size, "batches": count, "version": torch.__version__, "paths": paths}))


def main():
    folder, trees, size, seconds, hidden, expected = begin()
    batches = [pinned(schedule(each)) for each in trees]
    weights = read(folder, hidden)
    paths = []
    for math in ("f32", "tf32"):
        torch.backends.cuda.matmul.allow_tf32 = math == "tf32"
        for batch in batches:
            results = compute(weights, hidden, to_device(batch))
        error = float((compute(weights, hidden, to_device(batches[0])).flatten().cpu() - expected).abs().max())
        # Drawn weights make classes that are all nearly as likely, where a small error may be a mistake.
        spread = float(expected.max() - expected.min())
        if not error <= (min(5e-3, 1e-6 + 0.1 * spread) if math == "tf32" else min(1e-4, 1e-6 + 0.02 * spread)):
            sys.exit(f"PyTorch differs from the CPU by {error}")
        with_copies, kernels, runs = measure(weights, hidden, batches, seconds)
        paths.append({"path": "pytorch eager", "math": math, "launches": None, "runs": runs, "kernels_us": kernels,
                      "with_copies_us": with_copies, "max_error": error})
    end(size, len(batches), paths)


if __name__ == "__main__":
    main()
