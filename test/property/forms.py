#!/usr/bin/env python3
# Every form of a value in every place that may hold one: lists made in all ways are used in all ways, and vectors made in all
# ways stand in entries, cells, binders, arms, steps of folds and scans, and are given to cells. Each stands alone in a model
# and must compile, or be refused for what is computed and must not be; with --verify those that compile are compared with the
# oracle too, many to a model.
#
# Where random programs seldom nest what they have drawn, this goes through all pairs.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

DECLARATIONS = """model forms;
dim d = 2;
data T(
  n: int, x: f32, flag: bool, v: f32[d], kind: index[3], pair: index[2][3], ns: [int], nss: [[int]], ws: [f32[d]], wss: [[f32[d]]],
  flags: [bool], kids: [T], groups: [[T]]
);
record State { h: f32[d]; s: f32; }
param W: f32[d, d], B: f32[d, d, d], E: f32[3, d];
layer Affine {
  param U: f32[d, d], b: f32[d];
  fn call(x: f32[d]) -> f32[d] { tanh(U @ x + b) }
  cell deep(t: T) -> f32[d] { call(t.v + sum(u in t.kids) deep(u)) }
}
param affine: Affine, table: [Affine; 3];
fn numbers(t: T) -> [int] { map(u in t.kids) { u.n } }
cell up(t: T) -> f32[d] { tanh(t.v + W @ (sum(u in t.kids) up(u))) }
cell both(t: T) -> (f32[d], f32) { (up(t), t.x + sum(u in t.kids) { let (_, s) = both(u); s }) }
fn joined(t: T) -> f32[d] { let (h, s) = both(t); h * s }
cell below(t: T) -> [f32[d]] { map(u in t.kids) { up(u) } }
cell counts(t: T) -> [int] { map(u in t.kids) { u.n } }
cell steps(t: T, j in 0..5) -> f32[d] { if j == 0 { t.v } else { tanh(W @ steps(t, j - 1)) } }
cell given(t: T, z: f32[d]) -> f32[d] { tanh(t.v + z + W @ (sum(u in t.kids) given(u, z))) }
cell changed(t: T, z: f32[d]) -> f32[d] { tanh(t.v + W @ (sum(u in t.kids) changed(u, tanh(z + t.v)))) }
cell scaled(t: T, z: f32) -> f32 { t.x * z + sum(u in t.kids) { scaled(u, z * 0.5) } }
cell vectors(t: T, l: [f32[d]]) -> f32[d] { t.v + sum(z in l) { W @ z } + sum(u in t.kids) { vectors(u, l) } }
cell ints(t: T, l: [int]) -> f32[d] { t.v + sum(z in l) { fill(f32(z), d) } + sum(u in t.kids) { ints(u, l) } }
cell trees(t: T, l: [T]) -> f32[d] { t.v + sum(z in l) { up(z) } + sum(u in t.kids) { trees(u, l) } }
cell vector_rows(t: T, l: [[f32[d]]]) -> f32[d] { t.v + sum(r in l) { sum(z in r) { W @ z } } + sum(u in t.kids) { vector_rows(u, l) } }
cell int_rows(t: T, l: [[int]]) -> f32[d] { t.v + sum(r in l) { fill(f32(sum(z in r) z), d) } + sum(u in t.kids) { int_rows(u, l) } }
cell tree_rows(t: T, l: [[T]]) -> f32[d] { t.v + sum(r in l) { sum(z in r) { up(z) } } + sum(u in t.kids) { tree_rows(u, l) } }
"""

# Lists by the type of their elements: how they are made, and how `$` is used. Names of uses begin with z.
LISTS = {
    "T": (
        """t.kids; t.groups[0]; t.kids[0].kids; reverse(t.kids); t.kids[0..t.n]; map(u in t.kids if u.n > 1) { u };
        map(u in t.kids) { u.kids[0] }; (if t.flag { t.kids } else { t.groups[0] }); map(g in t.groups) { g[0] };
        map((u, j) in zip(t.kids, 0..len(t.kids)) if j > 1) { u }; map(u in t.kids) { if u.flag { u } else { t } };
        map(j in t.ns) { t.kids[j] }; map(j in 0..3) { t }; nodes(t)""",
        """sum(ze in $) up(ze); up(($)[0]); fill(f32(len($)), d); trees(t, $); sum((ze, zw) in zip($, t.ws)) { up(ze) * zw };
        fold(ze in $, zs = t.v) { tanh(W @ zs + up(ze)) }; sum(ze in $ if ze.flag) { ze.v }; max(ze in $) up(ze);
        sum(zu in t.kids) { sum(ze in $) { up(ze) * zu.v } }; sum(ze in $) { sum(zf in ze.kids) up(zf) };
        sum(zj in 0..(sum(ze in $) ze.n)) t.v""",
    ),
    "int": (
        """t.ns; t.nss[0]; 0..t.n; map(u in t.kids) { u.n }; reverse(t.ns); t.ns[1..t.n]; map(x in t.ns if x > 1) { x };
        map(x in t.ns) { x + t.n }; map(r in t.nss) { len(r) }; map(r in t.nss) { sum(x in r) x }; numbers(t); counts(t);
        (if t.flag { t.ns } else { t.nss[0] }); (scan(u in t.kids, s = 0) { s + u.n });
        (fold(u in t.kids, s = t.ns) { map(x in s) { x + u.n } }); map(g in t.groups) { g[0].n };
        map(g in t.groups) { sum(u in g) u.n }; map(x in t.ns) { if x > 2 { x } else { t.n } };
        map((a, b) in zip(t.ns, reverse(t.ns))) { a * b }; map(r in t.nss) { r[0] }; map(u in t.kids) { int(u.x) }""",
        """sum(ze in $) { fill(f32(ze), d) }; fill(f32(($)[0]), d); fill(f32(len($)), d); ints(t, $);
        sum((ze, zw) in zip($, t.ws)) { f32(ze) * zw }; fold(ze in $, zs = t.v) { tanh(W @ zs + f32(ze)) };
        sum(zj in 0..(sum(ze in $) ze)) up(t); up(t.kids[($)[0]]); sum(ze in $) { up(t.kids[ze]) }; sum(ze in $ if ze > 1) { t.v };
        fill(f32(max(ze in $) ze), d); sum(zu in t.kids) { sum(ze in $) { f32(ze) * up(zu) } };
        sum(ze in $) { if ze > 2 { up(t) } else { t.v } }; fill(f32(argmax(ze in $) ze), d)""",
    ),
    "f32[d]": (
        """t.ws; t.wss[0]; map(u in t.kids) { up(u) }; below(t); map(u in t.kids) { u.v }; reverse(t.ws); t.ws[0..t.n];
        map(w in t.ws if t.flag) { w }; map((w, j) in zip(t.ws, 0..len(t.ws)) if j % 2 == 0) { w }; map(w in t.ws) { W @ w };
        (if t.flag { t.ws } else { t.wss[0] }); (if t.flag { t.ws } else { below(t) }); (scan(w in t.ws, s = t.v) { tanh(W @ s + w) });
        (scan_back(w in t.ws, s = t.v) { tanh(W @ s + w) }); (fold(u in t.kids, s = t.ws) { map(w in s) { w + up(u) } });
        map(j in t.ns) { t.ws[j] }; map(j in 0..2) { t.v }; map(r in t.wss) { sum(w in r) w }; map(r in t.wss) { r[0] };
        map(g in t.groups) { sum(u in g) { up(u) } }; map(x in t.ns) { if x > 2 { t.v } else { W @ t.v } };
        map(b in t.flags) { if b { t.v } else { W @ t.v } }; map((p, w) in zip(softmax(w in t.ws) sum(w), t.ws)) { p * w }""",
        """sum(ze in $) ze; ($)[0]; fill(f32(len($)), d); vectors(t, $); sum((ze, zw) in zip($, t.ws)) { ze * zw };
        fold(ze in $, zs = t.v) { tanh(W @ zs + ze) }; max(ze in $) ze; sum(zu in t.kids) { sum(ze in $) { ze * up(zu) } };
        sum((ze, zj) in zip($, 0..len($)) if zj > 0) { ze }; sum(ze in reverse($)) { W @ ze };
        (scan(ze in $, zs = t.v) { tanh(zs + ze) })[0]; ($)[argmax(ze in $) sum(ze)]; fold(zu in t.kids, zs = t.v) { zs + sum(ze in $) ze };
        (fold(zu in t.kids, zs = $) { map(zq in zs) { tanh(zq + zu.v) } })[0]""",
    ),
    "[int]": (
        """t.nss; map(u in t.kids) { u.ns }; reverse(t.nss); map(r in t.nss) { reverse(r) }; map(r in t.nss) { map(x in r) { x + 1 } };
        map(r in t.nss) { map(x in r if x > 1) { x } }; map(r in t.nss if len(r) > 1) { r }; map(u in t.kids) { map(w in u.kids) { w.n } };
        (if t.flag { t.nss } else { t.kids[0].nss }); map(u in t.kids) { if u.flag { u.ns } else { t.ns } }; map(u in t.kids) { 0..u.n };
        (fold(u in t.kids, s = t.nss) { map(r in s) { map(x in r) { x + u.n } } }); map(u in t.kids) { numbers(u) };
        map(u in t.kids) { counts(u) }; t.nss[0..t.n]; map((r, j) in zip(t.nss, 0..len(t.nss))) { map(x in r) { x * j } }""",
        """sum(zr in $) { sum(zx in zr) { fill(f32(zx), d) } }; int_rows(t, $); fill(f32(($)[0][0]), d); fill(f32(sum(zr in $) len(zr)), d);
        sum(zr in $) { sum(zj in 0..(sum(zx in zr) zx)) up(t) }; ints(t, ($)[0]); sum((zr, zu) in zip($, t.kids)) { ints(zu, zr) };
        sum(zr in $ if len(zr) > 0) { up(t.kids[zr[0]]) }; ints(t, map(zr in $) { sum(zx in zr) zx });
        fold(zr in $, zs = t.v) { zs + sum(zx in zr) { t.ws[zx] } }; sum(zu in t.kids) { sum(zr in $) { f32(len(zr)) * zu.v } }""",
    ),
    "[f32[d]]": (
        """t.wss; map(u in t.kids) { u.ws }; reverse(t.wss); map(r in t.wss) { reverse(r) }; map(r in t.wss) { map(x in r) { W @ x } };
        map(u in t.kids) { map(w in u.kids) { up(w) } }; map(u in t.kids) { below(u) }; (if t.flag { t.wss } else { t.kids[0].wss });
        map(u in t.kids) { if u.flag { u.ws } else { t.ws } }; map(u in t.kids) { if u.flag { u.ws } else { below(t) } };
        (fold(u in t.kids, s = t.wss) { map(r in s) { map(x in r) { x + up(u) } } });
        map(u in t.kids) { scan(w in u.ws, s = t.v) { tanh(s + w) } }; map(u in t.kids) { map(x in u.ns) { fill(f32(x), d) } };
        map(r in t.wss if len(r) > 1) { r[1..len(r)] }; map(g in t.groups) { map(u in g) { up(u) } }""",
        """sum(zr in $) { sum(zx in zr) zx }; vector_rows(t, $); ($)[0][0]; fill(f32(sum(zr in $) len(zr)), d); vectors(t, ($)[0]);
        sum((zr, zu) in zip($, t.kids)) { vectors(zu, zr) }; fold(zr in $, zs = t.v) { zs + max(zx in zr) zx };
        sum(zu in t.kids) { sum(zr in $) { sum(zx in zr) { zx * zu.v } } }; sum(zr in $) { fold(zx in zr, zs = t.v) { tanh(W @ zs + zx) } };
        (fold(zu in t.kids, zs = $) { map(zq in zs) { map(zx in zq) { zx * zu.v } } })[0][0]; sum(zr in $ if len(zr) > 1) { zr[1] }""",
    ),
    "[T]": (
        """t.groups; map(u in t.kids) { u.kids }; reverse(t.groups); map(g in t.groups) { reverse(g) };
        map(g in t.groups) { map(u in g if u.flag) { u } }; map(g in t.groups if len(g) > 1) { g };
        (if t.flag { t.groups } else { t.kids[0].groups }); map(u in t.kids) { if u.flag { u.kids } else { t.kids } };
        map(u in t.kids) { map(g in u.groups) { g[0] } }; map(u in t.kids) { u.kids[0..u.n] };
        map(r in t.nss) { map(j in r) { t.kids[j] } }""",
        """sum(zr in $) { sum(zx in zr) up(zx) }; tree_rows(t, $); up(($)[0][0]); trees(t, ($)[0]);
        sum((zr, zu) in zip($, t.kids)) { trees(zu, zr) }; fold(zr in $, zs = t.v) { zs + sum(zx in zr) up(zx) };
        fill(f32(sum(zr in $) sum(zx in zr) zx.n), d); sum(zu in t.kids) { sum(zr in $) { sum(zx in zr) { up(zx) * zu.v } } };
        sum(zr in $ if len(zr) > 1) { up(zr[1]) }; trees(t, map(zr in $ if len(zr) > 0) { zr[0] })""",
    ),
}

# Integers and truths that are structure, of node t, and where structure is asked for.
STRUCTURE = {
    "int": (
        """t.n; len(t.kids); t.kind; (sum(u in t.kids) u.n); (max(u in t.kids) u.n); (if t.flag { t.n } else { 2 });
        (map(u in t.kids) { u.n })[0]; clip(t.n, 0, 3); minimum(t.n, 3); (t.n % 3); -t.n; int(t.flag); t.pair[0]; t.ns[0]; t.nss[0][0];
        (sum(r in t.nss) sum(x in r) x); (max(r in t.nss) max(x in r) x); (map(r in t.nss) { map(x in r) { x + t.n } })[0][0];
        (sum(r in t.nss) len(r)); (if t.flag { t.ns } else { t.nss[0] })[0]; len(t.kids[0..t.n]); len(map(u in t.kids if u.n > 1) { u });
        (sum((u, j) in zip(t.kids, 0..len(t.kids))) j)""",
        """sum(zj in 0..$) up(t); sum(zu in t.kids[0..$]) zu.v; t.kids[$].v; steps(t, $); sum(zu in t.kids if zu.n < $) { zu.v };
        if ($) > 2 { up(t) } else { t.v }; sum(zj in 0..3) { if zj == ($) { up(t) } else { t.v } }; table[index[3]($)].deep(t); E[$];
        (if $ == 0 { t } else { t.kids[0] }).v; ints(t, map(zj in 0..3) { zj + $ }); sum(zj in ($)..5) { fill(f32(zj), d) };
        fill(f32(len(t.nss[$])), d); fill(f32(sum(zx in t.nss[$]) zx), d); up(t) * f32($)""",
    ),
    "bool": (
        """t.flag; (t.n > 2); !t.flag; (t == t.kids[0]); (t.flag && t.n > 1); (any(u in t.kids) u.flag); t.flags[0];
        (map(u in t.kids) { u.flag })[0]; (any(b in t.flags) b); (t.nss[0][0] > 1); (any(r in t.nss) any(x in r) { x > 1 });
        (if t.flag { t.n > 1 } else { false })""",
        """if $ { up(t) } else { t.v }; sum(zu in t.kids if $) { zu.v }; (if $ { t } else { t.kids[0] }).v;
        sum(zu in (if $ { t.kids } else { t.groups[0] })) { zu.v }; sum(zj in 0..(if $ { 1 } else { 2 })) { up(t) };
        sum(zu in t.kids) { if $ { up(zu) } else { zu.v } }; fill(f32($), d)""",
    ),
}

# Vectors of the node `@`, and where they stand; there they are `$`, and `@` is the name behind the bar.
VECTORS = """@.v; up(@); W @ @.v; (if @.flag { @.v } else { up(@) }); (if @.x > 0.0 { @.v } else { W @ @.v }); (sum(a in @.kids) up(a));
    (max(a in @.ws) a); (fold(a in @.ws, s = @.v) { tanh(W @ s + a) }); (fold(a in @.ws, s = @.v while sum(s) < 1.0) { s + 0.3 + a });
    (scan(a in @.ws, s = @.v) { tanh(s + a) })[0]; given(@, @.v); given(@, up(@)); changed(@, @.v); vectors(@, @.ws);
    vectors(@, map(a in @.kids) { up(a) }); vectors(@, below(@)); affine(@.v); affine.deep(@); table[@.kind](@.v); table[@.kind].deep(@);
    E[@.kind]; B[argmax(@.v)] @ @.v; (fold(f in table, s = @.v) { f(s) }); steps(@, @.kind); softmax(@.v); (@.v * scaled(@, @.x));
    (sum(a in @.groups) { sum(b in a) up(b) }); (sum((a, b) in zip(@.kids, @.ws)) { given(a, b) }); (fold(a in @.kids, s = @.v) { given(a, s) });
    State { h = @.v, s = @.x }.h; (sum(a in @.kids if a.flag) { up(a) }); (if len(@.kids) > 0 { up(@.kids[0]) } else { @.v });
    below(@)[0]; (sum(a in below(@)) { W @ a }); (sum(i in 0..@.n % 3) { steps(@, i) }); E[@.pair][0]; dropout(@.v, 0.3);
    (sum(a in @.kids) joined(a))"""
PLACES = """entry a(t: T) -> f32[d] { $ } | t
cell c(t: T) -> f32[d] { tanh($ + sum(k in t.kids) { c(k) }) } entry a(t: T) -> f32[d] { c(t) } | t
entry a(t: T) -> f32[d] { sum(k in t.kids) { $ } } | k
entry a(t: T) -> f32[d] { sum(k in t.kids) { max(m in k.kids) { $ } + t.v } } | m
entry a(t: T) -> f32[d] { fold(k in t.kids, z = t.v) { tanh(z + $) } } | k
entry a(t: T) -> f32[d] { fold(k in t.kids, z = t.v while sum(z) < 5.0) { z + $ } } | k
entry a(t: T) -> [f32[d]] { scan(k in t.kids, z = t.v while sum(z) < 5.0) { z + $ } } | k
entry a(t: T) -> f32[d] { if t.flag { $ } else { t.v } } | t
entry a(t: T) -> f32[d] { if t.x > 0.0 { $ } else { t.v } } | t
entry a(t: T) -> f32[d] { given(t, $) } | t
entry a(t: T) -> f32[d] { sum(k in t.kids) { given(t, $) } } | k
entry a(t: T) -> f32[d] { vectors(t, map(k in t.kids) { $ }) } | k
entry a(t: T) -> f32[d] { sum(k in t.kids) { changed(k, $) } } | k
cell c(t: T, n in 0..3) -> f32[d] { if n == 0 { $ } else { tanh(c(t, n - 1)) } } entry a(t: T) -> f32[d] { c(t, 2) } | t
entry a(t: T) -> [f32[d]] { fold(k in t.kids, z = t.ws) { map(q in z) { tanh(q + $) } } } | k
loss a(t: T) { sum($) } | t
cell c(t: T, z: f32[d]) -> f32[d] { tanh(z * $) + sum(k in t.kids) { c(k, z) } } entry a(t: T) -> f32[d] { c(t, t.v) } | t
cell c(t: T, z: f32[d]) -> f32[d] { tanh(z + t.v) + sum(k in t.kids) { c(k, tanh(z + $)) } } entry a(t: T) -> f32[d] { c(t, t.v) } | k
entry a(t: T) -> f32[d] { sum(k in t.kids if k.flag) { $ } } | k
entry a(t: T) -> [[f32[d]]] { map(g in t.groups) { map(k in g) { $ } } } | k
entry a(t: T) -> f32[d] { let y = $; y + sum(k in t.kids) { tanh(y * k.v) } } | t
cell c(t: T) -> [f32[d]] { map(k in t.kids) { $ } } entry a(t: T) -> f32[d] { sum(q in c(t)) { q } + sum(u in t.kids) { max(q in c(u)) q } } | k"""


def split(text):
    """The forms of a table, which semicolons divide."""
    return [" ".join(each.split()) for each in text.split(";")]


def forms():
    for made, used in [*LISTS.values(), *STRUCTURE.values()]:
        for value in split(made):
            for use in split(used):
                yield "entry a(t: T) -> f32[d] { %s }" % use.replace("$", value)
    for value in split(VECTORS):
        for place in PLACES.splitlines():
            place, name = place.split(" | ")
            yield place.replace("$", re.sub(r"@(?=[.,)])", name, value))


# What is computed, and may not be where the form stands, is reported by these rules.
REFUSED = re.compile(r"error: .*computed.* \[S[1-3]\]$", re.M)


class Compiler:
    """`dbc compile` up to the text of the C++, one model after the other in one process."""

    def __init__(self, path, folder):
        os.makedirs(folder)
        self.path = os.path.join(folder, "form.dyn")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def compile(self, form):
        """(exit code, what was said)"""
        with open(self.path, "w") as file:
            file.write(DECLARATIONS + form + "\n")
        print(self.path, "", sep="\t", file=self.process.stdin, flush=True)
        code = int(self.process.stdout.readline().split()[0])
        with open(self.path + ".said", errors="replace") as file:
            return code, file.read()


def together(forms):
    """Models of many forms, under names of their own."""
    size = 40
    for at in range(0, len(forms), size):
        text = DECLARATIONS
        for number, form in enumerate(forms[at : at + size]):
            form = re.sub(r"\bc\(", f"c{number}(", form)
            text += re.sub(r"\b(entry|loss) a\(", rf"\1 a{number}(", form) + "\n"
        yield text


def verified(dbc, folder, number, text, seed):
    """What `dbc verify` finds wrong; that the inputs of a form are seldom valid is not."""
    path = os.path.join(folder, f"forms{number}.dyn")
    with open(path, "w") as file:
        file.write(text)
    command = [dbc, "verify", path, "-n", "40", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    errors = [line for line in done.stderr.splitlines() if "error: " in line and "random inputs are valid" not in line]
    if done.returncode in (0, 1) and not errors:
        return ""
    entries = {re.search(r"error: a(\d+):", line)[1] for line in errors if re.search(r"error: a\d+:", line)}
    wrong = [line for line in text.splitlines() if any(re.search(rf"(entry|loss) a{n}\(", line) for n in entries)]
    return "\n".join([*errors, *wrong]) or done.stderr[-2000:]


def main():
    parser = argparse.ArgumentParser(description="every form of a value in every place")
    parser.add_argument("--bin", required=True, help="the folder of dbc and dbc-compile-each")
    parser.add_argument("--verify", action="store_true", help="compare those that compile with the oracle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    counts, failures, good = collections.Counter(), 0, []
    with tempfile.TemporaryDirectory(prefix="dbc-forms-") as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compiler = Compiler(os.path.join(options.bin, "dbc-compile-each"), os.path.join(scratch, "each"))
        for form in forms():
            code, said = compiler.compile(form)
            if code == 0:
                counts["compiled"] += 1
                good.append(form)
            elif code == 1 and REFUSED.search(said):
                counts["refused"] += 1
            else:
                failures += 1
                print(form, f"exit code {code}", said[:600], sep="\n", flush=True)
        compiler.process.stdin.close()
        compiler.process.wait()
        if options.verify:
            os.environ["XDG_CACHE_HOME"] = scratch
            os.environ["CXXFLAGS"] = "-O0 -Wall -Wextra -Werror"
            dbc, models = os.path.join(options.bin, "dbc"), list(together(good))
            for trouble in pool.map(lambda at: verified(dbc, scratch, at[0], at[1], options.seed), enumerate(models)):
                if trouble:
                    failures += 1
                    print(trouble, flush=True)
            counts["verified"] = len(good)
    print(dict(counts))
    print(f"FAILED: {failures}" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
