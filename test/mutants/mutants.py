#!/usr/bin/env python3
# Compiles mutated models: what becomes of a valid model when tokens of it are deleted, swapped, repeated, replaced or come in
# from elsewhere is compiled too, or refused in words. None crashes, takes longer than 5 s, or finds a mistake in dbc.
#
# A mutant is compiled as `dbc compile` does it, up to the text of the C++. Some of those that can be compiled are handed to
# `dbc compile` itself, and its C++ to the C++ compiler, whose warnings are failures. What fails is printed whole, with the
# command that draws it again.
#
# Models come from test, examples, dsl/REFERENCE.md and, drawn anew, from test/property. Mutants of module nn are imported by
# models that use it.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from mutation import Mutator, all_models, joined, unbound

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# An error in the source's words: with its place, or about the model as a whole.
ERROR = re.compile(r"^(\S+\.dyn:\d+:\d+: )?error: \S", re.M)
# The compiler's own words, which no user should read.
OWN_WORDS = re.compile(
    r"internal|failed to legalize|Assertion|runtime error:|Sanitizer|'(dyn|batch|kernel|arith|math|linalg|tensor|builtin)\."
)


class Compiler:
    """Compiles one model after the other in a folder of its own."""

    def __init__(self, options, scratch):
        self.options, self.folder = options, scratch
        os.makedirs(scratch)
        self.process = subprocess.Popen(
            [os.path.join(options.bin, "dbc-compile-each")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, model, text):
        """Writes a mutant, and the model that imports it if it is a module. Returns the file to compile, where modules are
        looked for, and the dims to bind."""
        main, path = text, os.path.join(self.folder, "mutant.dyn")
        nn = os.path.join(self.folder, "nn.dyn")
        if model.user:
            main, model = joined(model.user.tokens), model.user
            with open(nn, "w") as file:
                file.write(text)
        elif os.path.exists(nn):
            os.remove(nn)
        with open(path, "w") as file:
            file.write(main)
        return path, model.folder, {name: model.dims.get(name, 5) for name in unbound(main)}

    def compile(self, model, text):
        """(what became of it, what was said, seconds)"""
        path, include, dims = self.write(model, text)
        print(path, include, *(f"{name}={value}" for name, value in dims.items()), sep="\t", file=self.process.stdin, flush=True)
        code, seconds = self.process.stdout.readline().split()
        with open(path + ".said", errors="replace") as file:
            said = file.read()
        return self.judge(int(code), said), said, float(seconds)

    def judge(self, code, said):
        if code < 0:
            return f"ended by {signal.Signals(-code).name}"
        if OWN_WORDS.search(said):
            return "refused in the compiler's own words"
        if code == 0:
            return "said to be wrong, yet compiled" if ERROR.search(said) else "compiled"
        if code != 1 or not ERROR.search(said):
            return f"refused without a word, exit code {code}"
        return "not supported yet" if "not supported yet" in said else "refused"

    def check_code(self, model, text):
        """What `dbc compile` and the C++ compiler make of a mutant that compiles."""
        path, include, dims = self.write(model, text)
        command = [os.path.join(self.options.bin, "dbc"), "compile", path, "-o", self.folder]
        command += (["-I", include] if include else []) + [f"-D{name}={value}" for name, value in dims.items()]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode:
            return f"compiled, but for dbc, exit code {done.returncode}", done.stderr
        name = re.search(r"^model\s+(\w+)", joined(model.user.tokens if model.user else model.tokens), re.M)[1]
        command = [self.options.cxx, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
        command += ["-I", os.path.join(ROOT, "runtime/include"), os.path.join(self.folder, name + ".cpp")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        return ("compiled", "") if done.returncode == 0 else ("compiled to bad C++", done.stderr)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Run:
    """All mutants of a seed, several at a time."""

    def __init__(self, options, seed, scratch):
        self.options, self.seed = options, seed
        self.models = all_models(ROOT, os.path.join(scratch, "manual"))
        self.mutator = Mutator(seed, self.models, ROOT, scratch)
        self.compilers = queue.Queue()
        for job in range(options.jobs):
            self.compilers.put(Compiler(options, os.path.join(scratch, str(job))))

    def attempt(self, name, model, text):
        """(what became of it, what was said, seconds, whether the C++ compiler got it, which seed and name decide)"""
        compiler = self.compilers.get()
        try:
            what, said, seconds = compiler.compile(model, text)
            drawn = random.Random(f"{self.seed}/{name}/code").random()
            checked = what == "compiled" and drawn < self.options.checked
            if checked:
                what, said = compiler.check_code(model, text)
            return what, said, seconds, checked
        finally:
            self.compilers.put(compiler)

    def original(self, model):
        """What became of a model as it is."""
        return model, self.attempt(model.name, model, joined(model.tokens))

    def mutant(self, number):
        model, done, text = self.mutator.mutant(number)
        return number, model, done, text, self.attempt(number, model, text)

    def close(self):
        while not self.compilers.empty():
            self.compilers.get().close()


FINE = ("compiled", "refused", "not supported yet")


def main():
    parser = argparse.ArgumentParser(description="mutated models through dbc compile")
    parser.add_argument("--bin", required=True, help="the folder of dbc and dbc-compile-each")
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, help="another one every time unless given")
    parser.add_argument("--only", type=int, help="only the mutant with this number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"), help="the C++ compiler")
    parser.add_argument("--checked", type=float, default=0.25, help="the share of compiled mutants that it gets")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}, {options.mutants} mutants", flush=True)
    start, counts, failures, slowest = time.monotonic(), collections.Counter(), 0, 0.0
    with tempfile.TemporaryDirectory(prefix="dbc-mutants-") as scratch:
        run = Run(options, seed, scratch)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for model, (what, said, _, _) in pool.map(run.original, run.models if options.only is None else []):
                if what not in ("compiled", "not supported yet"):
                    failures += 1
                    print(f"{model.name}, as it is, is {what}:\n{said}")
            numbers = range(options.mutants) if options.only is None else [options.only]
            for number, model, done, text, (what, said, seconds, checked) in pool.map(run.mutant, numbers):
                counts[what] += 1
                counts["handed to the C++ compiler"] += checked
                slowest = max(slowest, seconds)
                if what not in FINE:
                    failures += 1
                    print(f"mutant {number}, of {model.name}{' for ' + model.user.name if model.user else ''}, is {what}")
                    print("; ".join(done), text, said[:3000], sep="\n")
                    print(f"again: mutants.py --bin {options.bin} --seed {seed} --only {number}", flush=True)
        run.close()
    took = {"seed": seed, "models": len(run.models), "seconds": round(time.monotonic() - start), "slowest": round(slowest, 2)}
    print(json.dumps({**took, **dict(sorted(counts.items()))}))
    print(f"FAILED: {failures}" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
