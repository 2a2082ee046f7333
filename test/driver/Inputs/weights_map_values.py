"""Every operation of a mapping, on every kind of file: what is written is what Python computes.

usage: weights_map_values.py DBC DIR

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import itertools
import subprocess
import sys
import zipfile

from state_dict import elements, npy, npz, read, safetensors

DBC, FOLDER = sys.argv[1:]

SHAPES = {"a": [2, 3], "b": [2, 3], "v": [6], "row.0.w": [3], "row.1.w": [3], "row.2.w": [3], "row.0.u": [3], "row.1.u": [3],
          "row.2.u": [3], "grid.0.0": [2], "grid.0.1": [2], "grid.1.0": [2], "grid.1.1": [2], "cube": [2, 3, 4], "s": [], "t": []}
TENSORS = {name: [x + k for x in elements(shape)] for k, (name, shape) in enumerate(SHAPES.items())}


def at(name, *index):
    """An element of a tensor."""
    position = 0
    for i, extent in zip(index, SHAPES[name]):
        position = position * extent + i
    return TENSORS[name][position]


# A param's shape, its entry, and its element at an index.
PARAMS = {
    "same": ([2, 3], '"a"', lambda i, j: at("a", i, j)),
    "number": ([2, 2], "0.5", lambda i, j: 0.5),
    "whole": ([2], "-3", lambda i: -3),
    "turned": ([3, 2], '{"transpose": "a"}', lambda i, j: at("a", j, i)),
    "turned_back": ([2, 4, 3], '{"transpose": "cube"}', lambda i, j, k: at("cube", i, k, j)),
    "permuted": ([4, 2, 3], '{"permute": "cube", "axes": [2, 0, 1]}', lambda i, j, k: at("cube", j, k, i)),
    "reshaped": ([3, 2], '{"reshape": "v"}', lambda i, j: at("v", 2 * i + j)),
    "reshaped_turned": ([2, 3], '{"transpose": {"reshape": "v", "shape": [3, 2]}}', lambda i, j: at("v", 2 * j + i)),
    "gates": ([6], '{"gates": "v", "from": "xyz", "to": "zxy"}', lambda i: at("v", (i + 4) % 6)),
    "some_gates": ([2], '{"gates": "v", "from": "x y z", "to": ["y"]}', lambda i: at("v", i + 2)),
    "gates_of_bytes": ([6], '{"gates": "v", "from": "éa", "to": "aé"}', lambda i: at("v", (i + 3) % 6)),
    "long_gates": ([4], '{"gates": "v", "from": ["in", "fl", "fr"], "to": ["fr", "in"]}', lambda i: at("v", (i + 4) % 6)),
    "gates_of_columns": ([2, 3], '{"gates": "b", "from": "xyz", "to": "yzx", "axis": -1}', lambda i, j: at("b", i, (j + 1) % 3)),
    "joined": ([4, 3], '{"concat": ["a", "b"]}', lambda i, j: at("ab"[i // 2], i % 2, j)),
    "joined_columns": ([2, 6], '{"concat": ["a", "b"], "axis": 1}', lambda i, j: at("ab"[j // 3], i, j % 3)),
    "one": ([2, 3], '{"concat": ["a"], "axis": -2}', lambda i, j: at("a", i, j)),
    "summed": ([2, 3], '{"add": ["a", "b", "a"]}', lambda i, j: 2 * at("a", i, j) + at("b", i, j)),
    "stacked": ([3, 3], '{"stack": "row.{i}.w"}', lambda i, j: at(f"row.{i}.w", j)),
    "stacked_some": ([2, 3], '{"stack": "row.{i}.w", "first": 1}', lambda i, j: at(f"row.{i + 1}.w", j)),
    "stacked_others": ([2, 3], '{"stack": "row.{k}.w", "index": "k", "last": 1}', lambda i, j: at(f"row.{i}.w", j)),
    "stacked_sums": ([3, 3], '{"stack": {"add": ["row.{i}.w", "row.{i}.u"]}}', lambda i, j: at(f"row.{i}.w", j) + at(f"row.{i}.u", j)),
    "stacked_list": ([2, 3], '{"stack": ["row.2.w", "row.0.w"]}', lambda i, j: at(f"row.{2 - 2 * i}.w", j)),
    "stacked_scalars": ([2], '{"stack": ["s", "t"]}', lambda i: at("st"[i])),
    "nested": ([2, 2, 2], '{"stack": {"stack": "grid.{i}.{j}", "index": "j"}}', lambda i, j, k: at(f"grid.{i}.{j}", k)),
    "stacked_shapes": ([2], '{"stack": {"reshape": {"gates": "row.{i}.w", "from": "xyz", "to": "y"}, "shape": []}, "last": 1}',
                       lambda i: at(f"row.{i}.w", 1)),
    "scalar": ([], '"s"', lambda: at("s")),
}


def model():
    params = "".join(f"param {name}: f32{shape or ''};\n" for name, (shape, _, _) in PARAMS.items())
    return f"model values;\n{params}entry e(x: f32) -> f32 {{ x }}\n"


def mapping():
    entries = ",\n".join(f'  "{name}": {entry}' for name, (_, entry, _) in PARAMS.items())
    return f"// Comments are fine.\n{{\n{entries} /* here too */\n}}\n"


def wrong_params(path):
    """What in a file is not as PARAMS says."""
    found = read(path)
    assert list(found) == list(PARAMS), list(found)
    for name, (shape, _, element) in PARAMS.items():
        expected = [element(*index) for index in itertools.product(*map(range, shape))]
        if found[name] != (shape, expected):
            yield f"{path}: {name}: {found[name]}, not {expected}"


def files():
    """The same tensors in every form."""
    for dtype in ("F32", "F64", "F16", "BF16"):
        tensors = {name: (dtype, shape, TENSORS[name]) for name, shape in SHAPES.items()}
        if dtype != "BF16":
            for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                path = f"{FOLDER}/{dtype}_{compression}.npz"
                npz(path, tensors, compression)
                yield path
        for odd in (0, 1):
            path = f"{FOLDER}/{dtype}_{odd}.safetensors"
            safetensors(path, tensors, odd)
            yield path
    path = f"{FOLDER}/fortran.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in SHAPES.items():
            columns = itertools.product(*map(range, reversed(shape)))
            archive.writestr(name + ".npy", npy("F32", shape, [at(name, *reversed(index)) for index in columns], fortran=True))
    yield path


def main():
    with open(f"{FOLDER}/values.dyn", "w") as file:
        file.write(model())
    with open(f"{FOLDER}/mapping.json", "w", encoding="utf-8") as file:
        file.write(mapping())
    wrong = []
    for path in files():
        out = path + ".out"
        options = ["--from", path, "--mapping", f"{FOLDER}/mapping.json", "-o", out]
        subprocess.run([DBC, "weights", "map", f"{FOLDER}/values.dyn", *options], check=True)
        wrong += wrong_params(out)
    print("\n".join(wrong) or f"{len(PARAMS)} params are right")
    return 1 if wrong else 0


sys.exit(main())
