"""Writes weights of test/models/13_treefc.dyn into a folder: good ones, wrong ones, and a file that ends too early.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import struct
import sys


def write(path, tensors, cut=0):
    header, data = {}, b""
    for name, shape in tensors.items():
        count = 1
        for extent in shape:
            count *= extent
        values = struct.pack(f"<{count}f", *((i * 37 % 101 - 50) / 400 for i in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    whole = struct.pack("<Q", len(text)) + text + data
    with open(path, "wb") as file:
        file.write(whole[: len(whole) - cut])


folder = sys.argv[1]
good = {"E": [50, 64], "W": [64, 128], "b": [64]}
write(f"{folder}/good.safetensors", good)
write(f"{folder}/cut.safetensors", good, cut=9)
write(f"{folder}/bad.safetensors", {"E": [64, 50], "bias": [64]})
