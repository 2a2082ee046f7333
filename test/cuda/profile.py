"""Runs a child-sum tree model on a device whose profile has predictions, and compares them with what dbc report predicts.

usage: profile.py DBC MODEL FOLDER DEVICE

The model has one loop, of the stages encode.map.3 and encode.h. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE.
"""
import json
import math
import os
import subprocess
import sys

FIRST, SECOND = "encode.map.3", "encode.h"


def main():
    dbc, model, folder, device = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    result = os.path.join(folder, "profile.json")

    def write(lengths):
        name = os.path.join(folder, "in.jsonl")
        with open(name, "w") as file:
            for length in lengths:
                nodes = [{"Tree": {"word": n, "children": [n - 1] if n else [], "label": 0}} for n in range(length)]
                print(json.dumps({"nodes": nodes, "args": {"t": length - 1}}), file=file)
        return ["--entry", "label", "--batch", str(len(lengths)), "--device", device, "--input", name]

    def profile_of(lengths):
        """The stages by their names, and what is said of the whole."""
        trace = os.path.join(folder, "trace.json")
        subprocess.run([dbc, "run", model, *write(lengths), "--target", "cuda-on-cpu", "--profile-json", result, "--profile-trace", trace],
                       check=True, stdout=subprocess.DEVNULL)
        with open(result) as file:
            profile = json.load(file)
        with open(trace) as file:
            launches = [event for event in json.load(file)["traceEvents"] if event.get("cat") == "stage"]
        # Each launch has the rows of the stages that it computed, and no other.
        for launch in launches:
            assert launch["args"]["rows"] > 0 and len(set(launch["args"]["stages"])) == len(launch["args"]["stages"]), launch
            assert launch["args"]["stages"] in ([FIRST, SECOND], [launch["name"]]), launch
        assert sum(launch["args"]["stages"] == [FIRST, SECOND] for launch in launches) == 1
        for stage in profile["stages"]:
            of = [launch for launch in launches if stage["name"] == launch["name"]]
            assert abs(sum(launch["dur"] for launch in of) * 1e3 - stage["ns"]) < 1 + len(of), stage
        for count in "rows", "operations", "bytes_read":
            assert sum(launch["args"][count] for launch in launches) == sum(stage[count] for stage in profile["stages"]), count
        return {stage["name"]: stage for stage in profile["stages"]}, profile["predicted"]

    def report_of(lengths, path):
        """Microseconds of each stage, and in all."""
        done = subprocess.run([dbc, "report", model, *write(lengths), "--json"], check=True, capture_output=True)
        found = json.loads(done.stdout)["prediction"]
        return {kernel["name"]: kernel["us"][path] for kernel in found["kernels"]}, found["us"][path]

    def same(a, b):
        assert math.isclose(a, b, rel_tol=1e-9), (a, b)

    stages, whole = profile_of([1, 5, 3])
    expected, us = report_of([1, 5, 3], "loops")
    assert whole["path"] == "loops"
    same(whole["us"], us)
    same(stages[FIRST]["predicted_us"], expected[FIRST] + expected[SECOND])
    assert stages[FIRST]["ns"] > 0
    assert stages[SECOND]["ns"] == 0 and stages[SECOND]["predicted_us"] is None and stages[SECOND]["rows"] == 9
    for name in stages.keys() - {FIRST, SECOND}:
        same(stages[name]["predicted_us"], expected[name])

    # Two levels of 64 blocks of 128 rows; one tree has three more of one row.
    count = 63 * 128 + 1
    stages, whole = profile_of([2] * (count - 1) + [5])
    by_levels, _ = report_of([2] * count, "levels")
    expected, us = report_of([2] * (count - 1) + [5], "loops")
    same(whole["us"], us)
    assert stages[FIRST]["ns"] > 0 and stages[SECOND]["ns"] > 0
    same(stages[SECOND]["predicted_us"], by_levels[SECOND])
    same(stages[FIRST]["predicted_us"], expected[FIRST] + expected[SECOND] - by_levels[SECOND])


if __name__ == "__main__":
    main()
