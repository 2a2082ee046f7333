"""Files of tensors as other programs write them, without any of these: safetensors and NumPy's .npz.

usage: state_dict.py FILE.safetensors|FILE.npz [NAME:DTYPE=EXTENTS..]

Writes tensors of numbers that tell where they stand: "fc.weight:F32=2,3" has -1, -0.75, .. in steps of a quarter.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import math
import struct
import sys
import zipfile

# dtype: NumPy's, a struct format.
DTYPES = {"F32": ("<f4", "f"), "F64": ("<f8", "d"), "F16": ("<f2", "e"), "I64": ("<i8", "q")}


def elements(extents):
    """What a tensor of these extents holds: numbers that each dtype has."""
    return [i / 4 - 1 for i in range(math.prod(extents))]


def pack(dtype, numbers):
    if dtype == "BF16":  # the upper half of an f32
        return b"".join(struct.pack("<f", x)[2:] for x in numbers)
    kind = DTYPES[dtype][1]
    return struct.pack(f"<{len(numbers)}{kind}", *(map(int, numbers) if kind == "q" else numbers))


def safetensors(path, tensors, odd=0):
    """`tensors`: name to (dtype, extents, numbers). They begin `odd` bytes behind a multiple of 8."""
    header, data = {}, b""
    for name, (dtype, extents, numbers) in tensors.items():
        packed = pack(dtype, numbers)
        header[name] = {"dtype": dtype, "shape": extents, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + odd)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def npy(dtype, extents, numbers, fortran=False):
    """An array; `numbers` in the order of the file."""
    shape = "(" + "".join(f"{extent}, " for extent in extents) + ")"
    header = f"{{'descr': '{DTYPES[dtype][0]}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + pack(dtype, numbers)


def npz(path, tensors, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, (dtype, extents, numbers) in tensors.items():
            archive.writestr(name + ".npy", npy(dtype, extents, numbers))


def read(path):
    """name to (extents, numbers) of a safetensors file of F32."""
    with open(path, "rb") as file:
        whole = file.read()
    length = struct.unpack("<Q", whole[:8])[0]
    data = whole[8 + length :]
    header = json.loads(whole[8 : 8 + length])
    return {
        name: (each["shape"], [x for x, in struct.iter_unpack("<f", data[slice(*each["data_offsets"])])])
        for name, each in header.items()
    }


def main():
    tensors = {}
    for argument in sys.argv[2:]:
        name, _, about = argument.rpartition(":")
        dtype, _, extents = about.partition("=")
        extents = [int(extent) for extent in extents.split(",") if extent]
        tensors[name] = (dtype, extents, elements(extents))
    (npz if sys.argv[1].endswith(".npz") else safetensors)(sys.argv[1], tensors)


if __name__ == "__main__":
    main()
