"""Builds a program of a test with a compiled model whose kernels run on the CPU. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import argparse
import json
import os
import shlex
import subprocess
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "gpu")


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--dbc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--flags", required=True, help="what a program needs to compile and link against the runtime")
    parser.add_argument("--compile", default="", help="further options of `dbc compile`")
    parser.add_argument("models", nargs="+")
    return parser


class Failed(Exception):
    """A command did; with what it said."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(options, model, source, folder, change=lambda text, manifest: text):
    """Compiles a model and links it with `source`, which includes Lines.h of the programs for a GPU. `change` may rewrite
    the host's code of the model. Returns the program and the manifest."""
    run([options.dbc, "compile", model, "--target", "cpu,cuda", "-o", folder, *shlex.split(options.compile)])
    (name,) = (name for name in os.listdir(folder) if name.endswith(".json"))
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        manifest = json.load(file)
    base = os.path.join(folder, name.removesuffix(".json"))
    with open(base + ".cpp", encoding="utf-8") as file:
        text = file.read()
    with open(base + ".cpp", "w", encoding="utf-8") as file:
        file.write(change(text, manifest))
    code = ["-DDBC_GPU_CODE=dbc_code_" + os.path.basename(base), "-I", PROGRAMS]
    source = [source, os.path.join(PROGRAMS, "Lines.cpp")]
    # -O0: each program runs for less time than it takes to optimise it.
    run([options.cxx, "-O0", *code, *source, base + ".cpp", "-x", "c++", base + ".cu", "-o", base, *shlex.split(options.flags)])
    return base, manifest


def each(options, source, check, change=lambda text, manifest: text):
    """Builds each model with `source` and has it checked: check(model, program, manifest, folder) returns what is wrong."""
    failed = 0
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                wrong = check(model, *build(options, model, source, folder, change), folder)
            except Failed as failure:
                wrong = failure
        if wrong:
            failed += 1
            print(f"{os.path.basename(model)}: {wrong}", flush=True)
    print(f"{len(options.models)} models, {failed} failures")
    return failed > 0
