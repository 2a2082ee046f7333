# Runs `dbc verify` on programs. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import json
import os
import re
import subprocess
import tempfile
import time

from .tree import merged, write_modules


TIMED_OUT = "error: timed out"

# What a loss makes of what an entry gives.
SUMS = {"f32": "tanh({})", "f32[d]": "sum(tanh({}))", "[f32[d]]": "sum(v in {}) sum(tanh(v))", "[f32]": "sum(v in {}) tanh(v)"}


def with_losses(text):
    """The programs with losses in place of their entries that give floats."""
    losses = []

    def loss(entry):
        name, arguments, gives = entry.groups()
        names = re.findall(r"(\w+):", re.sub(r"\[[^\]]*\]", "", arguments))
        losses.append(f"loss {name}({arguments}) {{ {SUMS[gives].format(f'{name}_value(' + ', '.join(names) + ')')} }}")
        return f"fn {name}_value({arguments}) -> {gives} {{"

    kinds = "|".join(re.escape(kind) for kind in SUMS)
    return re.sub(rf"\bentry (\w+)\(([^()]*)\) -> ({kinds}) \{{", loss, text) + "\n" + "\n".join(losses) + "\n"


class Outcome:
    """`what`: fine; refused (by the checker, or not supported: a bug of the generator); unfit (valid inputs are too hard to
    draw or take too long, or rounding grows so much that only --real f64 agrees with the oracle); failure. `medians`: of the
    numbers of nodes, one an entry that has nodes. `order`: the interleaving in which it failed."""

    def __init__(self, what, text="", medians=(), order=0):
        self.what, self.text, self.medians, self.order = what, text, list(medians), order

    def signature(self):
        """What stays of the message when names and numbers are taken away: cutting down must keep it."""
        lines = [
            line for line in self.text.splitlines() if re.search("error|Assertion|warning", line)
        ] or self.text.splitlines()[:1]
        line = re.sub(r"^\S*: |the oracle gives .*|all in one batch gives .*", "", lines[0]) if lines else ""
        line = re.sub(r"\w*\d\w*: ", "", line)
        return self.what + " " + re.sub(r"`[^`]*`|'[^']*'|[-+0-9.e]+|\w+\d+", "_", line)[:120]


def processor_seconds(process):
    """What a process and its children that have ended took; 0 where the system does not say."""
    try:
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def run_within(seconds, command, **options):
    """Like subprocess.run with a timeout, which counts the processor's time: on a machine that others use too a slow run
    says nothing. Ten times as long on the clock is too long all the same."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        start = time.monotonic()
        while True:
            try:
                out, err = process.communicate(timeout=1)
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                if processor_seconds(process) > seconds or time.monotonic() - start > 10 * seconds:
                    process.kill()
                    raise


# What gradients find again, drawn with a program's dims: bits are the same.
RECOMPUTE = ["none", "cheap", "cells"]


class Dbc:
    """The compiler under test, with a cache of compiled models of its own. `orders`: on how many interleavings, those of
    DBC_SHIM_SEED 0 and on, a program is run where the CPU stands in for a device."""

    def __init__(self, path, structures, seed, flags, target, orders=1, mode="infer"):
        self.path, self.structures, self.seed, self.target = os.path.abspath(path), structures, seed, target
        self.orders, self.mode = orders, mode
        self.cache = tempfile.TemporaryDirectory(prefix="dbc-programs-")
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.cache.name, "CXXFLAGS": flags}

    def on(self, target):
        """The same on another target."""
        return Dbc(self.path, self.structures, self.seed, self.environment["CXXFLAGS"], target)

    def compile_arguments(self, dims):
        return [f"-D{name}={value}" for name, value in dims.items()] + ["--mode", self.mode] + (
            ["--gradient", "all", "--recompute", RECOMPUTE[sum(dims.values()) % len(RECOMPUTE)]] if self.mode == "train" else [])

    def arguments(self, dims, structures=None):
        return self.compile_arguments(dims) + [
            "-n",
            str(structures or self.structures),
            "--seed",
            str(self.seed),
            "--target",
            self.target,
        ]

    def verify(self, programs, real="f32", structures=None):
        text, dims = merged(programs)
        if self.mode == "train": # rounding of gradients may be large in f32
            text, real = with_losses(text), "f64"
        with tempfile.TemporaryDirectory(prefix="dbc-programs-") as folder:
            with open(os.path.join(folder, "random.dyn"), "w") as file:
                file.write(text)
            write_modules(folder)
            try:
                for order in range(self.orders):
                    done = run_within(
                        60 + 30 * len(programs),
                        [self.path, "verify", "random.dyn", *self.arguments(dims, structures), "--real", real, "--json"],
                        cwd=folder,
                        env={**self.environment, "DBC_SHIM_SEED": str(order)},
                    )
                    if done.returncode != 0:
                        break
                if done.returncode == 0 and self.target == "cpu":
                    # What passes make of it is valid after each.
                    each = subprocess.run(
                        [self.path, "compile", "random.dyn", *self.compile_arguments(dims), "--verify-each", "--emit", "kernel"],
                        cwd=folder, capture_output=True, text=True,
                    )
                    if each.returncode != 0:
                        return Outcome("failure", each.stderr)
            except subprocess.TimeoutExpired:
                # What a recursion gives to itself in lists of lists grows with every level of a structure: some programs
                # ask for more than there is time for. Whether they are right is seen on few inputs.
                if len(programs) == 1 and structures is None:
                    few = self.verify(programs, real, 2)
                    # Or rounding grows, and cutting down a large input that shows it is what takes so long.
                    if few.text == TIMED_OUT and real == "f32":
                        few = self.verify(programs, "f64", 2)
                    return few if few.what == "failure" else Outcome("unfit", "error: takes too long")
                return Outcome("failure", TIMED_OUT)
        rows = json.loads(done.stdout) if done.stdout.startswith("[") else []
        medians = [row["median_nodes"] for row in rows if row["median_nodes"] > 0]
        if done.returncode == 0:
            return Outcome("fine", "", medians)
        # Warnings come first.
        trouble = re.search(r"^.*(error:|Assertion|terminate|Stack dump)", done.stderr, re.M)
        text = (
            done.stderr[trouble.start() :]
            if trouble
            else done.stderr[-3000:] or "error: exit code %d" % done.returncode
        )
        errors = [line for line in text.splitlines() if "error: " in line]
        if done.returncode == 1 and not rows:
            return Outcome("refused", text)
        if done.returncode == 1 and errors and all("random inputs are valid" in line for line in errors):
            return Outcome("unfit", text, medians)
        # Rounding may grow. On a device doubles go other ways than floats: there the processor's floats say whether it does.
        rounding = "values differ by [0-9.]+e-0[1-9]|random inputs are valid"
        if done.returncode == 1 and real == "f32" and errors and all(re.search(rounding, line) for line in errors):
            if self.target == "cpu":
                grows = self.verify(programs, "f64").what in ("fine", "unfit")
            else:
                grows = self.on("cpu").verify(programs).what == "unfit"
            if grows:
                return Outcome("unfit", text, medians)
        return Outcome("failure", text, medians, order)
