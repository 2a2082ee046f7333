#!/usr/bin/env python3
# Draws random well-typed .dyn programs and puts each through `dbc verify`: compiled code against the oracle, on random
# structures and in several batchings. A failure is cut down and printed whole, with the seed that draws it again.
#
#   random_programs.py --dbc PATH --programs N --seed S [--jobs J] [--inputs N] [--show] [--keep DIR] [--time SECONDS]
#
# The run fails if a program fails, if the checker refuses more than 2 % of the programs (a bug of this generator), or, from
# 100 programs on, if a construct occurred fewer than 10 times.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import argparse
import collections
import concurrent.futures
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

KINDS = {"f32": "f32", "vec": "f32[d]", "wec": "f32[e]", "mat": "f32[d, d]", "rec": "State", "tup": "(f32[d], f32)",
         "list": "[f32[d]]", "idx": "index[vocab]", "ops": "index[ops]", "int": "int", "bool": "bool",
         "idxs": "[index[vocab]]", "floats": "[f32]", "vecs": "[f32[d]]"}


class Node:
    """A piece of a program: text and other pieces. `kind` is the type of an expression, or let, decl."""

    def __init__(self, kind, tag, *parts):
        self.kind, self.tag, self.parts = kind, tag, list(parts)

    def __str__(self):
        return "".join(str(part) for part in self.parts)

    def walk(self):
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()


class Scope:
    """What can be named at a place. A variable is (text, kind, below); `below` marks a node that the cells of the
    recursion being defined may be called with."""

    def __init__(self, variables=(), cells=(), depth=3):
        self.variables, self.cells, self.depth = list(variables), list(cells), depth

    def with_(self, *more):
        return Scope(self.variables + [m if len(m) == 3 else (*m, True) for m in more], self.cells, self.depth)

    def of(self, kind):
        return [text for text, each, _ in self.variables if each == kind]

    def calls(self):
        """(call, kind of its result) of every cell on every node."""
        for text, kind, below in self.variables:
            for name, takes, gives, recursive, extra in self.cells:
                if kind == takes and (below or not recursive):
                    yield f"{name}({text}{extra})", gives, name


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fresh = 0
        self.decls = []

    # Small helpers.
    def name(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def number(self):
        return Node("f32", "literal", self.pick(["0.5", "1.5", "0.25", "2.0", "0.1", "1.0"]))

    # Values, each by the ways that its kind has; at depth 0 only the plain ones.
    def expr(self, kind, scope, depth):
        plain, deep = getattr(self, "plain_" + kind)(scope), []
        if depth > 0:
            deep = getattr(self, "deep_" + kind)(scope, depth - 1)
            deep += self.common(kind, scope, depth - 1)
        calls = [Node(kind, "cell call", text) for text, gives, _ in scope.calls() if gives == kind]
        if kind == "vec":
            calls += [Node(kind, "record field", text + self.pick([".h", ".c"])) for text, gives, _ in scope.calls() if gives == "rec"]
        names = [Node(kind, "name", text) for text in scope.of(kind)]
        # A call is what makes a model recursive: it is preferred where one is possible.
        if calls and self.chance(0.45):
            return self.pick(calls)
        if deep and self.chance(0.92):
            return self.pick(deep)()
        if names and self.chance(0.75):
            return self.pick(names)
        return self.pick(plain)()

    def common(self, kind, scope, depth):
        """What gives a value of any kind: structural if, match, fold."""
        if kind == "list":
            return []
        ways = []
        condition = lambda: self.expr("bool", scope, max(depth, 1))
        structural = lambda: Node(kind, "structural if", "(if ", condition(), " ", self.block(kind, scope, depth), " else ",
                                 self.block(kind, scope, depth), ")")
        ways += [structural] * (4 if kind == "vec" else 1)
        nodes = [(text, each, below) for text, each, below in scope.variables if each in self.types]
        if nodes:
            ways.append(lambda: self.match(kind, self.pick(nodes), scope, depth))
        lists = self.elements(scope)
        if lists and kind in ("vec", "rec", "f32"):
            ways.append(lambda: self.fold(kind, scope, depth))
        return ways

    def match(self, kind, subject, scope, depth):
        text, data, below = subject
        parts = [f"(match {text} {{ "]
        constructors = self.types[data]
        wild = len(constructors) > 2 and self.chance(0.3)
        for number, (constructor, fields) in enumerate(constructors):
            if wild and number == len(constructors) - 1:
                parts += ["_ => ", self.block(kind, scope, depth), " "]
                continue
            used = [f for f in fields if self.chance(0.85)]
            bound, patterns = [], []
            for field, its in used:
                local = self.name(field)
                patterns.append(f"{field} = {local}")
                # Fields of the subject: their nodes lie below it.
                bound.append((local, its, True))
            pattern = constructor + (f"({', '.join(patterns)})" if patterns else "")
            parts += [pattern, " => ", self.block(kind, scope.with_(*bound), depth), " "]
        return Node(kind, "match", *parts, "})")

    def block(self, kind, scope, depth):
        """{ let ..; value }"""
        parts = ["{ "]
        for _ in range(self.pick([0, 0, 1, 1, 2]) if depth > 0 else 0):
            choice = self.random.random()
            tuples = [call for call, gives, _ in scope.calls() if gives == "tup"]
            if tuples or choice < 0.1:
                a, b = self.name("a"), self.name("b")
                value = Node("tup", "tuple", self.pick(tuples)) if tuples and self.chance(0.7) else self.expr("tup", scope, depth - 1)
                parts.append(Node("let", "let tuple", f"let ({a}, {b}) = ", value, "; "))
                scope = scope.with_((a, "vec"), (b, "f32"))
            elif choice < 0.25:
                a, b = self.name("p"), self.name("q")
                parts.append(Node("let", "split", f"let ({a}, {b}) = split([", self.expr("vec", scope, depth - 1), ", ",
                                  self.expr("vec", scope, depth - 1), "]); "))
                scope = scope.with_((a, "vec"), (b, "vec"))
            elif choice < 0.45 and self.elements(scope):
                v = self.name("xs")
                parts.append(Node("let", "let", f"let {v} = ", self.expr("list", scope, depth - 1), "; "))
                scope = scope.with_((v, "list"))
            else:
                v, its = self.name("v"), self.pick(["vec", "vec", "f32", "rec"])
                parts.append(Node("let", "let", f"let {v} = ", self.expr(its, scope, depth - 1), "; "))
                scope = scope.with_((v, its))
        return Node(kind, "block", *parts, self.expr(kind, scope, depth), " }")

    # Lists.
    def elements(self, scope):
        """What a binder can go over: (list, what its elements are)."""
        return ([(text, "idx") for text in scope.of("idxs")] + [(text, "f32") for text in scope.of("floats")] +
                [(text, "vec") for text in scope.of("vecs") + scope.of("list")] +
                [(text, kind[1:-1], below) for text, kind, below in scope.variables if kind[0] == "[" and kind[1:-1] in self.types])

    def over(self, scope, depth, plain=False):
        """The head of a binder without its parenthesis: `x in xs`, and the scope inside."""
        lists = self.elements(scope)
        listed = self.pick(lists)
        text, kind = listed[:2]
        below = listed[2] if len(listed) > 2 else True
        x = self.name("x")
        choice = self.random.random()
        if choice < 0.1 and not plain:
            i = self.name("i")
            return Node("head", "zip with range", f"({x}, {i}) in zip({text}, 0..len({text}))"), scope.with_((x, kind, below), (i, "int")), text
        if choice < 0.2:
            return Node("head", "reverse", f"{x} in reverse({text})"), scope.with_((x, kind, below)), text
        return Node("head", "over list", f"{x} in {text}"), scope.with_((x, kind, below)), text

    def guarded(self, kind, text, value, least=1):
        condition = f"len({text}) == 0" if least == 1 else f"len({text}) < {least}"
        return Node(kind, "guard", f"(if {condition} {{ ", self.pick(getattr(self, "plain_" + kind)(Scope()))(), " } else { ", value, " })")

    def reduce(self, kind, scope, depth):
        how = self.pick(["sum", "sum", "mean", "max", "min", "logsumexp"])
        head, inner, text = self.over(scope, depth, plain=how != "sum")
        value = Node(kind, how + " over list", f"{how}({head}) ", self.block(kind, inner, depth))
        value.parts = [f"{how}(", head, ") ", value.parts[-1]]
        return value if how == "sum" else self.guarded(kind, text, value)

    def fold(self, kind, scope, depth):
        head, inner, _ = self.over(scope, depth)
        s = self.name("s")
        start = self.expr(kind, scope, min(depth, 1))
        if kind == "f32":
            start = Node("f32", "literal", "f32(0.25)")
        return Node(kind, "fold " + {"rec": "record", "vec": "vector", "f32": "scalar"}[kind], "fold(", head, f", {s} = ", start, ") ",
                    self.tamed(kind, inner.with_((s, kind)), depth))

    def fold_tuple(self, scope, depth):
        head, inner, _ = self.over(scope, depth)
        a, b, r, q = self.name("a"), self.name("b"), self.name("r"), self.name("q")
        state = inner.with_((a, "vec"), (b, "f32"))
        # A tuple is taken apart by a pattern; the join makes one tensor of it.
        loop = Node("tup", "fold tuple", "fold(", head, f", ({a}, {b}) = (", self.expr("vec", scope, 0), ", f32(0.5))) ",
                    self.tamed("tup", state, depth))
        return Node("vec", "block", "(if true { ", Node("let", "let", f"let ({r}, {q}) = ", loop, "; "), f"{r} * {q} }} else {{ zeros(d) }})")

    def tamed(self, kind, scope, depth):
        """A block whose value stays small however often it is repeated."""
        if kind == "rec":
            return Node("rec", "record", "{ State { h = tanh(", self.expr("vec", scope, depth), "), c = clip(", self.expr("vec", scope, depth),
                        ", -2.0, 2.0) } }")
        if kind == "tup":
            return Node("tup", "tuple", "{ (tanh(", self.expr("vec", scope, depth), "), tanh(", self.expr("f32", scope, depth), ")) }")
        if kind == "list":
            return self.block(kind, scope, depth)
        if kind == "mat":
            return Node("mat", "matrix state", "{ tanh(", self.expr("mat", scope, depth), ") }")
        squash = self.pick(["tanh(", "sigmoid(", "tanh("])
        if self.chance(0.4) and depth > 0:
            v = self.name("v")
            return Node(kind, "block", "{ ", Node("let", "let", f"let {v} = ", self.expr(kind, scope, depth), "; "),
                        Node(kind, squash[:-1], squash, self.expr(kind, scope.with_((v, kind)), depth), ")"), " }")
        return Node(kind, "block", "{ ", Node(kind, squash[:-1], squash, self.expr(kind, scope, depth), ")"), " }")

    def plain_list(self, scope):
        ways = [lambda t=text: Node("list", "name", t) for text in scope.of("list") + scope.of("vecs")]
        return ways + [lambda: self.map_list(scope, 0)] if self.elements(scope) else [
            lambda: Node("list", "map over range", f"map({self.name('i')} in 0..3) {{ b0 }}")]

    def map_list(self, scope, depth):
        head, inner, _ = self.over(scope, depth)
        return Node("list", "map", "map(", head, ") ", self.block("vec", inner, depth))

    def deep_list(self, scope, depth):
        if not self.elements(scope):
            return [lambda: Node("list", "layer list", f"run.run(map({self.name('i')} in 0..2) {{ b0 }})")] if "run" in self.layers else []
        ways = [lambda: self.map_list(scope, depth)] * 3
        for tag in ("scan", "scan_back"):
            ways.append(lambda tag=tag: self.scan(tag, scope, depth))
        ways.append(lambda: Node("list", "reverse", "reverse(", self.expr("list", scope, depth), ")"))
        ways.append(lambda: self.attention(scope, depth))
        if "run" in self.layers:
            ways.append(lambda: Node("list", "nn.LSTM", self.pick(["run.run(", "run.run_back("]), self.expr("list", scope, depth), ")"))
        for call, gives, _ in scope.calls():
            if gives == "list":
                ways.append(lambda call=call: Node("list", "list of a cell", call))
        return ways

    def scan(self, tag, scope, depth):
        head, inner, _ = self.over(scope, depth)
        s = self.name("s")
        if self.chance(0.3):
            r = self.name("r")
            return Node("list", "scan record", f"map({r} in ", Node("recs", tag, f"{tag}(", head, f", {s} = ", self.expr("rec", scope, 0), ") ",
                        self.tamed("rec", inner.with_((s, "rec")), depth)), f") {{ {r}.h }}")
        return Node("list", tag, f"{tag}(", head, f", {s} = ", self.expr("vec", scope, min(depth, 1)), ") ",
                    self.tamed("vec", inner.with_((s, "vec")), depth))

    def attention(self, scope, depth):
        text, kind = self.pick(self.elements(scope))[:2]
        x, y, w, v = (self.name(n) for n in ("x", "y", "w", "v"))
        inner = scope.with_((x, kind, False))
        weights = Node("weights", "softmax over list", f"softmax({y} in {text}) ", self.block("f32", inner.with_((y, kind, True)), min(depth, 1)))
        return Node("list", "attention", f"map({x} in {text}) {{ sum(({w}, {v}) in zip(", weights, f", {text})) ",
                    Node("vec", "block", f"{{ {w} * ", self.expr("vec", scope.with_((v, kind, True)), min(depth, 1)), " }"), " }")

    # Tensors.
    def plain_vec(self, scope):
        ways = [lambda: Node("vec", "param", "b0"), lambda: Node("vec", "param", "b1"), lambda: Node("vec", "zeros", "zeros(d)"),
                lambda: Node("vec", "ones", "ones(d)"), lambda: Node("vec", "fill", "fill(0.5, d)")]
        for text in scope.of("idx"):
            ways += [lambda t=text: Node("vec", "row of a param", f"E[{t}]")] * 4
        for text in scope.of("rec"):
            ways += [lambda t=text: Node("vec", "record field", t + self.pick([".h", ".c"]))] * 4
        return ways

    def deep_vec(self, scope, depth):
        vec = lambda: self.expr("vec", scope, depth)
        flt = lambda: self.expr("f32", scope, depth)
        ways = []
        for tag, *parts in [("add", "(", vec, " + ", vec, ")"), ("subtract", "(", vec, " - ", vec, ")"), ("multiply", "(", vec, " * ", vec, ")"),
                            ("multiply", "(", flt, " * ", vec, ")"), ("negate", "(-", vec, ")"), ("divide", "(", vec, " / (1.5 + square(", vec, ")))"),
                            ("exp", "exp(clip(", vec, ", -2.0, 1.0))"), ("log", "log(1.0 + abs(", vec, "))"), ("sqrt", "sqrt(abs(", vec, ") + 0.1)"),
                            ("tanh", "tanh(", vec, ")"), ("sigmoid", "sigmoid(", vec, ")"), ("relu", "relu(", vec, ")"), ("gelu", "gelu(", vec, ")"),
                            ("softplus", "softplus(", vec, ")"), ("sin", "sin(", vec, ")"), ("cos", "cos(", vec, ")"), ("abs", "abs(", vec, ")"),
                            ("square", "square(tanh(", vec, "))"), ("pow", "pow(sigmoid(", vec, ") + 0.5, 1.5)"), ("maximum", "maximum(", vec, ", ", vec, ")"),
                            ("minimum", "minimum(", vec, ", ", flt, ")"), ("clip", "clip(", vec, ", -1.0, 1.5)"),
                            ("select", "select(", lambda: self.expr("bool", scope, 0), ", ", vec, ", ", vec, ")"), ("softmax", "softmax(", vec, ")"),
                            ("log_softmax", "(0.5 * log_softmax(", vec, "))"), ("detach", "detach(", vec, ")"),
                            ("join", "tanh(W2 @ [", vec, ", ", vec, "])"), ("join", "tanh(We @ [", lambda: self.expr("wec", scope, depth), ", ", vec, "])"),
                            ("transpose", "(transpose(M) @ tanh(", vec, "))"), ("reshape", "sum(reshape([", vec, ", ", vec, "], 2, d), axis = 0)"),
                            ("reduce axis max", "max(M * ", vec, ", axis = 0)"), ("reduce axis mean", "mean(M + ", vec, ", axis = 1)"),
                            ("reduce axis logsumexp", "logsumexp(reshape([", vec, ", ", vec, "], 2, d), axis = 0)"),
                            ("broadcast", "sum(reshape(", vec, ", d, 1) * tanh(", vec, "), axis = 1)"), ("slice of tensor", "tanh([", vec, "[1..], b0[0..1]])"),
                            ("iota", "(f32(iota(d)) * 0.1 + ", vec, ")"), ("matrix of vector", "(", lambda: self.expr("mat", scope, depth), " @ tanh(", vec, "))")]:
            ways.append(lambda tag=tag, parts=parts: Node("vec", tag, *[part() if callable(part) else part for part in parts]))
        product = lambda: Node("vec", "product", "tanh(M @ ", vec(), ")")
        ways += [product] * 5
        for text in scope.of("ops"):
            ways += [lambda t=text: Node("vec", "grouped product", f"tanh(K[{t}] @ ", vec(), ")")] * 6
        for fn in self.fns:
            ways += [lambda fn=fn: Node("vec", "fn with dims", f"{fn}(", vec(), ", ", vec(), ")")] * 2
        layers = {"lin": ("nn.Linear", "tanh(lin(", vec, "))"), "norm": ("nn.LayerNorm", "norm(", vec, ")"), "gru": ("nn.GRU", "gru.step(", vec, ", ", vec, ")"),
                  "own": ("own layer", "own(", vec, ")")}
        for layer, (tag, *parts) in layers.items():
            if layer in self.layers:
                ways += [lambda tag=tag, parts=parts: Node("vec", tag, *[part() if callable(part) else part for part in parts])] * 2
        if "run" in self.layers:
            ways.append(lambda: Node("vec", "nn.LSTM", "run.last(", self.expr("list", scope, depth), ")"))
        ways += [lambda: Node("vec", "record literal", self.expr("rec", scope, depth), ".h")]
        if self.elements(scope):
            ways += [lambda: self.reduce("vec", scope, depth)] * 9
            ways += [lambda: self.fold_tuple(scope, depth)] * 2
            ways += [lambda: self.of_list(scope, depth)] * 4
        return ways

    def of_list(self, scope, depth):
        """A vector out of a list value, which a let has named."""
        v, kind = self.name("xs"), "vec"
        value = self.expr("list", scope, depth)
        tag, text = self.pick([("sum(xs)", f"sum({v})"), ("element", f"{v}[0]"), ("element from end", f"{v}[-1]"), ("slice from", f"sum({v}[1..])"),
                               ("slice to", f"sum({v}[..-1])"), ("max(xs)", f"max({v})"), ("mean(xs)", f"mean({v})"),
                               ("zip lists", f"sum((p{v}, q{v}) in zip({v}, reverse({v}))) {{ p{v} * q{v} }}"), ("element by len", f"{v}[len({v}) - 1]")])
        return Node(kind, "block", "(if true { ", Node("let", "let", f"let {v} = ", value, "; "),
                    f"if len({v}) == 0 {{ b1 }} else {{ ", Node(kind, tag, text), " } } else { b0 })")

    def plain_wec(self, scope):
        return [lambda: Node("wec", "param", "c0"), lambda: Node("wec", "ones", "ones(e)"), lambda: Node("wec", "fill", "fill(0.5, e)")]

    def deep_wec(self, scope, depth):
        return [lambda: Node("wec", "product", "tanh(V @ ", self.expr("vec", scope, depth), ")"),
                lambda: Node("wec", "add", "(", self.expr("wec", scope, depth), " + ", self.expr("f32", scope, depth), ")")]

    def plain_mat(self, scope):
        return [lambda: Node("mat", "param", "M"), lambda: Node("mat", "fill", "fill(0.5, d, d)")] + [
            lambda t=text: Node("mat", "row of a param", f"K[{t}]") for text in scope.of("ops")]

    def deep_mat(self, scope, depth):
        mat, vec = lambda: self.expr("mat", scope, depth), lambda: self.expr("vec", scope, depth)
        ways = [lambda: Node("mat", "product", "tanh(M @ ", mat(), ")"), lambda: Node("mat", "transpose", "transpose(", mat(), ")"),
                lambda: Node("mat", "broadcast", "(reshape(", vec(), ", d, 1) * ", vec(), ")"), lambda: Node("mat", "add", "(0.5 * (", mat(), " + ", mat(), "))"),
                lambda: Node("mat", "matrix product", "tanh(", mat(), " @ ", mat(), ")")]
        if self.elements(scope):
            ways += [lambda: self.reduce("mat", scope, depth)] * 3
        return ways

    def plain_rec(self, scope):
        return [lambda: Node("rec", "record", "State { h = ", self.expr("vec", Scope(), 0), ", c = b0 }")]

    def deep_rec(self, scope, depth):
        vec = lambda: self.expr("vec", scope, depth)
        ways = [lambda: Node("rec", "record", "State { h = ", vec(), ", c = ", vec(), " }")] * 3
        ways += [lambda: Node("rec", "fn with record", "swap(", self.expr("rec", scope, depth), ")")] * 2
        return ways

    def plain_tup(self, scope):
        return [lambda: Node("tup", "tuple", "(", self.expr("vec", scope, 0), ", ", self.expr("f32", scope, 0), ")")]

    def deep_tup(self, scope, depth):
        return [lambda: Node("tup", "tuple", "(", self.expr("vec", scope, depth), ", ", self.expr("f32", scope, depth), ")")]

    # Numbers.
    def plain_f32(self, scope):
        ways = [self.number]
        for kind, tag, text in [("int", "int to f32", "clip(f32({}) * 0.1, -2.0, 2.0)"), ("idx", "index to f32", "(f32({}) * 0.1)"),
                                ("vec", "element of tensor", "{}[0]"), ("vec", "element from end", "{}[-1]"), ("bool", "bool to number", "f32(int({}))")]:
            for name in scope.of(kind):
                ways.append(lambda n=name, tag=tag, text=text: Node("f32", tag, text.format(n)))
        return ways

    def deep_f32(self, scope, depth):
        vec, flt = lambda: self.expr("vec", scope, depth), lambda: self.expr("f32", scope, depth)
        ways = []
        for tag, *parts in [("dot", "tanh(", vec, " @ ", vec, ")"), ("sum of tensor", "tanh(sum(", vec, "))"), ("mean of tensor", "mean(", vec, ")"),
                            ("max of tensor", "max(", vec, ")"), ("min of tensor", "min(", vec, ")"), ("logsumexp of tensor", "logsumexp(", vec, ")"),
                            ("argmax of tensor", "(f32(argmax(", vec, ")) * 0.1)"), ("add", "(", flt, " + ", flt, ")"), ("multiply", "(", flt, " * ", flt, ")"),
                            ("tanh", "tanh(", flt, ")"), ("sigmoid", "sigmoid(", flt, ")"),
                            ("maximum", "maximum(", flt, ", ", flt, ")"), ("element of tensor", vec, "[0]")]:
            ways.append(lambda tag=tag, parts=parts: Node("f32", tag, *[part() if callable(part) else part for part in parts]))
        if self.elements(scope):
            ways += [lambda: self.reduce("f32", scope, depth)] * 4
            text = self.pick(self.elements(scope))[0]
            ways.append(lambda: Node("f32", "len", f"(f32(len({text})) * 0.1)"))
        return ways

    def plain_bool(self, scope):
        ways = [lambda: Node("bool", "literal", self.pick(["true", "false"]))]
        for text in scope.of("bool"):
            ways += [lambda t=text: Node("bool", "bool field", t)] * 6
        for text in scope.of("int"):
            ways += [lambda t=text: Node("bool", "int comparison", f"({t} {self.pick(['<', '>', '==', '!=', '<=', '>='])} {self.pick([0, 1, 2])})")] * 6
        for kind in ("idx", "ops"):
            for text in scope.of(kind):
                ways += [lambda t=text: Node("bool", "index comparison", f"({t} {self.pick(['<', '==', '!='])} 1)")] * 3
        for listed in self.elements(scope):
            ways += [lambda t=listed[0]: Node("bool", "len", f"(len({t}) {self.pick(['<', '>', '=='])} {self.pick([1, 2])})")] * 3
        return ways

    def deep_bool(self, scope, depth):
        flag = lambda: self.expr("bool", scope, depth)
        ways = [lambda: Node("bool", "and", "(", flag(), " && ", flag(), ")"), lambda: Node("bool", "or", "(", flag(), " || ", flag(), ")"),
                lambda: Node("bool", "not", "(!", flag(), ")")]
        for text in scope.of("idxs"):
            ways += [lambda t=text: Node("bool", "any", f"any({t}x in {t}) {{ {t}x == 1 }}".replace(f"{t}x", self.fresh_for()))] * 3
            ways += [lambda t=text: Node("bool", "all", f"all({t}x in {t}) {{ {t}x < 2 }}".replace(f"{t}x", self.fresh_for()))] * 3
        return ways

    def fresh_for(self):
        return self.name("w")

    # Declarations.
    def decl(self, tag, *parts):
        node = Node("decl", tag, *parts, "\n")
        self.decls.append(node)
        return node

    def program(self):
        r = self.random
        self.decl("model", "model drawn;\nimport nn;\n")
        self.decl("dim", f"dim vocab = {r.randint(2, 7)}, ops = {r.randint(2, 3)}, d = {r.choice([2, 3, 5])}, e = {r.choice([1, 2, 3, 4])};\n")
        self.data()
        self.decl("record", "record State { h: f32[d]; c: f32[d]; }")
        for text in ["param E: f32[vocab, d] = normal(0, 0.7);", "param b0: f32[d] = uniform(-1, 1);", "param b1: f32[d] = 0.25;", "param c0: f32[e] = uniform(-1, 1);",
                     "param M: f32[d, d];", "param K: f32[ops, d, d] = glorot();", "param W2: f32[d, 2 * d];", "param We: f32[d, e + d];", "param V: f32[e, d];"]:
            self.decl("initialiser" if "=" in text else "param", text)
        self.layers = {}
        for name, text in [("lin", "nn.Linear[d, d]"), ("norm", "nn.LayerNorm[d]"), ("gru", "nn.GRU[d, d]"), ("run", "nn.LSTM[d, d]"), ("own", "Own[d]")]:
            if self.chance(0.4):
                self.layers[name] = self.decl("layer", f"param {name}: {text};")
        if "own" in self.layers:
            self.decl("layer", "layer Own[m] { param A: f32[m, m], a: f32[m] = 0.1; fn call(x: f32[m]) -> f32[m] { tanh(A @ x + a) } }")
        self.fns = []
        for _ in range(self.pick([1, 2])):
            name = self.name("f")
            body = self.pick(["tanh(x) * y", "0.5 * (x + y)", "x * softmax(y)", "maximum(x, y) - mean(x)", "sigmoid(x @ y) * x + y"])
            self.decl("fn", f"fn {name}[n](x: f32[n], y: f32[n]) -> f32[n] {{ {body} }}")
            self.fns.append(name)
        self.decl("fn", "fn swap(s: State) -> State { State { h = s.c, c = s.h } }")
        cells = []
        for _ in range(self.pick([1, 1, 2])):
            cells += self.group(cells)
        if self.chance(0.8):
            cells += self.list_cell(cells)
        self.entries(cells)
        return Node("program", "program", *self.decls)

    def data(self):
        """Data types: every one has a constructor that needs no node, so that structures end."""
        r = self.random
        names = [f"T{i}" for i in range(r.choice([1, 1, 2, 2, 3]))]
        self.types = {name: None for name in names}
        payload = [("word", "idx"), ("word", "idx"), ("x", "f32"), ("feature", "vec"), ("flag", "bool"), ("count", "int"), ("op", "ops"), ("notes", "idxs"),
                   ("tints", "floats"), ("rows", "vecs")]
        for name in names:
            constructors = []
            many = r.choice([1, 2, 2, 3])
            for number in range(many):
                fields = dict(r.sample(payload, r.randint(1, 4)))
                if number == many - 1:  # the last one holds the nodes; single constructors hold lists only
                    others = r.sample(names, r.randint(1, min(2, len(names))))
                    for other in [name] + others:
                        if self.chance(0.5) or many == 1:
                            fields[f"kids{other[1:]}"] = f"[{other}]"
                        else:
                            fields[f"left{other[1:]}"] = other
                            if self.chance(0.5):
                                fields[f"right{other[1:]}"] = other
                elif number > 0 and self.chance(0.4):
                    other = r.choice(names)
                    fields[f"kids{other[1:]}"] = f"[{other}]"
                constructors.append((f"C{number}" if many > 1 else name, list(fields.items())))
            self.types[name] = constructors
        for name, constructors in self.types.items():
            text = [f"{c}" + (f"({', '.join(f'{f}: {KINDS.get(k, k)}' for f, k in fields)})" if fields else "") for c, fields in constructors]
            tag = "constructors" if len(text) > 1 else "one constructor"
            self.decl(tag, f"data {text[0]};" if len(text) == 1 else f"data {name} {{ {'; '.join(text)}; }}")
            for _, fields in constructors:
                for _, kind in fields:
                    self.decls[-1].parts.append(Node("note", "field " + ("node" if kind in self.types else "nodes" if kind[1:-1] in self.types else kind), ""))

    def group(self, before):
        """Cells that call each other, one a data type."""
        made = [(self.name("cell"), name, self.pick(["vec", "vec", "vec", "rec", "rec", "tup", "f32", "mat"])) for name in self.types]
        inside = [(cell, takes, gives, True, "") for cell, takes, gives in made]
        for cell, takes, gives in made:
            outer = [(n, t, g, False, e) for n, t, g, _, e in before]
            scope = Scope([("t", takes, False)], outer + inside)
            constructors = self.types[takes]
            if len(constructors) == 1:
                fields = [(f"t.{f}", k, True) for f, k in constructors[0][1]]
                body = self.tamed(gives, scope.with_(*fields), self.pick([2, 3]))
            else:
                kind = gives
                body = Node(gives, "block", "{ ", self.cell_match(kind, scope, takes), " }")
            self.decl("cell", f"cell {cell}(t: {takes}) -> {KINDS[gives]} ", body)
        return [(cell, takes, gives, False, "") for cell, takes, gives in made]

    def cell_match(self, kind, scope, takes):
        parts = ["match t { "]
        for constructor, fields in self.types[takes]:
            bound = [(self.name(field), its, True) for field, its in fields]
            pattern = ", ".join(f"{field} = {local}" for (field, _), (local, _, _) in zip(fields, bound))
            parts += [constructor + (f"({pattern})" if pattern else ""), " => ", self.tamed(kind, scope.with_(*bound), self.pick([1, 2, 2])), " "]
        return Node(kind, "match", *parts, "}")

    def list_cell(self, cells):
        for name, constructors in self.types.items():
            if len(constructors) == 1 and any(k[0] == "[" or k in ("idxs", "vecs", "floats") for _, k in constructors[0][1]):
                scope = Scope([("t", name, False)] + [(f"t.{f}", k, True) for f, k in constructors[0][1]], cells)
                cell = self.name("list")
                value = self.expr("list", scope, 2)
                self.decl("cell that returns a list", f"cell {cell}(t: {name}) -> [f32[d]] {{ ", value, " }")
                return [(cell, name, "list", False, "")]
        return []

    def entries(self, cells):
        root = self.pick(list(self.types))
        scope = Scope([("t", root, True)], cells)
        mine = [c for c in cells if c[1] == root]
        own = [c for c in mine if c[2] != "list"]
        cell, _, gives, _, extra = own[-1]
        kind = self.pick(["vec", "f32", "rec", "mat"])
        self.decl("entry for the root", f"entry root(t: {root}) -> {KINDS[gives]} {{ {cell}(t{extra}) }}")
        if self.chance(0.6):
            self.decl("entry for every node", f"entry everywhere(t: {root}) -> [{KINDS[gives]}] {{ map(n in nodes(t)) {{ {cell}(n{extra}) }} }}",
                      Node("note", "nodes", ""))
        if self.chance(0.5):
            self.decl("entry on a list", f"entry each(ts: [{root}]) -> [f32[d]] {{ map(t in ts) ", self.block("vec", scope, 1), " }")
        for cell, takes, gives, _, _ in cells:
            if gives == "list":
                self.decl("entry", f"entry listed(t: {takes}) -> [f32[d]] {{ ", Node("list", "list of a cell", f"{cell}(t)"), " }")
        if self.chance(0.3):
            inner = Scope([("ws", "idxs", True)], cells)
            self.decl("entry for list elements", f"entry words(ws: [index[vocab]]) -> [f32[d]] {{ ", self.expr("list", inner, 2), " }")
        if self.chance(0.4):
            self.decl("entry on two arguments", f"entry pair(t: {root}, g: f32[d]) -> {KINDS[kind]} ", self.block(kind, scope.with_(("g", "vec")), 2))
        if self.chance(0.4):
            self.decl("loss", f"loss miss(t: {root}, y: index[d]) {{ cross_entropy(2.0 * ", self.expr("vec", scope, 2), ", y) }", Node("note", "cross_entropy", ""))
        elif self.chance(0.4):
            self.decl("loss with outputs", f"loss binary(t: {root}) -> (f32, f32[d]) {{ (binary_cross_entropy(tanh(", self.expr("f32", scope, 2), "), 1.0), ",
                      self.expr("vec", scope, 1), ") }", Node("note", "binary_cross_entropy", ""))


# Running.
class Outcome:
    def __init__(self, what, text, seconds=0.0):
        self.what, self.text, self.seconds = what, text, seconds  # what: fine, refused, unfit, failure

    def signature(self):
        """What stays of a message when names and numbers are taken away: shrinking must keep it."""
        lines = [line for line in self.text.splitlines() if "error" in line or "Assertion" in line] or self.text.splitlines()[:1]
        line = re.sub(r"^\S*:\d+:\d+: |^\S+\.dyn:\S* ", "", lines[0]) if lines else ""
        line = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"|[a-z]+:", "_", re.sub(r": the oracle gives.*|all in one batch gives.*one by one", "", line))
        return self.what + " " + re.sub(r"[-+0-9.e]+", "N", line)[:120]


def outcome(dbc, program, inputs, seed):
    with tempfile.TemporaryDirectory(prefix="dbc-property-") as folder:
        path = os.path.join(folder, "random.dyn")
        with open(path, "w") as file:
            file.write(str(program))
        start = time.monotonic()
        try:
            done = subprocess.run([dbc, "check", path], cwd=folder, capture_output=True, text=True, timeout=60)
            if done.returncode == 1:
                return Outcome("refused", done.stderr)
            if done.returncode == 0:
                done = subprocess.run([dbc, "verify", path, "-n", str(inputs), "--seed", str(seed), "--json"], cwd=folder, capture_output=True,
                                      text=True, timeout=180)
        except subprocess.TimeoutExpired:
            return Outcome("failure", "error: timed out", time.monotonic() - start)
        seconds = time.monotonic() - start
        if done.returncode == 0:
            return Outcome("fine", "", seconds)
        text = (done.stderr + done.stdout).replace(folder + "/", "")
        # Warnings come first, each of three lines.
        trouble = re.search(r"^.*(error:|rror |Assertion)", text, re.M)
        text = f"exit {done.returncode}\n" + (text[trouble.start():] if trouble else text[-3000:])
        # Inputs that are hard to draw say nothing against the compiler.
        unfit = "random inputs are valid" in text and "differ" not in text and done.returncode == 1
        return Outcome("unfit" if unfit else "failure", text, seconds)


def shrink(dbc, program, first, inputs, seed, tries, until):
    """Greedily deletes declarations and lets, and replaces expressions by smaller ones of their kind."""
    plain = {"f32": "f32(0.5)", "vec": "b0", "wec": "c0", "mat": "M", "bool": "true", "rec": "State { h = b0, c = b1 }", "tup": "(b0, f32(0.5))"}
    left = tries

    def fails(candidate):
        nonlocal left
        left -= 1
        got = outcome(dbc, candidate, inputs, seed)
        return got if got.what == "failure" and got.signature() == first.signature() else None

    def candidates(tree):
        nodes = list(tree.walk())
        for i, node in enumerate(nodes):
            size = sum(1 for _ in node.walk())
            if node.kind in ("decl", "let"):
                yield size, i, [""]
            elif node.kind in KINDS:
                braces = str(node).startswith("{")
                if node.kind in plain and size > 1:
                    text = plain[node.kind]
                    yield size, i, ["{ " + text + " }" if braces else text]
                for inner in list(node.walk())[1:]:
                    if inner.kind == node.kind and str(inner).strip() != str(node).strip():
                        wrapped = str(inner).startswith("{")
                        yield (size - sum(1 for _ in inner.walk()), i,
                               [inner] if wrapped == braces else ["{ ", inner, " }"] if braces else ["(if true ", inner, " else ", inner, ")"])

    message = first
    changed = True
    while changed and left > 0 and time.monotonic() < until:
        changed = False
        for size, i, parts in sorted(candidates(program), key=lambda c: -c[0]):
            if left <= 0 or time.monotonic() >= until:
                break
            if size <= 0:
                continue
            smaller = copy.deepcopy(program)
            node = list(smaller.walk())[i]
            node.parts = copy.deepcopy(parts)
            if len(str(smaller)) >= len(str(program)):
                continue
            got = fails(smaller)
            if got:
                program, message, changed = smaller, got, True
                break
    return program, message


def tidy(text):
    """Breaks lines at blocks, so that a person can read the program."""
    lines, depth = [], 0
    for line in text.splitlines():
        if not re.match(r"(fn|cell|entry|loss) ", line) or len(line) < 100:
            lines.append(line)
            continue
        out = ""
        for piece in re.split(r"(\{ | \}|; | => )", line):
            if piece == "{ ":
                depth += 1
                out += "{\n" + "  " * depth
            elif piece == " }":
                depth -= 1
                out += "\n" + "  " * depth + "}"
            elif piece == "; ":
                out += ";\n" + "  " * depth
            else:
                out += piece
        lines += [each for each in out.splitlines() if each.strip()]
    return "\n".join(line for line in lines if line.strip()) + "\n"


def expected():
    """Every tag that a production of this file can make, read off the file itself where it is a literal."""
    text = open(__file__).read()
    tags = set(re.findall(r'Node\((?:"\w+"|kind), "([^"]+)"', text)) | set(re.findall(r'\("([^"]+)", "[^"]*", (?:vec|flt|lambda)', text))
    tags |= {how + " over list" for how in ("sum", "mean", "max", "min", "logsumexp")}
    return tags - {"note", "program", "field ", "fold "}


# Rare or not of their own: what a name, a guard or a program without lists makes.
UNCOUNTED = {"map over range", "layer list", "literal"}


def main():
    parser = argparse.ArgumentParser(description="random programs through dbc verify")
    parser.add_argument("--dbc", required=True)
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--tries", type=int, default=60, help="how many smaller programs are tried for a failure")
    parser.add_argument("--time", type=float, default=1e9, help="seconds after which no further program is begun")
    parser.add_argument("--show", action="store_true", help="print the programs and stop")
    parser.add_argument("--keep", help="write failures into this folder")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.programs} programs", flush=True)
    seeds = [options.seed * 1000003 + i for i in range(options.programs)]
    if options.show:
        for seed in seeds:
            print(f"// seed {seed}\n" + tidy(str(Generator(seed).program())))
        return 0
    counts, verdicts, seconds, signatures = collections.Counter(), collections.Counter(), [], {}
    deadline = time.monotonic() + options.time

    def one(seed):
        if time.monotonic() >= deadline:
            return seed, None, None
        program = Generator(seed).program()
        return seed, program, outcome(options.dbc, program, options.inputs, 1)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, program, got in pool.map(one, seeds):
            if program is None:
                continue
            verdicts[got.what] += 1
            seconds.append(got.seconds)
            if got.what != "refused":
                counts.update(node.tag for node in program.walk())
            if got.what == "fine":
                continue
            print(f"program {seed} is {got.what}: {got.text[:400].rstrip()}", flush=True)
            if got.what == "refused":
                print(tidy(str(program)), flush=True)
            signature = got.signature()
            if got.what == "failure" and signature not in signatures:
                signatures[signature] = seed
                small, message = shrink(options.dbc, program, got, options.inputs, 1, options.tries, deadline)
                print(f"seed {seed}, cut down:\n{tidy(str(small))}\n{message.text[:600]}", flush=True)
                if options.keep:
                    name = os.path.join(options.keep, f"program-{seed}")
                    open(name + ".dyn", "w").write(f"// random_programs.py, program {seed}\n" + tidy(str(small)))
                    open(name + ".txt", "w").write(message.text[:3000])
    done = sum(verdicts.values())
    print(json.dumps({"seed": options.seed, "programs": done, **verdicts, "seconds a program": round(sum(seconds) / max(1, len(seconds)), 2)}))
    rare = {tag for tag in expected() - UNCOUNTED if counts[tag] < 10}
    for tag in sorted(set(counts) | expected()):
        print(f"  {counts[tag]:6} {tag}" + (" (rare)" if tag in rare else ""))
    bad = verdicts["failure"] > 0 or verdicts["refused"] > 0.02 * done or done == 0
    if done >= 100 and rare:
        print("too rare: " + ", ".join(sorted(rare)))
        bad = True
    print("FAILED" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
