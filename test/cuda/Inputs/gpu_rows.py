"""What the phases of gpu-check make of what programs on a GPU print, without one. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE.

usage: gpu_rows.py ROOT FOLDER
"""
import contextlib
import io
import json
import os
import sys

root, folder = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "bench", "gpu"))
import run  # noqa: E402
from results import measure_error  # noqa: E402

# Errors: of an output as a whole, and of its form.
assert measure_error([1, {"a": 2.5}], [1, {"a": 2.0}]) == (0.25, 2.0, 0)
assert measure_error([3.0], [4.0])[0] == 0.25
assert measure_error(2, 1)[0] == measure_error([1.0], [1.0, 2.0])[0] == measure_error("nan", 1.0)[0] == float("inf")
assert measure_error("nan", "nan")[0] == 0

# A GPU that answers each program with a line of JSON.
case = {"model": "tree_lstm-150", "workload": "tree_lstm", "impl": "dbc", "hidden": 150, "entry": "e", "data": "d", "math": "tf32",
        "batches": [64]}
prediction = {"model": "tree_lstm-150", "batch": 64, "kernels": [{"name": "s", "us": {"levels": 7.0, "loops": 5.0}}],
              "us": {"levels": 50.0, "loops": 40.0}, "launches": {"levels": 20, "loops": 3}}
manifest = {"commit": "abc", "device": "h100", "checks": [], "trainings": [], "times": [case], "predictions": [prediction]}
with open(os.path.join(folder, "manifest.json"), "w") as file:
    json.dump(manifest, file)
os.makedirs(os.path.join(folder, "devices"), exist_ok=True)
with open(os.path.join(root, "cost", "devices", "h100.json")) as file, \
        open(os.path.join(folder, "devices", "h100.json"), "w") as copy:
    copy.write(file.read())
run.device_name = lambda on_cpu: "h100"
asked = []


def answer(self, command, **_):
    asked.append(os.path.basename(command[0]))
    if asked[-1] == "micro":
        return {"launch_us": 1.75, "word_us": 0.5}
    if asked[-1].startswith("time-"):
        path = {"path": "levels", "launches": 21, "runs": 9, "kernels_us": 60.0, "with_copies_us": 70.0, "whole_us": 100.0,
                "schedule_us": 10.0, "stages": [{"name": "s", "launches": 20.0, "rows": 30.0, "us": 9.0}]}
        return {"batch": 64, "nodes": 1000.0, "paths": [path]}
    if asked[-1].startswith("cublas-") and asked.count(asked[-1]) == 1:
        raise RuntimeError("it was cut")
    return {"paths": [{"path": "cublas graph", "math": "tf32", "launches": 30, "runs": 9, "kernels_us": 90.0, "with_copies_us": 128.0}]}


run.Phase.call = answer
run.Phase.build = lambda self: None
run.Times.torch = lambda self, case, batch: {"skipped": "there is no PyTorch"}


def phase(number):
    one = run.PHASES[number](folder, number, False, os.path.join(folder, "results"), minutes=1, jobs=1)
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(io.StringIO()):
        one.run()
        one.print()
    return one, text.getvalue()


first, text = phase(2)
assert "it was cut" in text and first.results.done["tree_lstm-150 batch 64 cublas"]["failed"] == "it was cut"
second, text = phase(2)  # only what failed is done again, in the same file
assert asked == ["time-tree_lstm-150", "cublas-tree_lstm-150", "cublas-tree_lstm-150"], asked
assert second.results.file == first.results.file
dbc, cublas = second.results.found["rows"]
assert (dbc["device"], dbc["path"], dbc["launches"], dbc["predicted_us"], dbc["kernels_us"]) == ("h100", "levels", 21, 50.0, 60.0)
assert dbc["math"] == "tf32" and dbc["per_second"] == 640000 and dbc["schedule_ns_per_node"] == 10
assert (cublas["impl"], cublas["math"], cublas["predicted_us"], cublas["per_second"]) == ("cublas-graph", "tf32", None, 500000)
assert "s      levels      20.0  30.0  9.0           7.0" in text, text

# Constants: what was measured takes the place of what was not, the rest stays.
constants, text = phase(1)
with open(os.path.join(folder, "results", constants.results.done["constants"]["file"])) as file:
    device = json.load(file)
assert device["constants"]["launch_us"]["value"] == 1.75 and device["constants"]["launch_us"]["measured"]
assert not device["constants"]["tile_us"]["measured"]
print(os.path.join(folder, "results", constants.results.done["constants"]["file"]))
