#!/usr/bin/env python3
# Every elementwise operation, choice and conversion of f32, int and bool, on tensors of one to four axes whose last one has 1
# to 33 elements: `dbc verify` compares what each C++ compiler at hand makes of them, for each instruction set that this
# processor has, with the oracle. Each operation is an entry with a result for every length of the last axis, so that each
# shape has a loop of its own; the number of axes goes round, so that each operation meets each length and each number of axes.
#
# elementwise.py DBC some|all [COMPILER..]: without compilers those of the list below are tried; one that is
# given must be there. `every` instead of `all` takes
# each length with each number of axes: hours.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

# What apt offers on Debian 12.
COMPILERS = ["g++-11", "g++-12", *(f"clang++-{version}" for version in (13, 14, 15, 16, 19, 22))]
# Code for one instruction set, without the loader's choice: older compilers have none.
SETS = {"x86-64": [], "x86-64-v3": ["avx2", "fma"], "x86-64-v4": ["avx512f", "avx512bw", "avx512dq", "avx512vl"]}
if platform.machine() != "x86_64":
    SETS = {"native": []}

# Operands: f32 x, y; int i, k; bool c, b. v is a row, and w a column, of x's shape; q is x turned. Drawn numbers are
# thousandths: conditions are never nearer than rounding goes.
LESS = "10 * x + 0.005 < 10 * y"
UNARY = "exp(x) log(x) sqrt(x) sin(x) cos(x) tanh(x) sigmoid(x) relu(x) gelu(x) softplus(x) abs(x) square(x) -x"
OPERATIONS = {
    "f32": [
        *UNARY.split(),
        *("x + y", "x - y", "x * y", "x / (y * y + 1)", "pow(x * x + 0.5, y)", "maximum(x, y)", "minimum(x, y)", "clip(x, -1, y)"),
        *("f32(i)", "f32(c)", "f32(i + k) * 0.5"),
        *("select(c, 1, y)", "select(c, x, 1)", "select(c, x, y)", "select(!c, exp(x), y)", f"select({LESS}, x, y)"),
        *("select(c && b, x, y)", "select(c || i < k, maximum(x, y), 0)", "select(c, 0, select(b, x, y))", "select(i > 2, log(x), y)"),
        "binary_cross_entropy(x, abs(y))",
        *("x + v", "x * w", "x - q", "select(c, v, x)", "select(c, w, q)", "select(i > 2, x, w)", "select(10 * v + 0.005 < 10 * w, x, v)"),
        "put(x, 0, maximum(x[0], y[0]))",
    ],
    "int": [
        *("i + k", "i - k", "i * k", "div(i, k * k + 1)", "i % (k * k + 1)", "-i", "abs(i)", "square(i)", "maximum(i, k)", "minimum(i, k)"),
        *("clip(i, 1, k)", "int(10 * x + 0.005)", "int(c)"),
        *("select(c, i, k)", "select(c, 1, k)", "select(!b, i * k, 2)", f"select({LESS}, i, k)", "select(i < k, i, int(c))"),
    ],
    "bool": [
        *("i == k", "i != k", "i < k", "i <= k", "i > k", "i >= k", LESS, "10 * x + 0.005 >= 10 * y", "10 * x + 0.005 != 10 * y"),
        *("c && b", "c || b", "!c", "bool(i)", "bool(x)", "c && maximum(i, k) > 2", "(!c) || i * k > 4"),
    ],
}
SOME = ["select(c, 1, y)", "select(c && b, x, y)", "select(c, w, q)", "x + v", "select(i > 2, log(x), y)", "select(c, i, k)", "c || b"]
LENGTHS = {"some": (2, 4, 8, 16, 33), "all": range(1, 34), "every": range(1, 34)}
RANKS = (1, 2, 3, 4)
ENTRIES_OF_A_MODEL = 12


def shape(rank, inner):
    """Extents of 32 elements and more, of one axis of few."""
    middle = max(2, 32 // inner)
    return {1: [inner], 2: [middle, inner], 3: [2, max(2, middle // 2), inner], 4: [2, 3, max(2, middle // 4), inner]}[rank]


def result(text, kind, rank, inner):
    """An operation on one shape: its operands with their types, the expression and its type."""
    extents, ending = shape(rank, inner), f"{rank}_{inner}"
    listed = lambda axes: "[" + ", ".join(map(str, axes)) + "]"
    types = {
        **{operand: name + listed(extents) for name, operands in (("f32", "xy"), ("int", "ik"), ("bool", "cb")) for operand in operands},
        "v": "f32" + listed(extents[-1:]),
        "w": "f32" + listed([*extents[:-1], 1]),
        "q": "f32" + listed(extents[::-1]),
    }
    used = [word for word in types if re.search(rf"\b{word}\b", text)]
    turned = re.sub(r"\bq\b", "transpose(q)" if rank > 1 else "q", text)
    expression = re.sub(r"\b(" + "|".join(types) + r")\b", rf"\g<1>{ending}", turned)
    return [f"{word}{ending}: {types[word]}" for word in used], expression, kind + listed(extents)


def entry(number, text, kind, how):
    shapes = [
        (rank, inner)
        for turn, inner in enumerate(LENGTHS[how], number)
        for rank in (RANKS if how == "every" else [RANKS[turn % 4]])
    ]
    results = [result(text, kind, *each) for each in shapes]
    arguments = ", ".join(argument for each in results for argument in each[0])
    types, expressions = (", ".join(each[at] for each in results) for at in (2, 1))
    return f"// {text}\nentry e{number}({arguments}) -> ({types}) {{ ({expressions}) }}\n"


def models(how):
    """Texts, by name."""
    entries = [
        entry(number, text, kind, how)
        for number, (kind, text) in enumerate((kind, text) for kind, texts in OPERATIONS.items() for text in texts)
        if how != "some" or text in SOME
    ]
    groups = [entries[at : at + ENTRIES_OF_A_MODEL] for at in range(0, len(entries), ENTRIES_OF_A_MODEL)]
    return {f"elementwise{n}": f"model elementwise{n};\n" + "".join(group) for n, group in enumerate(groups)}


def processor():
    with open("/proc/cpuinfo") as file:
        return next((set(line.split()) for line in file if line.startswith("flags")), set())


def main():
    dbc, how, compilers = sys.argv[1], sys.argv[2], sys.argv[3:] or COMPILERS
    flags, failed, tried = processor(), 0, 0
    with tempfile.TemporaryDirectory(prefix="dbc-elementwise-") as folder:
        # Beside the compiled models of other tests, which these would drive out.
        cache = os.path.join(os.environ.get("XDG_CACHE_HOME", folder), "elementwise")
        for name, text in models(how).items():
            with open(os.path.join(folder, name + ".dyn"), "w") as file:
                file.write(text)
        for compiler in compilers:
            if not shutil.which(compiler):
                print(f"{compiler}: not installed")
                failed += compiler in sys.argv[3:]
                continue
            for name, needs in SETS.items():
                if not flags.issuperset(needs):
                    print(f"{compiler} {name}: not this processor's")
                    continue
                start, entries, inputs = time.monotonic(), 0, 0
                for model in models(how):
                    environment = {
                        **os.environ,
                        "CXX": compiler,
                        "CXXFLAGS": f"-DDBC_NO_CLONES=1 -march={name}",
                        "XDG_CACHE_HOME": cache,
                    }
                    done = subprocess.run(
                        [dbc, "verify", model + ".dyn", "-n", "10", "--json"],
                        cwd=folder,
                        env=environment,
                        capture_output=True,
                        text=True,
                    )
                    rows = json.loads(done.stdout) if done.stdout.startswith("[") else []
                    if done.returncode == 0 and not (rows and all(row["valid"] for row in rows)):
                        failed += 1
                        print(f"{compiler} {name}: {model}: nothing was compared")
                    entries += len(rows)
                    inputs += sum(row["valid"] for row in rows)
                    if done.returncode != 0:
                        failed += 1
                        print(f"{compiler} {name}: {model}: {done.stderr[:2000]}")
                seconds = round(time.monotonic() - start)
                print(f"{compiler} {name}: {entries} entries, {inputs} inputs, {seconds} s", flush=True)
                tried += 1
    if not tried:
        failed += 1
        print("no compiler was tried")
    print("FAILED" if failed else "passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
