"""Runs docs/python.md as documents.py does, with a `python3` on the PATH that is this one.

usage: document.py ROOT BUILD SCRATCH without|with

`without` runs all but the blocks of the section "In PyTorch", `with` these, and models that others show.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os
import sys

root, build, scratch, which = sys.argv[1:]
sys.path.insert(0, os.path.join(root, "test", "docs"))
sys.dont_write_bytecode = True
import documents

wrapper = os.path.join(scratch, "bin", "python3")
os.makedirs(os.path.dirname(wrapper), exist_ok=True)
with open(wrapper, "w") as file:
    file.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
os.chmod(wrapper, 0o755)
os.environ["PATH"] = os.pathsep.join([os.path.dirname(wrapper), os.path.join(build, "bin"), os.environ["PATH"]])

blocks_of = documents.blocks


def blocks(text):
    """The blocks of one half, of which neither is empty."""
    lines = text.split("\n")
    begin = lines.index("## In PyTorch")
    end = next(line for line in range(begin + 1, len(lines)) if lines[line].startswith("## "))
    halves = {"with": [], "without": []}
    for block in blocks_of(text):
        halves["with" if begin < block[0] < end else "without"].append(block)
    assert all(halves.values())
    models = [block for block in halves["without"] if block[2].endswith(".dyn")]
    return halves["without"] if which == "without" else models + halves["with"]


documents.blocks = blocks
sys.exit(documents.run_document(os.path.join(root, "docs", "python.md"), root, build, scratch + "/run") != 0)
