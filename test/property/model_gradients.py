"""Compares the gradients of models' losses with the oracle's, each model with the sizes that it needs.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# Of dims that have no size.
SIZES = {"vocab": 11, "chars": 7, "tags": 5, "words": 9, "glyphs": 9, "source": 9, "target": 8}

RECOMPUTE = ["none", "cheap", "cells"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dbc", default="dbc", help="the compiler")
    parser.add_argument("-n", default="8", help="inputs of each loss")
    parser.add_argument("--real", default="f64", help="numbers of compiled code, as `dbc verify --real`")
    parser.add_argument("--target", default="cpu", help="what it runs on, as `dbc verify --target`")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    failed = []
    for model in options.models:
        text = pathlib.Path(model).read_text()
        if not re.search(r"^loss ", text, re.M):
            continue
        open_dims = " ".join(re.findall(r"^dim ([^;]*);", text, re.M)).split(",")
        dims = [f"-D{name}={SIZES[name]}" for name in (each.strip() for each in open_dims) if name in SIZES]
        dims += ["--gradient", "all", "--recompute", RECOMPUTE[len(text) % len(RECOMPUTE)]]
        command = [options.dbc, "verify", model, *dims, "--mode", "train", "--real", options.real, "-n", options.n]
        command += ["--seed", "3", "--target", options.target]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or "of gradients" not in done.stdout:
            failed.append(model)
            print(" ".join(command), done.stdout, done.stderr, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
