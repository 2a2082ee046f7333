#!/usr/bin/env python3
# The commands that `dbc new NAME` names, with fewer inputs and epochs, in the folder that it made.
# commands_of_new.py NAME INSTALLED
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import shutil
import subprocess
import sys

name, installed = sys.argv[1:]
launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
for command in (
    [f"{installed}/bin/dbc", "verify", f"{name}.dyn", "-n", "3"],
    [f"{installed}/bin/dbc", "train", f"{name}.dyn", *"--train train.jsonl --dev dev.jsonl --optimizer adam --epochs 2 --out trained".split()],
    ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={installed}", *launcher],
    ["cmake", "--build", "build"],
    ["build/predict", "trained/best.safetensors"],
):
    ran = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if command[0] != "cmake" or ran.returncode:
        print(ran.stdout, end="")
    if ran.returncode:
        sys.exit(f"{command} ended with {ran.returncode}")
