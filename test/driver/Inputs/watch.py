#!/usr/bin/env python3
# Changes files under commands with --watch, and prints what these say meanwhile: lines that end or begin with a message of
# the watch itself, results, and errors.
# watch.py DBC FOLDER
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import os
import subprocess
import sys

dbc = sys.argv[1]
os.chdir(sys.argv[2])


def write(name, text):
    # As editors do, so that no half file is seen.
    with open(name + "~", "w") as file:
        file.write(text)
    os.rename(name + "~", name)


def until_it_waits(process, step):
    for line in process.stdout:
        if line[0].isdigit() or line.startswith("dbc: ") or ": error:" in line:
            print(f"{step}: {line}", end="", flush=True)
        if line.endswith("waiting for a change\n"):
            return
    sys.exit(f"{step}: the command ended")


def start(*arguments):
    return subprocess.Popen([dbc, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


good = "module k;\nfn twice(x: f32) -> f32 { 2 * x }\n"
write("k.dyn", good)
write("m.dyn", "model m;\nimport k;\nentry e(x: f32) -> f32 { k.twice(x) }\n")
write("in.jsonl", '{"args": {"x": 1}}\n')
watching = start("check", "m.dyn", "--watch")
until_it_waits(watching, "check")
write("k.dyn", "module k; const q = q;\n")
until_it_waits(watching, "module")
write("k.dyn", good)
until_it_waits(watching, "mended")
write("m.dyn", "model m;\nimport sub.part;\nentry e(x: f32) -> f32 { part.twice(x) }\n")
until_it_waits(watching, "imports")
os.mkdir("sub")
write("sub/part.dyn", good.replace("module k", "module part"))
until_it_waits(watching, "folder")
watching.kill()
watching = start("run", "m.dyn", "--input", "in.jsonl", "--watch")
until_it_waits(watching, "run")
write("in.jsonl", '{"args": {"x": 2}}\n{"args": {"x": 3}}\n')
until_it_waits(watching, "input")
watching.kill()
