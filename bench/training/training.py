"""What the trainings by PyTorch share: inputs as the examples' converters write them, initial values as dbc draws them, and
a loop over epochs that keeps the best one.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import json
import math
import os
import random
import struct
import time

import torch
from torch import nn

KINDS = {"adagrad": torch.optim.Adagrad, "adam": torch.optim.Adam}


def read_lines(path):
    """The inputs of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_tensor(path, name):
    """One tensor of 32-bit floats of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))[name]
        start, end = header["data_offsets"]
        file.seek(start, os.SEEK_CUR)
        return torch.frombuffer(bytearray(file.read(end - start)), dtype=torch.float32).view(header["shape"])


def start_as_matrix(parameter):
    """Starts a matrix by `glorot`, as those of a .dyn file do without an initial value."""
    bound = math.sqrt(6 / sum(parameter.shape))
    with torch.no_grad():
        parameter.uniform_(-bound, bound)


def matrix(rows, columns):
    """A parameter that starts so."""
    parameter = nn.Parameter(torch.empty(rows, columns))
    start_as_matrix(parameter)
    return parameter


def vector(size):
    """A parameter that starts at 0."""
    return nn.Parameter(torch.zeros(size))


def pearson(xs, ys):
    return torch.corrcoef(torch.stack([xs.double(), ys.double()]))[0, 1].item()


def options(**defaults):
    """The command line of a training: a folder with train.jsonl and dev.jsonl, and options with these defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", help="folder with train.jsonl and dev.jsonl, by the example's convert.py")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--patience", type=int, default=8, help="epochs without a better one after which a run ends")
    parser.add_argument("--json", help="file for the results; it is written after each epoch")
    for name, value in defaults.items():
        flag = "--" + name.replace("_", "-")
        if value is False:
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=type(value), default=value)
    return parser.parse_args()


def make_optimizer(model, kind, lr, weight_decay):
    """The optimizer of a model's parameters. Weight decay leaves out word vectors, `E`."""
    vectors = [p for name, p in model.named_parameters() if name == "E"]
    others = [p for name, p in model.named_parameters() if name != "E" and p.requires_grad]
    groups = [{"params": others, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return KINDS[kind]([group for group in groups if group["params"]], lr=lr)


def train(make_model, batch_of, train_inputs, dev_inputs, opts, evaluate, lower_is_better=False):
    """Trains a model for each seed and prints a table. `batch_of` makes a batch of inputs; a model called with a batch gives
    the mean loss of its inputs; `evaluate(model, batches)` is the metric."""
    sign = -1 if lower_is_better else 1
    torch.set_num_threads(1)
    torch.sparse.check_sparse_tensor_invariants.disable()
    dev = [batch_of(dev_inputs[i : i + 100]) for i in range(0, len(dev_inputs), 100)]
    runs = []
    for seed in opts.seeds:
        torch.manual_seed(seed)
        order = random.Random(seed)
        model = make_model()
        optimizer = make_optimizer(model, opts.kind, opts.lr, opts.weight_decay)
        run = {"seed": seed, "epoch": 0, "metric": -sign * math.inf, "losses": [], "metrics": [], "seconds": 0.0}
        runs.append(run)
        inputs = list(train_inputs)
        for epoch in range(1, opts.epochs + 1):
            start = time.perf_counter()
            order.shuffle(inputs)
            model.train()
            total = 0.0
            for i in range(0, len(inputs), opts.batch):
                some = inputs[i : i + opts.batch]
                loss = model(batch_of(some))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(some)
            run["seconds"] += time.perf_counter() - start
            model.eval()
            with torch.inference_mode():
                metric = evaluate(model, dev)
            run["losses"].append(round(total / len(inputs), 4))
            run["metrics"].append(round(metric, 4))
            if sign * metric > sign * run["metric"]:
                run.update(epoch=epoch, metric=metric)
            print(f"seed {seed} epoch {epoch}: loss {run['losses'][-1]}, metric {run['metrics'][-1]}", flush=True)
            if opts.json:
                with open(opts.json, "w", encoding="utf-8") as file:
                    json.dump({"options": vars(opts), "runs": runs}, file)
            if epoch - run["epoch"] >= opts.patience:
                break
    print("seed  best epoch  metric  seconds an epoch  losses")
    for run in runs:
        each = run["seconds"] / len(run["losses"])
        print(f"{run['seed']:4}  {run['epoch']:10}  {run['metric']:6.4f}  {each:16.1f}  {run['losses']}")
