"""Every entry and loss of a model: the bytes of each input's result must be the same alone, in batches of 3 and 64, in the
reverse order, with two threads, and, where the model makes tables (--table-budget), without them. Drawn inputs that have no result (a list that must not be empty) are left out.

usage: same_bits.py DBC N FOLDER MODEL.dyn [-Dname=number ...]     FOLDER is for files in between

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import re
import subprocess
import sys

dbc, count, folder, *model = sys.argv[1:]


def call(*arguments):
    done = subprocess.run([dbc, *arguments], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"exit code {done.returncode}: {' '.join(arguments)}")
    return done.stdout.decode().splitlines()


def write(name, lines):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def run(entry, name, batch, threads, *more):
    arguments = ["--entry", entry, "--input", f"{folder}/{name}", "--batch", str(batch), "--threads", str(threads)]
    return call("run", *model, *arguments, *more)


with open(model[0], encoding="utf-8") as source:
    entries = re.findall(r"^(?:entry|loss)\s+(\w+)", source.read(), re.MULTILINE)
if not entries:
    sys.exit(f"{model[0]} has no entry")
variants = [("in", 1, 2), ("reversed", 3, 1), ("in", 3, 2), ("in", 64, 1), ("reversed", 64, 2)]
stages = ("compile", *model, "--emit", "batch")
if call(*stages) != call(*stages, "--table-budget", "0"):
    variants.append(("in", 64, 1, "--table-budget", "0"))
for entry in entries:
    lines = call("sample", *model, "--entry", entry, "-n", count, "--seed", "5")
    write("in", lines)
    alone = run(entry, "in", 1, 1)
    if len(alone) != len(lines):
        sys.exit(f"{entry}: {len(alone)} results of {len(lines)} inputs")
    both = [(line, result) for line, result in zip(lines, alone) if not result.startswith('{"error"')]
    lines, alone = [line for line, _ in both], [result for _, result in both]
    if len(lines) < int(count) / 4 or len(set(alone)) < 2:
        sys.exit(f"{entry}: only {len(lines)} inputs have results, {len(set(alone))} different ones")
    write("in", lines)
    write("reversed", lines[::-1])
    for name, batch, threads, *more in variants:
        found = run(entry, name, batch, threads, *more)
        if name == "reversed":
            found.reverse()
        if found != alone:
            at = next((i for i, (x, y) in enumerate(zip(found, alone)) if x != y), "none")
            sys.exit(f"{entry}: input {at} differs, {name} in batches of {batch} with {threads} threads {' '.join(more)}")
    print(f"{entry}: {len(alone)} inputs")
