# Random programs: data types, cells, entries. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import math
import random

from . import grammar, tensors
from .expressions import Cell, Expressions, Scope, Variable
from .tree import Piece, Program

# Fields that hold no nodes.
FIELDS = [
    ("word", "idx"),
    ("word", "idx"),
    ("x", "f32"),
    ("feature", "vec"),
    ("flag", "bool"),
    ("flag", "bool"),
    ("count", "int"),
    ("op", "ops"),
    ("label", "lab"),
    ("codes", "tags"),
    ("codes", "tags"),
    ("notes", "idxs"),
    ("tints", "floats"),
    ("rows", "vecs"),
    ("marks", "labs"),
    ("marks", "labs"),
    ("signs", "flags"),
    ("sums", "ints"),
    ("pages", "pages"),
    ("grid", "mat"),
    ("bits", "bits"),
    ("nums", "nums"),
]


class Declarations(Expressions):
    def __init__(self, number, seed, counts):
        super().__init__(random.Random(f"{seed}/{number}"), counts, pace=0.2 * (number + 1))
        self.number, self.decls, self.dims = number, [], {}

    def program(self):
        for name, (low, high) in grammar.DIMS.items():
            value = self.random.randint(low, high)
            if name == "d" and self.number % 4 == 3:
                value = self.random.choice(grammar.WIDE)
            if self.chance(0.3):
                self.dims[name] = value
                self.declare("dim of the command line", name, f"dim {name};")
            else:
                self.declare("dim", name, f"dim {name} = {value};")
        for tags, text, *names in grammar.DECLS:
            self.declare(tags, names, text)
        self.data()
        cells = []
        for _ in range(self.random.choice([1, 1, 2])):
            cells += self.group(cells)
        cells += self.layer_cell(cells)
        cells += self.list_cell(cells)
        cells += self.capturing_cell(cells)
        self.entries(self.keyed_cell(cells) + self.placed_cell(cells) + cells)
        if self.chance(0.5):
            self.tensor_dims()
            self.tensor_entry(self.random.choice(tensors.RANKS))
        return Program(self.number, Piece("program", [], *self.decls), self.dims).prune()

    def tensor_program(self):
        """A program of nothing but tensors, an entry a rank."""
        self.declare("dim", "d", "dim d = 4;")  # what conditions compare numbers with
        self.tensor_dims()
        for rank in tensors.RANKS:
            self.tensor_entry(rank)
        return Program(self.number, Piece("program", [], *self.decls), self.dims).prune()

    def tensor_dims(self):
        self.lengths = tensors.draw_dims(self.random)
        for name, value in zip(tensors.AXES[4], self.lengths):
            self.declare("dim", name, f"dim {name} = {value};")

    def tensor_entry(self, rank):
        """Results of every number type, of operands that the input holds."""
        kinds = {"x": f"x{rank}", "y": f"x{rank}", "i": f"i{rank}", "k": f"i{rank}", "c": f"z{rank}", "b": f"z{rank}"}
        if rank > 1:
            kinds["v"] = f"x{rank - 1}"
        values = [Variable(name, kind) for name, kind in kinds.items()]
        values += [Variable(v.text, "t" + v.kind[1]) for v in values if v.kind[0] == "x"]
        scope = Scope(values + [Variable("up", "bool"), Variable("n", "int")])
        size = math.prod(self.lengths[-rank:])
        tags = [f"tensors of {rank} axes", "tensors of more than 256 elements" if size > 256 else "tensors of few elements"]
        if rank > 1 and size >= 32 and self.lengths[-1] in (2, 4, 8, 16):
            tags.append("tensors of short rows")
        arguments = ", ".join(f"{name}: {grammar.KINDS[kind]}" for name, kind in kinds.items())
        results = [f"{kind}{rank}" for kind in "tiz"]
        children = []
        for kind in results:
            children += [", " if children else "", self.expression(kind, scope, self.random.choice([1, 2, 2, 3]))]
        types = ", ".join(grammar.KINDS[kind] for kind in results)
        self.entry("+".join(tags), f"tensors{rank}({arguments}, up: bool, n: int) -> ({types}) {{ (", *children, ") }")

    def declare(self, tags, names, *children, kind="decl"):
        names = [names] if isinstance(names, str) else names
        self.decls.append(Piece(kind, tags.split("+"), *children, "\n", names=names))

    def data(self):
        """Every type has a constructor that needs no node, so that structures end, and one that goes on, so that they grow."""
        names = [f"T{i}" for i in range(self.random.choice([1, 1, 2, 2, 3]))]
        self.types = {name: [] for name in names}
        for name in names:
            many = self.random.choice([1, 2, 2, 3])
            for number in range(many):
                fields = dict(
                    [("count", "int")] * self.chance(0.6) + self.random.sample(FIELDS, self.random.randint(2, 5))
                )
                last = number == many - 1
                for other in (
                    [name] + self.random.sample(names, self.random.randint(1, len(names)))
                    if last
                    else names[:1] if self.chance(0.2) else []
                ):
                    stem = other[1:]
                    if many == 1 or not last or self.chance(0.5):
                        fields["kids" + stem] = f"[{other}]"
                    else:
                        fields["left" + stem] = other
                        if self.chance(0.6):
                            fields["right" + stem] = other
                if last and self.chance(0.15):
                    fields["rings"] = f"[[{name}]]"
                self.types[name].append((f"C{number}" if many > 1 else name, list(fields.items())))
            if many > 1 and self.chance(0.2):
                self.types[name].insert(0, ("Nil", []))
        for name, constructors in self.types.items():
            self.declare("fn on nodes", f"pick{name}", f"fn pick{name}(a: {name}, b: {name}, c: bool) -> {name} {{ if c {{ a }} else {{ b }} }}")
            lines = [
                Piece(
                    "constructor",
                    [] if fields else ["constructor without fields"],
                    constructor,
                    Piece("fields", [], *(self.field(name, *each) for each in fields), group=True),
                )
                for constructor, fields in constructors
            ]
            if len(lines) == 1:
                self.declare("data with one constructor", name, "data ", lines[0], ";")
            else:
                self.declare(
                    "data with several constructors",
                    name,
                    f"data {name} {{ ",
                    *sum(([line, "; "] for line in lines), []),
                    "}",
                )

    def field(self, owner, field, kind):
        element = kind.strip("[]")
        tags = ["field of " + ("numbers" if kind not in grammar.ELEMENT else "a list of numbers")]
        if element in self.types:
            tags = [
                ("field of a node", "field of a list of nodes", "field of lists of nodes")[len(kind) - len(kind.lstrip("["))]
            ]
            if element < owner and any(
                owner == each.strip("[]") for _, fields in self.types[element] for _, each in fields
            ):
                tags.append("mutually recursive types")
        return Piece("field", tags, f"{field}: {grammar.KINDS.get(kind, kind)}")

    def group(self, before):
        """Cells that call each other, one a data type."""
        gives = [(f"cell of {kind}", kind) for kind in ("vec", "rec", "lst", "tup", "f32", "mat")]
        made = [
            Cell(
                self.name("cell"),
                name,
                self.choose([(*each, 2 if each[1] in ("vec", "lst") else 1) for each in gives])[1],
                True,
            )
            for name in self.types
        ]
        tags = "cell" + ("+mutually recursive cells" if len(made) > 1 else "")
        for cell in made:
            self.declare(
                tags + f"+cell of {cell.gives}",
                cell.name,
                f"cell {cell.name}(t: {cell.takes}) -> {grammar.KINDS[cell.gives]} ",
                self.body(cell.takes, cell.gives, before + made, self.random.choice([2, 2, 2, 3])),
            )
        for cell in made:
            cell.recursive = False
        return made

    def body(self, takes, gives, cells, depth, values=()):
        node = Variable("t", takes)
        if len(self.types[takes]) > 1:
            return Piece(
                gives,
                ["match"],
                "{ match t ",
                self.arms(gives, Scope([node, *values], cells), takes, depth, wild=0.15, tamed=True),
                " }",
                braced=True,
            )
        fields = [Variable(f"t.{field}", kind, True) for field, kind in self.types[takes][0][1]]
        return self.block(gives, Scope([node, *values] + fields, cells), depth + 1, tamed=True)

    def layer_cell(self, cells):
        """A recursion inside a layer, of which there are two parameters."""
        if not self.chance(0.3):
            return []
        takes = self.random.choice(list(self.types))
        inner = Cell("go", takes, "vec", True)
        self.declare(
            "cell of a layer",
            "Walk",
            f"layer Walk {{ param A: f32[d, d] = normal(0, 0.1); cell go(t: {takes}) -> f32[d] ",
            Piece(
                "vec",
                [],
                "{ let y = ",
                Piece("vec", [], "(if true ", self.body(takes, "vec", cells + [inner], 1), " else { zeros(d) })"),
                "; tanh(A @ y) }",
                braced=True,
            ),
            " }",
        )
        self.declare("layer", "there", "param there: Walk;")
        self.declare("table of layers+cell of a table of layers", "walks", "param walks: [Walk; 2];")
        return [Cell(name, takes, "vec") for name in ("there.go", "walks[1].go", "walks[0].go")]

    def capturing_cell(self, cells):
        """A recursion with captured arguments, which are loop-invariant parameters or change on the way."""
        takes, name = self.random.choice(list(self.types)), self.name("given")
        changing = self.counts["value that changes"] < self.pace or self.chance(0.2)
        # Marks twice: they are the one kind that holds integers.
        kinds = [("g", "vec"), ("h", "f32"), ("m", "vecs"), ("q", "marks"), ("q", "marks")]
        captured = dict(self.random.sample(kinds, self.random.choice([1, 1, 2])))
        if changing and set(captured) == {"m"}:
            captured["g"] = "vec"
        cell = Cell(name, takes, "vec", True, captured, changing)
        types = ", ".join(f"{value}: {grammar.KINDS[kind]}" for value, kind in captured.items())
        tags = "cell+captured argument+" + ("value that changes" if changing else "loop-invariant parameter")
        self.declare(
            tags + "+captured list" * ("m" in captured),
            name,
            f"cell {name}(t: {takes}, {types}) -> f32[d] ",
            self.body(takes, "vec", cells + [cell], 2, [Variable(value, kind) for value, kind in captured.items()]),
        )
        cell.recursive = False
        return [cell]

    def keyed_cell(self, cells):
        """A cell of a node, a number and a truth, and one of two nodes; fns give the keys."""
        own = {
            takes: [field for field, kind in constructors[0][1] if kind == f"[{takes}]"]
            for takes, constructors in self.types.items()
        }
        growing = [takes for takes in own if own[takes] and len(self.types[takes]) == 1]
        takes, name = self.random.choice(growing or list(self.types)), self.name("keyed")
        # A child with the measure lowered, or with it kept.
        kept = takes in growing and (self.counts["measure that is kept"] < self.pace or self.chance(0.5))
        # What a child is heard to say: its value, or a message made of both ends.
        heard = f"{name}(k, {'i' if kept else 'i - 1'}, up)"
        messages = takes in growing and (self.counts["message over an edge"] < self.pace or self.chance(0.3))
        if messages:
            heard = f"tanh(W2 @ [{name}(t, i - 1, up), {heard}] + b0)"
        lists = [
            f"0.3 * sum(k in t.{field}) {{ {heard} }}"
            for field in (own[takes] if takes in growing else [])
        ]
        tags = "cell+cell of several keys" + "+measure that is kept" * kept + "+message over an edge" * messages
        node = Variable("t", takes)
        self.declare(
            tags,
            name,
            f"cell {name}(t: {takes}, i in 0..3, up: bool) -> f32[d] {{ let y = if i == 0 ",
            self.block("vec", Scope([node, Variable("i", "int"), Variable("up", "bool")], cells), 1),
            f" else {{ {' + '.join([f'{name}(t, i - 1, !up)'] + lists)} }}; tanh(M @ y + b1) }}",
        )
        self.declare(
            "fn on nodes",
            f"by_{name}",
            f"fn by_{name}(t: {takes}) -> f32[d] {{ {name}(t, 2, true) - 0.5 * {name}(t, 1, false) }}",
        )
        self.declare(
            "cell+cell of several nodes",
            f"two_{name}",
            f"cell two_{name}(t: {takes}, u: {takes}) -> f32[d] ",
            self.block("vec", Scope([node, Variable("u", takes)], cells), 1),
        )
        self.declare(
            "fn on nodes", f"self_{name}", f"fn self_{name}(t: {takes}) -> f32[d] {{ two_{name}(t, t) * 0.5 }}"
        )
        return [Cell(f"by_{name}", takes, "vec"), Cell(f"self_{name}", takes, "vec")]

    def placed_cell(self, cells):
        """A cell of a node and a place in a list of its; a fn gives the keys."""
        takes = self.random.choice(list(self.types))
        lists = [(field, kind) for field, kind in self.types[takes][0][1] if kind in grammar.ELEMENT or kind[0] == "["]
        if len(self.types[takes]) > 1 or not lists:
            return []
        field, kind = self.random.choice(lists)
        node, name = Variable("t", takes), self.name("placed")
        self.declare(
            "cell+cell of several keys+range of a key by the input",
            name,
            f"cell {name}(t: {takes}, j in 0..len(t.{field})) -> f32[d] {{ let x = t.{field}[j]; ",
            self.expression("vec", Scope([node, Variable("j", "int"), Variable("x", grammar.ELEMENT.get(kind, kind[1:-1]))], cells), 1),
            " }",
        )
        self.declare(
            "fn on nodes",
            f"by_{name}",
            f"fn by_{name}(t: {takes}) -> f32[d] {{ 0.3 * sum(j in 0..len(t.{field})) {{ {name}(t, j) }} }}",
        )
        return [Cell(f"by_{name}", takes, "vec")]

    def list_cell(self, cells):
        takes = [name for name, constructors in self.types.items() if len(constructors) == 1]
        if not takes or not self.chance(0.8):
            return []
        takes, name = takes[0], self.name("list")
        scope = Scope(
            [Variable("t", takes)] + [Variable(f"t.{field}", kind, True) for field, kind in self.types[takes][0][1]],
            cells,
        )
        self.declare(
            "cell+cell of list",
            name,
            f"cell {name}(t: {takes}) -> [f32[d]] {{ ",
            self.expression("list", scope, 2),
            " }",
        )
        return [Cell(name, takes, "list")]

    def entry(self, tags, head, *children):
        self.declare(tags, head.split("(")[0], ("loss " if "loss" in tags else "entry ") + head, *children, kind="entry")

    def labels(self, root, cell, scope):
        """What each call that one leads to gives, beside its node."""
        inner = Scope([Variable("n", root), Variable("z", cell.gives)], scope.cells)
        self.entry(
            "entry for every call",
            f"labels(t: {root}) -> [f32[d]] {{ map((n, z) in every({cell.name}(t",
            *(self.values(cell, scope) if cell.captured else []),
            "))) ",
            self.block("vec", inner, 1),
            " }",
        )

    def entries(self, cells):
        root = self.random.choice([cell.takes for cell in cells if not cell.captured])
        scope = Scope([Variable("t", root, True)], cells)
        own = [cell for cell in cells if cell.takes == root and cell.gives != "list" and not cell.captured]
        for cell in {cell.gives: cell for cell in own[-2:]}.values():
            self.entry(
                "entry for the root",
                f"{self.name('root')}(t: {root}) -> {grammar.KINDS[cell.gives]} {{ {cell.name}(t) }}",
            )
        for cell in cells:
            if cell.gives == "list":
                self.entry(
                    "entry for the root+entry of a list",
                    f"{self.name('listed')}(t: {cell.takes}) -> [f32[d]] {{ {cell.name}(t) }}",
                )
        kind = self.random.choice(["vec", "f32", "rec", "lst", "mat", "tup"])
        vec = lambda more=(): self.expression("vec", scope.plus(*more), 2)
        options = [
            lambda: self.entry(
                "entry for every node+nodes",
                f"everywhere(t: {root}) -> [{grammar.KINDS[own[-1].gives]}] {{ map(n in nodes(t)) {{ {own[-1].name}(n) }} }}",
            ),
            lambda: self.entry(
                "entry for every list element",
                f"each(ts: [{root}]) -> [f32[d]] {{ map(t in ts) ",
                self.block("vec", scope, 1),
                " }",
            ),
            lambda: self.entry(
                "entry of a list of numbers",
                "words(ws: [index[vocab]]) -> [f32[d]] { ",
                self.expression("list", Scope([Variable("ws", "idxs")]), 2),
                " }",
            ),
            lambda: self.entry(
                "entry on several arguments",
                f"given(t: {root}, g: f32[d], s: State[d], y: index[d], n: int) -> {grammar.KINDS[kind]} ",
                self.block(
                    kind,
                    scope.plus(Variable("g", "vec"), Variable("s", "rec"), Variable("y", "lab"), Variable("n", "int")),
                    2,
                ),
            ),
            lambda: self.entry(
                "entry on several arguments",
                f"pair(t: {root}, u: {root}) -> f32[d] ",
                self.block("vec", scope.plus(Variable("u", root, True)), 2),
            ),
            lambda: self.entry(
                "loss+cross_entropy of an index",
                f"miss(t: {root}, y: index[d]) {{ cross_entropy(2.0 * ",
                vec(),
                ", y) }",
            ),
            lambda: self.entry(
                "loss+cross_entropy of a distribution",
                f"kl(t: {root}, y: f32[d]) {{ cross_entropy(2.0 * ",
                vec(),
                ", softmax(y)) }",
            ),
            lambda: self.entry(
                "loss for every node+nodes",
                f"all_miss(t: {root}, y: index[d]) {{ sum(n in nodes(t)) {{ cross_entropy(2.0 * ",
                self.expression("vec", Scope([Variable("n", root, True)], cells), 1),
                ", y) } }",
            ),
            lambda: self.entry(
                "loss with outputs+binary_cross_entropy",
                f"binary(t: {root}) -> (f32, f32[d]) {{ (binary_cross_entropy(tanh(",
                self.expression("f32", scope, 2),
                "), 1.0), ",
                vec(),
                ") }",
            ),
            lambda: self.entry(
                "entry for every list element+scan that stops is returned",
                f"stops(ts: [{root}]) -> [f32[d]] {{ scan(t in ts, s = ",
                self.expression("vec", Scope(), 0),
                " while sum(s) < 0.8171) ",
                self.block("vec", scope.plus(Variable("s", "vec")), 1, tamed=True),
                " }",
            ),
            lambda: self.entry(
                "entry of pairs",
                f"pairs(t: {root}, ps: [(f32[d], int)]) -> [(f32, index[d])] {{ map((p, i) in ps) {{ (",
                self.expression("f32", scope.plus(Variable("p", "vec"), Variable("i", "int")), 1),
                ", argmax(0.5 * p + b0)) } }",
            ),
            lambda: self.entry(
                "entry of integers",
                f"numbers(t: {root}, c: bool, z: bool[2], n: int[3]) -> (bool, int, index[d], int[3]) {{ (",
                self.expression("bool", scope.plus(Variable("c", "bool")), 2),
                ", ",
                self.expression("int", scope.plus(Variable("c", "bool")), 2),
                ", argmax(0.5 * ",
                self.expression("vec", scope.plus(Variable("z", "bits")), 1),
                " + b0), n % 5) }",
            ),
            lambda: self.entry(
                "entry of lists of lists",
                f"nested(t: {root}, rs: [[f32[d]]]) -> [[f32[d]]] {{ map(r in rs) {{ map(x in r) ",
                self.block("vec", scope.plus(Variable("x", "vec"), Variable("r", "vecs")), 1),
                " } }",
            ),
            lambda: self.entry(
                "entry of a list of records",
                f"states(ts: [{root}]) -> [State[d]] {{ map(t in ts) ",
                self.block("rec", scope, 1),
                " }",
            ),
            lambda: self.entry(
                "fn on nodes+entry for every list element",
                f"viewed(ts: [{root}]) -> [f32[d]] {{ map(t in ts) {{ view(t) }} }}",
            ),
        ]
        labelled = [cell for cell in cells if cell.takes == root and cell.name.startswith(("cell", "given"))]
        if labelled:
            options.append(lambda: self.labels(root, self.random.choice(labelled), scope))
        for option in self.random.sample(options, 3):
            option()
        self.declare("fn on nodes", "view", f"fn view(t: {root}) -> f32[d] ", self.block("vec", scope, 1))
