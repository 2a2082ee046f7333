#!/usr/bin/env python3
# verify_each.py DBC SCRATCH FOLDER..: compiles all models of the folders with --verify-each, for both targets.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import glob
import os
import subprocess
import sys

dbc, scratch, *folders = sys.argv[1:]
models = sorted(model for folder in folders for model in glob.glob(os.path.join(folder, "*.dyn")))
assert len(models) > 100, models
failed = 0
for model in models:
    command = [dbc, "compile", model, "--verify-each", "--target", "cpu,cuda", "-o", scratch]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        failed += 1
        print(" ".join(command), done.stderr, sep="\n")
sys.exit(failed != 0)
