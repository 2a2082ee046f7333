# Random expressions by the grammar. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import functools
import re

from . import grammar
from .tree import Piece

HOLE = re.compile(r"<(\w+)([.!]?)(?:\|([\w:,]+))?>|\{(\w+)([.!]?)(?:\|([\w:,]+))?\}|#(\w+)|@(\w+)|\$(\w+)")


@functools.lru_cache(maxsize=None)
def holes(template):
    """Whether a template needs a list, the kinds of variables that it needs, and the kinds of its expressions."""
    matches = list(HOLE.finditer(template))
    return (
        any(m[8] for m in matches),
        frozenset(m[9] for m in matches if m[9]),
        frozenset(m[1] or m[4] for m in matches if m[1] or m[4]),
    )


class Variable:
    """`below`: a node that the cells of the recursion being defined may be called with."""

    def __init__(self, text, kind, below=False):
        self.text, self.kind, self.below = text, kind, below


class Cell:
    """`captured`: kinds of its captured arguments, by their names in it; `changing`: where it calls itself it gives others."""

    def __init__(self, name, takes, gives, recursive=False, captured=(), changing=False):
        self.name, self.takes, self.gives, self.recursive = name, takes, gives, recursive
        self.captured, self.changing = dict(captured), changing


class Scope:
    """What can be named at a place. `around`: names that stand there too, but not for what is drawn."""

    def __init__(self, variables=(), cells=(), around=()):
        self.variables, self.cells = list(variables), list(cells)
        self.names = {v.text for v in self.variables}.union(around)
        self.usable, self.rarest = {}, {}  # found so far: whether by template, how rare by kind

    def plus(self, *more):
        return Scope(self.variables + list(more), self.cells, self.names)

    def of(self, kind):
        return [v for v in self.variables if v.kind == kind]

    def calls(self, kind):
        """(cell, variable that it may be called with)"""
        # Values that depend on the lists of a state are not captured arguments yet.
        in_state = any(v.text.startswith("hs") for v in self.of("vecs"))
        return [
            (cell, v)
            for v in self.variables
            for cell in self.cells
            if v.kind == cell.takes and cell.gives == kind and (v.below or not cell.recursive)
            and not (cell.captured and in_state)
        ]

    def lists(self):
        """(variable, kind of its elements) of every list that a binder can go over."""
        return [
            (v, grammar.ELEMENT.get(v.kind, v.kind[1:-1]))
            for v in self.variables
            if v.kind in grammar.ELEMENT or v.kind[0] == "["
        ]


class Expressions:
    """Draws expressions. `counts` says how often each tag occurred so far: what occurred less than `pace` times is late and
    drawn rather."""

    def __init__(self, random, counts, pace):
        self.random, self.counts, self.pace = random, counts, pace
        self.types = {}  # constructors by data type: (name, [(field, kind)])
        self.fresh = 9  # so that no name is one of the grammar's

    def name(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def chance(self, p):
        return self.random.random() < p

    def choose(self, productions, kind=None, scope=None):
        """By weight; while something is late, rather the one that leads to what is rarest, itself or in an expression of
        another kind below it."""

        def rarity(production):
            below = holes(production[1])[2] - {kind} if scope else ()
            return min(
                [self.counts[tag] for tag in production[0].split("+")]
                + [1 + self.rarest(each, scope) for each in below]
            )

        if self.chance(0.85):
            best = min(productions, key=lambda p: (rarity(p), self.random.random()))
            if rarity(best) < self.pace:
                return best
        return self.random.choices(productions, [p[2] if len(p) > 2 else 1 for p in productions])[0]

    def rarest(self, kind, scope):
        if kind not in scope.rarest:
            productions = grammar.PLAIN.get(kind, []) + grammar.DEEP.get(kind, [])
            scope.rarest[kind] = min(
                (self.counts[p[0].split("+")[0]] for p in productions if self.usable(p, scope)), default=1000
            )
        return scope.rarest[kind]

    def usable(self, production, scope):
        """Whether the place has the variables and lists that the template asks for."""
        template = production[1]
        if template not in scope.usable:
            lists, names, _ = holes(template)
            scope.usable[template] = (not lists or bool(scope.lists())) and all(
                self.pair(scope) if name.startswith("node") else scope.of(name) for name in names
            )
        return scope.usable[template]

    def pair(self, scope):
        """Two nodes of one type, if there are."""
        nodes = [v for v in scope.variables if v.kind in self.types]
        return [(a, b) for a in nodes for b in nodes if a is not b and a.kind == b.kind]

    def expression(self, kind, scope, depth):
        calls = scope.calls(kind)
        # A call is what makes a model recursive: it is preferred where one is possible.
        if calls and self.chance(0.3 if depth > 0 else 0.6):
            return self.call(kind, *self.random.choice(calls), [v for _, v in calls], scope)
        if depth > 0 and self.chance(0.95):
            ways = (
                [(p[0], p[1].replace("{T}", "{" + kind + "}"), *p[2:]) for p in grammar.ANY] if kind != "list" else []
            )
            ways += [(tags, text, 0.1) for tags, text, *_ in grammar.PLAIN[kind]]
            ways = [p for p in grammar.DEEP.get(kind, []) + ways if self.usable(p, scope)]
            if kind != "list" and any(v.kind in self.types for v in scope.variables):
                ways.append(("match", "match", 2))
            if ways:
                return self.fill(kind, self.choose(ways, kind, scope), scope, depth - 1)
        names = scope.of(kind) + (scope.of("vecs") if kind == "list" else [])
        if names and self.chance(0.6):
            return Piece(kind, [], self.random.choice(names).text)
        return self.fill(kind, self.choose([p for p in grammar.PLAIN[kind] if self.usable(p, scope)]), scope, 0)

    def call(self, kind, cell, node, nodes, scope):
        """A cell of a node, or of one of two."""
        others = [v for v in nodes if v.kind == node.kind and v is not node and (v.below or not cell.recursive)]
        if cell.captured:
            return Piece(kind, ["call of a cell"], f"{cell.name}({node.text}", *self.values(cell, scope), ")")
        if not others or not self.chance(0.3):
            return Piece(kind, ["call of a cell"], f"{cell.name}({node.text})")
        other, which = self.random.choice(others), self.expression("bool", scope, 0)
        if self.chance(0.5):
            children = [f"pick{node.kind}({node.text}, {other.text}, ", which, ")"]
            return Piece(kind, ["call of a cell", "fn that gives a node"], f"{cell.name}(", *children, ")")
        children = ["(if ", which, f" {{ {node.text} }} else {{ {other.text} }})"]
        return Piece(kind, ["call of a cell", "structural if of a node"], f"{cell.name}(", *children, ")")

    def values(self, cell, scope):
        """What a cell captures. Not of lists, which may be a state: those hold none of what cells capture. Lists that it
        captures, and what it captures beside them, are of no states, which may be what a recursion gives."""
        plain = Scope([v for v in scope.variables if v.kind not in grammar.ELEMENT and v.kind[0] != "["], around=scope.names)
        still = Scope([v for v in plain.variables if v.kind not in ("vec", "f32", "rec", "lst", "tup", "mat")], around=scope.names)
        children = []
        for name, kind in cell.captured.items():
            if cell.recursive and (not cell.changing or kind == "vecs"):
                children.append(f", {name}")
            elif kind == "vecs":
                new = self.name("z")
                children += [f", map({new} in 0..2) {{ ", self.expression("vec", still, 0), f" * f32({new}) }}"]
            else:
                children += [", ", self.expression(kind, still if "m" in cell.captured else plain, self.random.choice([0, 0, 1]))]
        return children

    def fill(self, kind, production, scope, depth, braced=False):
        tags, template = production[:2]
        if template == "match":
            return self.match(kind, scope, depth)
        kinds, texts, variables = {}, {}, {}
        lists, nodes = scope.lists(), self.pair(scope)
        if lists:
            for name, elem in (("xs", "elem"), ("ys", "elem2")):
                variables[elem], kinds[elem] = self.random.choices(
                    lists, [4 if kind in self.types else 1 for _, kind in lists]
                )[0]
                texts["@" + name] = variables[elem].text
        if nodes:
            texts["$node"], texts["$node2"] = (v.text for v in self.random.choice(nodes))
        children, end = [], 0
        for match in HOLE.finditer(template):
            children.append(template[end : match.start()])
            end = match.end()
            expression, how, inner, block, block_how, block_inner, new, at, dollar = match.groups()
            if expression or block:
                more = []
                for each in (inner or block_inner or "").split(","):
                    if each:
                        name, its = each.split(":")
                        more.append(
                            Variable(
                                texts.setdefault("#" + name, self.name(name)),
                                kinds.get(its, its),
                                variables[its].below if its in variables else False,
                            )
                        )
                make = self.block if block else self.tamed if how == "!" else self.expression
                its = expression or block
                # Numbers and conditions stand at the leaves; they may be one level deeper, so that they are not all plain.
                below = 0 if "." in (how, block_how) else max(depth, its != kind and its in ("f32", "bool"))
                children.append(make(its, scope.plus(*more), below, *([block_how == "!"] if block else [])))
            elif new:
                children.append(texts.setdefault("#" + new, self.name(new)))
            elif at:
                children.append(texts["@" + at])
            else:
                children.append(texts.get("$" + dollar) or self.random.choice(scope.of(dollar)).text)
        return Piece(kind, tags.split("+"), *children, template[end:], braced=braced)

    def tamed(self, kind, scope, depth):
        if kind not in grammar.TAMED:
            return self.expression(kind, scope, depth)
        ways = [p for p in grammar.TAMED[kind] if self.usable(p, scope) and (depth > 0 or "!" not in p[1])]
        production = self.choose(ways)
        return self.fill(kind, production, scope, depth - ("!" in production[1]))

    def block(self, kind, scope, depth, tamed=False):
        """{ let ..; value }"""
        children = ["{ "]
        for _ in range(self.random.choice([0, 1, 1, 2]) if depth > 0 else 0):
            ways = [
                p
                for p in grammar.LETS
                if self.usable(p, scope) and ("list" not in p[3].values() or scope.lists())
            ]
            production = self.choose(ways)
            let = self.fill("let", production, scope, depth - 1)
            let.children.append(" ")
            pattern = "".join(child for child in let.children if isinstance(child, str)).split("=")[0].split(":")[0]
            let.names = re.findall(r"\w+\d+", pattern)
            children.append(let)
            scope = scope.plus(*(Variable(name, its) for name, its in zip(let.names, production[3].values())))
        value = (self.tamed if tamed else self.expression)(kind, scope, depth)
        return Piece(kind, [], *children, value, " }", braced=True)

    def match(self, kind, scope, depth):
        subject = self.random.choice([v for v in scope.variables if v.kind in self.types])
        return Piece(
            kind, ["match"], f"(match {subject.text} ", self.arms(kind, scope, subject.kind, depth, wild=0.6), ")"
        )

    def arms(self, kind, scope, data, depth, wild=0.0, tamed=False):
        """{ Constructor(field = name) => { .. } .. }"""
        children, constructors = ["{ "], self.types[data]
        for number, (constructor, fields) in enumerate(constructors):
            if number == len(constructors) - 1 > 0 and self.chance(wild):
                children.append(Piece("arm", ["arm for the rest"], "_ => ", self.block(kind, scope, depth, tamed)))
                continue
            # A field binds its own name where nothing is called so.
            taken = {v.text for v in scope.variables}
            own = {field for field, _ in fields if field not in taken and self.chance(0.2)} - scope.names
            bound = [(field, Variable(field if field in own else self.name(field), its, True)) for field, its in fields]
            pattern = Piece(
                "pattern",
                [] if fields else ["arm without fields"],
                *(
                    Piece("bind", ["field that is bound by its name"], field, names=[field])
                    if field in own
                    else Piece("bind", ["field that is renamed"], f"{field} = {v.text}", names=[v.text])
                    for field, v in bound
                ),
                group=True,
            )
            inside = scope.plus(*(v for _, v in bound))
            if depth > 0 and self.chance(0.2):
                value = (self.tamed if tamed else self.expression)(kind, inside, depth)
                children += [constructor, pattern, " => ", Piece(kind, ["arm without braces"], value), ", "]
            else:
                children += [constructor, pattern, " => ", self.block(kind, inside, depth, tamed), " "]
        return Piece("arms", [], *children, "}")
