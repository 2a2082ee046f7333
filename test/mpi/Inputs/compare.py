"""compare.py A B BOUND: fails if two files of weights have numbers that are further apart than BOUND, or other tensors.
Prints by how much they are. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        assert info["dtype"] == "F32", (name, info)
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


a, b, bound = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
assert a.keys() == b.keys(), (a.keys(), b.keys())
apart = max(abs(x - y) for name in a for x, y in zip(a[name], b[name], strict=True))
print(f"{apart:.1e} apart")
sys.exit(not apart <= bound)
