"""Arrays of 32-bit floats as the references of real data have them (.npy), and as weights (.safetensors).

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import ast
import json
import math
import struct
from array import array

from common import data_path


class Array:
    """An array, row-major."""

    def __init__(self, shape, elements):
        assert math.prod(shape) == len(elements)
        self.shape = list(shape)
        self.elements = array("f", elements)

    def reshape(self, *shape):
        return Array(shape, self.elements)

    def transpose(self):
        """A matrix [in, out] as [out, in]."""
        rows, columns = self.shape
        return Array((columns, rows), [x for j in range(columns) for x in self.elements[j::columns]])

    def __getitem__(self, rows):
        """Those rows that a slice takes, or the one that a number takes."""
        size = math.prod(self.shape[1:])
        if isinstance(rows, slice):
            first, last, _ = rows.indices(self.shape[0])
            return Array([last - first] + self.shape[1:], self.elements[first * size : last * size])
        return Array(self.shape[1:], self.elements[rows * size : (rows + 1) * size])

    def __add__(self, other):
        assert self.shape == other.shape
        return Array(self.shape, [a + b for a, b in zip(self.elements, other.elements)])

    def nested(self):
        """As lists in lists."""
        return [self[i].nested() for i in range(self.shape[0])] if len(self.shape) > 1 else list(self.elements)


def stack(arrays):
    """Arrays of one shape along a new first axis."""
    return Array([len(arrays)] + arrays[0].shape, [x for a in arrays for x in a.elements])


def read_npy(*names):
    """An array of the data folder, of 32-bit floats."""
    with open(data_path(*names), "rb") as file:
        start = file.read(10)
        assert start[:8] == b"\x93NUMPY\x01\x00"
        header = ast.literal_eval(file.read(struct.unpack("<H", start[8:])[0]).decode("latin1"))
        assert header["descr"] == "<f4" and not header["fortran_order"]
        return Array(header["shape"], struct.unpack(f"<{math.prod(header['shape'])}f", file.read()))


def write_safetensors(path, arrays):
    """Weights, by name."""
    header, data = {}, b""
    for name, a in arrays.items():
        elements = struct.pack(f"<{len(a.elements)}f", *a.elements)
        header[name] = {"dtype": "F32", "shape": a.shape, "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)
