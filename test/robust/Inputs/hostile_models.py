"""Models of about 1 kB that double something 24 times. hostile_models.py DBC FOLDER checks and compiles each of them, in little time and
memory, and prints how that ends: what `dbc` says first, or `compiles`.
"""

import pathlib
import resource
import subprocess
import sys

N = 24
T = "data T(x: f32, kids: [T]);\n"


def chain(declare, last):
    """Declarations that each need the next, from the outermost in."""
    return "".join(declare(i) for i in range(N)) + last


MODELS = {
    "dims squared": "dim a, d0 = a"
    + "".join(f", d{i + 1} = d{i} * d{i}" for i in range(N))
    + f";\nparam p: f32[d{N}];\nentry e() -> f32 {{ sum(p) }}\n",
    "product of sums": "dim a, "
    + ", ".join(f"b{i}" for i in range(N))
    + ";\nparam p: f32["
    + " * ".join(f"(a + b{i})" for i in range(N))
    + "];\nentry e() -> f32 { sum(p) }\n",
    "shapes of joins": "dim a, b;\nfn f[n, m](x: f32[n], y: f32[m]) -> f32[n * m + n] { fill(x[0] + y[0], n * m + n) }\n"
    + "entry e(x: f32[a + b], y: f32[a]) -> f32 {\nlet a0 = x;\n"
    + "".join(f"let a{i + 1} = f(a{i}, a{i});\n" for i in range(N))
    + f"sum(a{N})\n}}\n",
    "numbers of steps": "dim a;\ncell c(k in 0..a, j in 0..a) -> f32 { if k == 0 { 1.0 } else {\nlet b0 = k * j + 1;\n"
    + "".join(f"let b{i + 1} = b{i} * b{i};\n" for i in range(N))
    + f"c(b{N}, j) }} }}\nentry e(k: int, j: int) -> f32 {{ c(k, j) }}\n",
    "record": chain(lambda i: f"record R{i} {{ a: R{i + 1}; b: R{i + 1}; }}\n", f"record R{N} {{ a: f32; }}\n")
    + "fn f(r: R0) -> f32 { 1.0 }\nentry e(x: f32) -> f32 { x }\n",
    "dims of records": chain(lambda i: f"record R{i}[n] {{ x: f32[n]; a: R{i + 1}[n * n]; }}\n", f"record R{N}[n] {{ x: f32[n]; }}\n")
    + "fn f(r: R0[2]) -> f32 { r" + ".a" * N + ".x[0] }\nentry e(x: f32) -> f32 { x }\n",
    "tuple": "entry e(x: f32) -> f32 {\nlet a0 = x;\n"
    + "".join(f"let a{i + 1} = (a{i}, a{i});\n" for i in range(N))
    + f"let (y, _) = a{N};\nx\n}}\n",
    "tuple type": "fn f(x: f32) -> f32 { x }\nentry e(x: f32) -> f32 {\nlet a0 = x;\n"
    + "".join(f"let a{i + 1} = (a{i}, a{i});\n" for i in range(N))
    + f"f(a{N})\n}}\n",
    "zip": "entry e(xs: [f32]) -> int {\nlet a0 = xs;\n"
    + "".join(f"let a{i + 1} = zip(a{i}, a{i});\n" for i in range(N))
    + f"len(a{N})\n}}\n",
    "fns": chain(lambda i: f"fn f{i}(x: f32) -> f32 {{ f{i + 1}(f{i + 1}(x)) }}\n", f"fn f{N}(x: f32) -> f32 {{ tanh(x) }}\n")
    + "entry e(x: f32) -> f32 { f0(x) }\n",
    "fns of structure": chain(lambda i: f"fn f{i}(i: int) -> int {{ f{i + 1}(i + i) + f{i + 1}(i + 1) }}\n", f"fn f{N}(i: int) -> int {{ i }}\n")
    + "cell c(k in 0..9) -> f32 { f32(f0(k)) }\nentry e(k: int) -> f32 { c(k) }\n",
    "fns of binders": chain(
        lambda i: f"fn f{i}(x: [f32]) -> f32 {{ sum(y in x) {{ f{i + 1}(x) * f{i + 1}(x) }} }}\n", f"fn f{N}(x: [f32]) -> f32 {{ sum(x) }}\n"
    )
    + "entry e(x: [f32]) -> f32 { f0(x) }\n",
    "layers": chain(lambda i: f"layer L{i} {{ param a: L{i + 1}, b: L{i + 1}; }}\n", f"layer L{N} {{ param p: f32; }}\n")
    + "param l: L0;\nentry e(x: f32) -> f32 { x }\n",
    "layers of cells": T
    + chain(
        lambda i: f"layer L{i} {{ param a: L{i + 1}, b: L{i + 1}; fn c(t: T) -> f32 {{ a.c(t) + b.c(t) }} }}\n",
        f"layer L{N} {{ param p: f32; cell c(t: T) -> f32 {{ t.x * p }} }}\n",
    )
    + "param l: L0;\nentry e(t: T) -> f32 { l.c(t) }\n",
    "cells of values": T
    + chain(lambda i: f"cell c{i}(t: T, v: f32) -> f32 {{ c{i + 1}(t, v) + c{i + 1}(t, v + 1) }}\n", f"cell c{N}(t: T, v: f32) -> f32 {{ v }}\n")
    + "entry e(t: T) -> f32 { c0(t, 0.5) }\n",
    "while": "entry e(x: f32) -> f32 { " + "".join(f"fold(i{i} in 0..9, s{i} = x while " for i in range(N)) + "x < 1" + ") { x } < 1" * (N - 1) + ") { x } }\n",
    "folds": "entry e(x: f32) -> f32 { " + "".join(f"fold(i{i} in 0..9, s{i} = 0) {{ s{i} + " for i in range(N)) + "x" + " }" * N + " }\n",
    "constants": "entry e() -> f32[8] {\nlet a0 = tanh(f32(iota(8)));\n"
    + "".join(f"let a{i + 1} = tanh(a{i}) * a{i};\n" for i in range(N))
    + f"a{N}\n}}\n",
    "params": "param p: f32[8];\nentry e() -> f32[8] {\nlet a0 = p;\n"
    + "".join(f"let a{i + 1} = tanh(a{i}) * a{i};\n" for i in range(N))
    + f"a{N}\n}}\n",
    "joins": "entry e(x: f32[2]) -> f32 {\nlet a0 = x;\n" + "".join(f"let a{i + 1} = [a{i}, a{i}];\n" for i in range(N)) + f"sum(a{N})\n}}\n",
    "ifs": "entry e(x: f32, k: int) -> f32 {\nlet a0 = x;\n"
    + "".join(f"let a{i + 1} = if k > {i} {{ tanh(a{i}) }} else {{ a{i} * a{i} }};\n" for i in range(N))
    + f"a{N}\n}}\n",
    "lists of ifs": "entry e(x: [f32], k: int) -> f32 {\nlet a0 = x;\n"
    + "".join(f"let a{i + 1} = if k > {i} {{ map(y in a{i}) tanh(y) }} else {{ a{i} }};\n" for i in range(N))
    + f"sum(a{N})\n}}\n",
    "ifs inside": "entry e(x: f32) -> f32 { " + "if x > 1 { x } else { " * N + "x" + " }" * N + " }\n",
    "binders inside": "entry e(x: [f32]) -> f32 { " + "".join(f"sum(y{i} in x) {{ " for i in range(N)) + "y0" + " }" * N + " }\n",
    "splits": "entry e(x: f32[1024]) -> f32 {\n" + "".join(f"let a{i} = split(x * {i}, 1024);\n" for i in range(N)) + "x[0]\n}\n",
    "axes": "entry e(x: f32[" + ", ".join(["1"] * 200) + "]) -> f32 { sum(tanh(x)) }\n",
}


DIMS = {"shapes of joins": "ab", "numbers of steps": "a"}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))  # seconds; without a limit of its own dbc would take hours
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def outcome(dbc, name, folder):
    path = pathlib.Path(folder) / "hostile.dyn"
    path.write_text("model hostile;\n" + MODELS[name])
    dims = [f"-D{dim}=9" for dim in DIMS.get(name, "")]
    for command in (["check", path], ["compile", path, "-o", folder, *dims]):
        ran = subprocess.run([dbc, *command], preexec_fn=limit, capture_output=True, text=True)
        if ran.returncode:
            said = [line.split(": ", 1)[-1] for line in ran.stderr.splitlines() if "error: " in line]
            return said[0] if ran.returncode == 1 and said else f"ends with {ran.returncode}: {ran.stderr}"
    return "compiles"


if __name__ == "__main__":
    for each in MODELS:
        print(f"{each}: {outcome(sys.argv[1], each, sys.argv[2])}", flush=True)
