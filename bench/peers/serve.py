"""Computes what another library makes of a workload, as often as dbc-bench asks for it.

usage: serve.py WORKLOAD IMPL THREADS [RATE]

With RATE the workload's training is computed: a step of SGD at that rate for each batch, whose result is the batch's mean
loss.

A line on standard input is a command, a line on standard output its answer. What libraries print goes to stderr.

    (at the start)  `ready`, or `absent WHY`
    load FOLDER     `loaded NOTE`: the weights and batches in FOLDER are taken. NOTE says what this peer is.
    pass            `passed SECONDS SCHEDULE COUNT`: everything was computed once, which took SECONDS, SCHEDULE of them
                    to find out what is computed together (-1: that cannot be told apart). COUNT results follow, float32.
    parameter NAME  `parameter COUNT`: of a training; COUNT numbers follow, float32, as the passes so far have left them.

FOLDER/weights has a file for each parameter, FOLDER/inputs one for each column of the model's data types, with an
array for each batch: see bench/Inputs.h for what they mean and read_arrays() for the format.

A model is a class whose objects have
    __init__(impl, threads)  raises ImportError where its library is absent; of a training it takes the rate too
    load(weights, batches)   takes the weights, flat arrays under the parameters' names, warms up and chooses what is
                             fastest for the batches, before anything is timed; sets `note`
    run(batch)               computes a batch, whose columns are arrays under their names, and returns its results as
                             one vector with `tolist()`
    schedule_seconds         None, or what run() adds to
    learnt(name)             of a training: a parameter's numbers as an array of float32

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import array
import gc
import importlib
import os
import struct
import sys
import time

# The models by workload and implementation: their module here and their class.
MODELS = {
    ("tree_lstm", "dynet-agenda"): "dynet_models.TreeLstm",
    ("tree_lstm", "dynet-depth"): "dynet_models.TreeLstm",
    ("tagger", "dynet-agenda"): "dynet_models.Tagger",
    ("tagger", "dynet-depth"): "dynet_models.Tagger",
    ("lattice", "dynet-agenda"): "dynet_models.Lattice",
    ("lattice", "dynet-depth"): "dynet_models.Lattice",
    ("child_sum", "dynet-agenda"): "dynet_models.ChildSum",
    ("child_sum", "dynet-depth"): "dynet_models.ChildSum",
    ("treefc", "dynet-agenda"): "dynet_models.TreeFc",
    ("treefc", "dynet-depth"): "dynet_models.TreeFc",
    ("mv_rnn", "dynet-agenda"): "dynet_models.MvRnn",
    ("mv_rnn", "dynet-depth"): "dynet_models.MvRnn",
    ("ggnn", "dynet-agenda"): "dynet_models.Ggnn",
    ("ggnn", "dynet-depth"): "dynet_models.Ggnn",
    ("tree_lstm", "pytorch-node"): "pytorch_models.TreeLstmNodes",
    ("tree_lstm", "pytorch-level"): "pytorch_models.TreeLstmLevels",
    ("child_sum", "pytorch-node"): "pytorch_models.ChildSumNodes",
    ("child_sum", "pytorch-level"): "pytorch_models.ChildSumLevels",
    ("tagger", "pytorch-node"): "pytorch_models.TaggerNodes",
    ("tagger", "pytorch-level"): "pytorch_models.TaggerLevels",
    ("lattice", "pytorch-node"): "pytorch_models.LatticeNodes",
    ("lattice", "pytorch-level"): "pytorch_models.LatticeLevels",
    ("treefc", "pytorch-node"): "pytorch_models.TreeFcNodes",
    ("treefc", "pytorch-level"): "pytorch_models.TreeFcLevels",
    ("mv_rnn", "pytorch-node"): "pytorch_models.MvRnnNodes",
    ("mv_rnn", "pytorch-level"): "pytorch_models.MvRnnLevels",
    ("ggnn", "pytorch-node"): "pytorch_models.GgnnNodes",
    ("ggnn", "pytorch-level"): "pytorch_models.GgnnLevels",
}

# Those of trainings.
TRAININGS = {
    ("tree_lstm", "dynet-agenda"): "dynet_trainings.TreeLstm",
    ("tree_lstm", "dynet-depth"): "dynet_trainings.TreeLstm",
    ("tagger", "dynet-agenda"): "dynet_trainings.Tagger",
    ("tagger", "dynet-depth"): "dynet_trainings.Tagger",
    ("tree_lstm", "pytorch-node"): "pytorch_trainings.TreeLstmNodes",
    ("tree_lstm", "pytorch-level"): "pytorch_trainings.TreeLstmLevels",
    ("tagger", "pytorch-node"): "pytorch_trainings.TaggerWords",
    ("tagger", "pytorch-level"): "pytorch_trainings.TaggerSteps",
}


def read_arrays(path):
    """The arrays in a file: of each the number of its elements as an int32, then these, four bytes each."""
    code = {".i32": "i", ".f32": "f"}[os.path.splitext(path)[1]]
    with open(path, "rb") as file:
        data = file.read()
    arrays, at = [], 0
    while at < len(data):
        begin = at + 4
        at = begin + 4 * struct.unpack_from("=i", data, at)[0]
        arrays.append(array.array(code, data[begin:at]))
    return arrays


def read_folder(folder):
    """All files in the folder: their names without the type, and their arrays."""
    return {os.path.splitext(name)[0]: read_arrays(os.path.join(folder, name)) for name in os.listdir(folder)}


def find_model(workload, impl, training):
    """The class of a model."""
    module_path = (TRAININGS if training else MODELS).get((workload, impl))
    if not module_path:
        raise ImportError("not written for this workload")
    module, name = module_path.split(".")
    return getattr(importlib.import_module(module), name)


def timed_pass(model, batches):
    """Computes all batches. Returns the answer and the results."""
    if model.schedule_seconds is not None:
        model.schedule_seconds = 0.0
    start = time.perf_counter()
    results = [model.run(batch) for batch in batches]
    seconds = time.perf_counter() - start
    schedule = -1.0 if model.schedule_seconds is None else model.schedule_seconds
    values = array.array("f")
    for result in results:
        values.extend(result.tolist())
    return f"passed {seconds!r} {schedule!r} {len(values)}\n".encode() + values.tobytes()


def serve(model, commands, answer):
    """Answers commands until there are no more."""
    batches = None
    for line in commands:
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "load":
            weights = {name: arrays[0] for name, arrays in read_folder(os.path.join(argument, "weights")).items()}
            columns = read_folder(os.path.join(argument, "inputs"))
            batches = [dict(zip(columns, arrays)) for arrays in zip(*columns.values())]
            model.load(weights, batches)
            # As Python's own timeit does: no pause for garbage within a pass, and these models leave no cycles.
            gc.collect()
            gc.disable()
            answer(f"loaded {model.note}\n".encode())
        elif command == "pass":
            answer(timed_pass(model, batches))
        elif command == "parameter":
            values = memoryview(model.learnt(argument)).cast("B")
            answer(f"parameter {len(values) // 4}\n".encode() + bytes(values))
        else:
            raise ValueError(f"unknown command `{command}`")


def main(find=find_model):
    """Serves the model whose class `find` gives for the command line's workload and implementation."""
    workload, impl, threads, *rate = sys.argv[1:]
    # Libraries must not write between the answers.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def answer(data):
        channel.write(data)
        channel.flush()

    try:
        model = find(workload, impl, bool(rate))(impl, int(threads), *map(float, rate))
    except ImportError as error:
        answer(f"absent {error}\n".encode())
        return
    answer(b"ready\n")
    serve(model, sys.stdin, answer)


if __name__ == "__main__":
    main()
