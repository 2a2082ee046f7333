"""Runs a model with each bad file of weights: nothing is computed, the exit code is 1. Prints what was said about each.

usage: bad_weights.py DBC bad.dyn INPUT FOLDER     FOLDER is for files in between

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import struct
import subprocess
import sys

dbc, model, instances, folder = sys.argv[1:5]
E, W = 4 * 10 * 3, 4 * 3 * 3  # bytes
GOOD = {
    "E": {"dtype": "F32", "shape": [10, 3], "data_offsets": [0, E]},
    "W": {"dtype": "F32", "shape": [3, 3], "data_offsets": [E, E + W]},
}
DATA = bytes(E + W)


def file(header, data=DATA, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def changed(name, **fields):
    return file({**GOOD, name: {**GOOD[name], **fields}})


NANS = bytearray(DATA)
struct.pack_into("<f", NANS, 4 * 7, float("nan"))
struct.pack_into("<ff", NANS, E + W - 8, float("-nan"), float("nan"))
whole = file(GOOD)
BAD = {
    "missing": file({"E": GOOD["E"]}, DATA[:E]),
    "unexpected": file({**GOOD, "bias": {"dtype": "F32", "shape": [0], "data_offsets": [E + W, E + W]}}),
    "another name": file({"E": GOOD["E"], "w": GOOD["W"]}),
    "mis-shaped": changed("E", shape=[3, 10]),
    "mis-typed": changed("W", dtype="I32"),
    "all at once": file({
        "e": GOOD["E"],
        "W": {**GOOD["W"], "shape": [9]},
        "x": {"dtype": "BF16", "shape": [1], "data_offsets": [E + W, E + W + 2]}
    }, DATA + b"xx"),
    "a type that is none": changed("W", dtype="F31"),
    "shape and bytes differ": changed("W", shape=[3, 4]),
    "shape negative": changed("W", shape=[3, -3]),
    "shape beyond all bounds": changed("W", shape=[2**40, 2**40]),
    "offsets backwards": changed("W", data_offsets=[E + W, E]),
    "offsets beyond the file": changed("W", data_offsets=[E + 4, E + W + 4]),
    "offsets overlap": changed("W", data_offsets=[0, W]),
    "bytes left over": file(GOOD, DATA + b"more"),
    "no data": file(GOOD, b""),
    "half of the data": whole[:-W // 2],
    "header cut short": whole[:40],
    "length cut short": whole[:5],
    "empty": b"",
    "header longer than the file": file(GOOD, size=1000),
    "header of 2^63 bytes": file(GOOD, size=2**63),
    "header shorter than it is": file(GOOD, size=20),
    "no JSON": file(b"weights!"),
    "a list": file(b"[]      "),
    "a tensor is a number": file(b'{"E": 3}'),
    "without a type": file({"E": {"shape": [10, 3], "data_offsets": [0, E]}, "W": GOOD["W"]}),
    "name twice": file(b'{"E": ' + json.dumps(GOOD["E"]).encode() + b", " + json.dumps(GOOD).encode()[1:]),
    "not numbers": file(GOOD, bytes(NANS)),
    "a hundred thousand brackets": file(b'{"E": ' + b"[" * 100000),
}


def run(data):
    path = f"{folder}/it.safetensors"
    with open(path, "wb") as out:
        out.write(data)
    command = [dbc, "run", model, "--input", instances, "--weights", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode().replace(folder, "FOLDER")


def check(truth, what):
    if not truth:
        sys.exit(f"failed: {what}")


code, out, err = run(whole)
check(code == 0 and out and not err, f"good weights: {code} {out} {err}")
code, out, err = run(file(GOOD, struct.pack("<f", float("-inf")) * (len(DATA) // 4)))
check(code == 0 and out and not err, f"infinities, as in masks: {code} {out} {err}")
for what, data in BAD.items():
    code, out, err = run(data)
    check(code == 1 and not out, f"{what}: exit code {code}, {out} {err}")
    print(f"{what}:\n  {err.strip()}")

# Other places where a file can end.
for length in range(0, len(whole), 29):
    code, out, err = run(whole[:length])
    check(code == 1 and not out and err, f"the first {length} bytes: exit code {code}, {out} {err}")
