"""Runs the fuzz targets of a build tree (-DDBC_FUZZ=ON), each on seeds made of the repository's own models.

usage: fuzz.py TREE SECONDS REPORT.xml     SECONDS are those of each target; REPORT is in JUnit's form, a test a target

Inputs that broke a target stay in TREE/fuzz/<target>/found; `TREE/bin/fuzz_<target> FILE` runs it on one of them.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import concurrent.futures
import glob
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Lines for the models of runtime/tests/io_models.h; the first byte chooses the model (runtime/fuzz/instances.cpp).
INSTANCES = [
    '0{"nodes": [{"Leaf": {"word": 3, "label": 1}}, {"Leaf": {"word": 8}}, {"Node": {"left": 0, "right": 1}}], '
    '"args": {"t": 2}, "weight": 0.5}\n'
    '{"nodes": [{"Leaf": {}}], "args": {"target": [0.5, 0.5], "t": 0}}',
    '1{"nodes": [{"Word": {"form": 1, "start": 2}}, {"Char": {"glyph": 5, "before": [2], "ending": [0]}}, '
    '{"Char": {"glyph": 6, "before": [], "ending": []}}], "args": {"f": [2, 1], "b": []}}',
    '2{"nodes": [{"Plain": {"i": -5, "b": true, "f": "-inf", "m": [[1, 2.5], ["nan", -0.0]], "iv": [0, 3, 1], '
    '"bv": [false, true]}}, {"Lists": {"ks": [3, 0], "bs": [true, false], "fs": [0.1, 2], "vs": [[1, 2], [3, 4]], '
    '"nest": [[0, 1], [], [2]], "holders": [4]}}, {"Thing.Empty": {}}, {"Empty": {}}, '
    '{"Full": {"thing": 2, "holder": 3}}], "args": {"s": {"h": [1, 2], "n": 7, "at": 0}, '
    '"pairs": [[true, 3], [false, 4]], "deep": [[], [{"x": 1.5, "y": [5, 0]}, {"x": 2, "y": [1, 1]}]]}}',
    '3{"nodes": [{"Tree": {"word": 3, "children": []}}, {"Tree": {"word": 2, "children": [0]}}], '
    '"args": {"a": 0, "b": 1}}',
]


def instance_seeds():
    return [text.encode() for text in INSTANCES]


def model_seeds():
    for folder in ("examples/*", "dsl/lib", "test/models", "test/parse/Inputs", "test/lower", "test/property"):
        for path in sorted(glob.glob(f"{ROOT}/{folder}/*.dyn")):
            with open(path, "rb") as file:
                yield file.read()


def npy_seeds():
    for kind, shape, size in (("<f4", "(2, 3)", 24), ("<f8", "(1,)", 8), ("<i8", "()", 8)):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        for version, length in ((1, "<H"), (2, "<I")):
            start = b"\x93NUMPY" + bytes([version, 0])
            pad = -(len(start) + struct.calcsize(length) + len(header) + 1) % 64
            yield start + struct.pack(length, len(header) + pad + 1) + header + b" " * pad + b"\n" + bytes(size)


def safetensors(metadata, shapes):
    """A file of F32 zeros."""
    header, end = {"__metadata__": metadata}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


def safetensors_seeds():
    """The weights of io_models.h's tree model, and of no model."""
    for metadata, shapes in ({"a": "b"}, {"E": [10, 3], "fwd.W": [2, 3], "fwd.b": [2], "s": []}), ({}, {"x": [1]}):
        yield safetensors(metadata, shapes)


def tensor_seeds():
    """State dicts, as safetensors and as .npz, stored and deflated."""
    yield from safetensors_seeds()
    lstm = {f"{kind}_{end}_l{layer}": [4, 1] if kind == "weight" else [4] for layer in (0, 1) for kind in ("weight", "bias")
            for end in ("ih", "hh")}
    linear = {"weight": [2, 2], "bias": [2]}
    # For the layers of driver/weights/fuzz/tensors.cpp.
    yield safetensors({}, {f"lstm{i}.{name}": shape for i in (1, 2) for name, shape in lstm.items()})
    yield safetensors({}, {f"conv.{i}.{name}": shape for i in range(3) for name, shape in {"weight": [1, 1, 2], "bias": [1]}.items()})
    yield safetensors({}, {f"enc{i}.layers.3.{name}": shape for i in (0, 3) for name, shape in linear.items()})
    arrays = list(npy_seeds())
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as archive:
            for number, array in enumerate(arrays):
                archive.writestr(f"layers.{number}.weight.npy", array)
        yield file.getvalue()


MAPPINGS = [
    '{"E": "emb", "fwd.W": {"transpose": "v"}, "fwd.b": {"add": ["b", "b"]}, "s": 0.5}',
    '{"E": {"reshape": {"permute": "emb", "axes": [1, 0]}, "shape": [10, 3]}, "fwd.W": {"stack": "row.{i}"}, "s": "s"}',
    '{"fwd.W": {"stack": ["row.1", {"stack": "row.{j}", "index": "j", "first": 0, "last": 1}]}, // a comment\n "x": null}',
    '{"fwd.W": {"gates": "w", "from": ["a", "bc"], "to": ["bc", "a"], "axis": 0}, "fwd.b": {"concat": ["b"]}}',
    '{"E": {"concat": [{"gates": "emb", "from": "xy", "to": "x"}, {"gates": "emb", "from": "xy", "to": "y"}], "axis": -2}}',
    '{"fwd.W": {"stack": "row.{i}", "last": -1}, "E": {"stack": {"stack": "x.{i}.{j}", "index": "j", "last": -5}}}',
    '{"fwd.W": {"stack": "row.{i}", "last": 1}}',
    '{"fwd.W": {"stack": {"stack": "row.{i}"}}, "E": {"stack": {"reshape": "row.{i}", "shape": [3, 1]}}}',
]


def mapping_seeds():
    return [text.encode() for text in MAPPINGS]


TARGETS = {
    "parse": (model_seeds, 8192, ["-dict=" + os.path.join(ROOT, "frontend/fuzz/dyn.dict")]),
    "check": (model_seeds, 8192, ["-dict=" + os.path.join(ROOT, "frontend/fuzz/dyn.dict")]),
    "format": (model_seeds, 4096, ["-dict=" + os.path.join(ROOT, "frontend/fuzz/dyn.dict")]),
    "instances": (instance_seeds, 4096, []),
    "npy": (npy_seeds, 512, []),
    "safetensors": (safetensors_seeds, 1024, []),
    "tensors": (tensor_seeds, 4096, []),
    "mapping": (mapping_seeds, 1024, []),
}


def run(tree, name, seconds):
    """Runs one target; returns its <testcase>."""
    seeds, longest, options = TARGETS[name]
    corpus, found = (os.path.abspath(os.path.join(tree, "fuzz", name, kind)) for kind in ("corpus", "found"))
    shutil.rmtree(corpus, ignore_errors=True)  # a run of seconds would do nothing but read the last one's
    os.makedirs(corpus)
    os.makedirs(found, exist_ok=True)
    for number, seed in enumerate(seeds()):
        with open(os.path.join(corpus, f"seed-{number}"), "wb") as file:
            file.write(seed)
    command = [os.path.abspath(f"{tree}/bin/fuzz_{name}"), f"-max_total_time={seconds}", "-timeout=20",
               f"-max_len={longest}", "-verbosity=0", "-artifact_prefix=" + found + "/", *options, corpus]
    case = xml.Element("testcase", classname="fuzz", name=name)
    start = time.time()
    done = subprocess.run(command, cwd=found, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    case.set("time", f"{time.time() - start:.1f}")
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        xml.SubElement(case, "failure").text = "".join(c for c in said if c.isprintable() or c == "\n")
        print(f"fuzz_{name}:\n{said}", file=sys.stderr)
    print(f"fuzz_{name}: {'FAILED' if done.returncode else 'ok'}, {case.get('time')} s", file=sys.stderr)
    return case


def main():
    tree, seconds, report = sys.argv[1:]
    built = {os.path.basename(path)[len("fuzz_"):] for path in glob.glob(f"{tree}/bin/fuzz_*")}
    if built != set(TARGETS):
        sys.exit(f"{tree} has the targets {', '.join(sorted(built))}; TARGETS here are {', '.join(sorted(TARGETS))}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = list(pool.map(lambda name: run(tree, name, int(seconds)), TARGETS))
    suite = xml.Element("testsuite", name="fuzz")
    suite.extend(cases)
    xml.ElementTree(suite).write(report)
    return 1 if any(case.find("failure") is not None for case in cases) else 0


sys.exit(main())
