#!/usr/bin/env python3
# host_compiler.py DBC OTHER MODEL..: the two emit the same kernels of each model, for inference, for training and for a device.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import difflib
import itertools
import subprocess
import sys

MODES = ([], ["--mode", "train"], ["--target", "cuda"])


def main():
    tools, models = sys.argv[1:3], sorted(set(sys.argv[3:]))
    differ = 0
    for model in models:
        for mode in MODES:
            command = ["compile", model, *mode, "--emit", "kernel"]
            done = [subprocess.run([tool, *command], capture_output=True, text=True) for tool in tools]
            # A model without a loss cannot be trained: then both say so.
            fine = done[0].returncode == 0 or "train" in mode
            if fine and done[0].returncode == done[1].returncode and done[0].stdout == done[1].stdout:
                continue
            differ += 1
            lines = difflib.unified_diff(done[0].stdout.splitlines(), done[1].stdout.splitlines(), *tools, lineterm="", n=1)
            print("dbc", *command, "differs:", *itertools.islice(lines, 20), done[0].stderr, done[1].stderr, sep="\n  ")
    print(f"{len(models) * len(MODES)} outputs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
