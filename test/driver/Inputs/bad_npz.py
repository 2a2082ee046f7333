"""Archives that are no good .npz, each with what dbc says of it, one after the other: what is printed is compared by the test.

usage: bad_npz.py DBC DIR

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import struct
import subprocess
import sys
import zipfile

from state_dict import npy

DBC, FOLDER = sys.argv[1:]
W = npy("F32", [2, 3], [1, 2, 3, 4, 5, 6])


def archive(name, members, compression=zipfile.ZIP_DEFLATED):
    path = f"{FOLDER}/{name}.npz"
    with zipfile.ZipFile(path, "w", compression) as file:
        for member, content in members:
            file.writestr(member, content)
    return path


def changed(name, members, change, compression=zipfile.ZIP_STORED):
    """An archive with bytes changed."""
    path = archive(name, members, compression)
    with open(path, "rb") as file:
        content = change(file.read())
    with open(path, "wb") as file:
        file.write(content)


def with_sizes(content, size):
    """The archive's directory promises another size of the first member."""
    at = content.index(b"PK\x01\x02")
    return content[: at + 24] + struct.pack("<I", size) + content[at + 28 :]


def main():
    header = W.index(b"{")
    archive("text", [("readme.txt", "no array")])
    archive("torch", [("archive/data.pkl", b"\x80\x02}."), ("archive/data/0", b"")])
    archive("empty", [("W.npy", b"")])
    archive("short", [("W.npy", W[:-1])])
    archive("long", [("W.npy", W + b"x")])
    archive("foreign", [("W.npy", b"\x93NUMPX" + W[6:])])
    archive("header", [("W.npy", W[:header] + b"[" + W[header + 1 :])])
    archive("objects", [("W.npy", W.replace(b"<f4", b"|O8"))])
    archive("big_endian", [("W.npy", W.replace(b"<f4", b">f4"))])
    archive("nan", [("W.npy", npy("F32", [2, 3], [1, float("nan"), 3, 4, float("nan"), float("inf")]))])
    archive("wide", [("W.npy", npy("F64", [2, 3], [1, 2, 1e300, 4, 5, 6]))])
    archive("bzip2", [("W.npy", W)], zipfile.ZIP_BZIP2)
    changed("checksum", [("W.npy", W)], lambda content: content.replace(struct.pack("<f", 6), struct.pack("<f", 7)))
    changed("deflated", [("W.npy", W)], lambda content: content[:60] + b"\xff" * 8 + content[68:], zipfile.ZIP_DEFLATED)
    changed("cut", [("W.npy", W)], lambda content: content[:-30])
    changed("bomb", [("W.npy", W)], lambda content: with_sizes(content, 0xFFFFFF00), zipfile.ZIP_DEFLATED)
    changed("twice", [("W.npy", W), ("V.npy", W)], lambda content: content.replace(b"V.npy", b"W.npy"))
    with open(f"{FOLDER}/model.dyn", "w") as file:
        file.write("model m;\nparam W: f32[2, 3];\nentry e(x: f32[3]) -> f32[2] { W @ x }\n")
    with open(f"{FOLDER}/mapping.json", "w") as file:
        file.write('{"W": "W"}\n')
    for name in sorted(name for name in os.listdir(FOLDER) if name.endswith(".npz")):
        options = ["--from", name, "--mapping", "mapping.json", "-o", "out.safetensors"]
        done = subprocess.run([DBC, "weights", "map", "model.dyn", *options], cwd=FOLDER, stderr=subprocess.PIPE, text=True)
        # Without the line of the mapping that a message shows.
        said = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
        print(f"{name}: {done.returncode}", *said, sep="\n  ")
    assert not os.path.exists(f"{FOLDER}/out.safetensors")


main()
