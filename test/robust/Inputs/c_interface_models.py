#!/usr/bin/env python3
# Compiles <model>_c.h of every model as C and as C++, all warnings being errors; of every second one in training mode and double
# precision.
# c_interface_models.py DBC ROOT FOLDER
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import glob
import os
import re
import subprocess
import sys

dbc, root, folder = sys.argv[1:]
models = [path for place in ("test/models", "examples/*", "dsl/templates/*") for path in sorted(glob.glob(f"{root}/{place}/*.dyn"))]
for number, model in enumerate(models):
    to, dims = f"{folder}/{number}", []
    options = ["--mode", "train", "--real", "f64"] if number % 2 else []
    while True:
        ran = subprocess.run([dbc, "compile", model, "--c-interface", *dims, *options, "-o", to], text=True, stderr=subprocess.PIPE)
        unbound = re.findall(r"`(-D\w+=\d+)`", ran.stderr)
        if ran.returncode == 0 or not unbound:
            break
        dims += unbound
    if ran.returncode:
        sys.exit(f"{model}: {ran.stderr}")
    (header,) = glob.glob(f"{to}/*_c.h")
    name = os.path.basename(header)
    # In a file that includes it, as functions that a header has and nobody calls are no warning.
    source = f"{to}/includes.c"
    with open(source, "w") as file:
        file.write(f'#include "{name}"\nint main(void) {{ return dbc_code_{name[:-4]}() == 0; }}\n')
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{root}/runtime/include", source]
    subprocess.run(["cc", "-std=c11", *flags], check=True)
    subprocess.run(["c++", "-std=c++17", "-xc++", *flags], check=True)
print(len(models), "models")
