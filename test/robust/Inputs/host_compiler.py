#!/usr/bin/env python3
# host_compiler.py DBC OTHER [-DNAME=N..] MODEL..: the two emit the same kernels of each model, for inference, for training and for a
# device.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import difflib
import itertools
import subprocess
import sys

MODES = ([], ["--mode", "train"], ["--target", "cuda"])


def main():
    tools, models = sys.argv[1:3], [word for word in sys.argv[3:] if not word.startswith("-D")]
    dims = [word for word in sys.argv[3:] if word.startswith("-D")]
    differ = 0
    for model in models:
        for mode in MODES:
            command = ["compile", model, *dims, *mode, "--emit", "kernel"]
            done = [subprocess.run([tool, *command], capture_output=True, text=True) for tool in tools]
            if not any(each.returncode for each in done) and done[0].stdout == done[1].stdout:
                continue
            differ += 1
            lines = difflib.unified_diff(done[0].stdout.splitlines(), done[1].stdout.splitlines(), *tools, lineterm="", n=1)
            print("dbc", *command, "differs:", *itertools.islice(lines, 20), done[0].stderr, done[1].stderr, sep="\n  ")
    print(f"{len(models) * len(MODES)} outputs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
