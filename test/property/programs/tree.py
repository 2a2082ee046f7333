# A program as a tree of pieces, so that it can be counted, pruned and cut down. Part of dbc, under Apache-2.0 WITH
# LLVM-exception; see LICENSE.
import os
import re

WORD = re.compile(r"[A-Za-z_]\w*")

# Modules that programs import, by their files.
MODULES = {
    "deep/tools.dyn": """module tools;
const HALF = 0.5;
record Both[m] { x: f32[m]; y: f32[m]; }
fn ease[n](x: f32[n]) -> f32[n] { HALF * tanh(x) }
layer Gate[m] { param G: f32[m, m], g: f32[m] = 1; fn call(x: f32[m]) -> f32[m] { sigmoid(G @ x + g) * x } }
"""
}


def write_modules(folder):
    for name, text in MODULES.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


class Piece:
    """Text and other pieces. `kind` is the type of an expression, or what else it is: entry, decl, let, bind, field.

    `tags` name the constructs that this piece is an instance of. `names` are what a decl, let or bind gives a name to. A
    `group` stands in parentheses, with commas, and vanishes when nothing is left in it. `braced` pieces are blocks."""

    def __init__(self, kind, tags, *children, names=(), group=False, braced=False):
        self.kind, self.tags, self.children, self.names = kind, list(tags), list(children), list(names)
        self.group, self.braced = group, braced

    def __str__(self):
        if self.group:
            texts = [text for text in map(str, self.children) if text]
            return "(" + ", ".join(texts) + ")" if texts else ""
        return "".join(map(str, self.children))

    def walk(self):
        """This piece and all below it, from left to right."""
        yield self
        for child in self.children:
            if isinstance(child, Piece):
                yield from child.walk()

    def size(self):
        return sum(1 for _ in self.walk())


class Program:
    """Declarations, and the dims that the command line binds. Names of different programs may be equal: see merged()."""

    def __init__(self, number, root, dims):
        self.number, self.root, self.dims = number, root, dims

    def decls(self):
        return [piece for piece in self.root.children if str(piece)]

    def prune(self):
        """Drops what nothing uses, so that what is counted is also compiled."""
        while True:
            words = {}
            for word in WORD.findall(str(self.root)):
                words[word] = words.get(word, 0) + 1
            dead = [
                piece
                for piece in self.root.walk()
                if piece.kind in ("let", "bind") and piece.children and all(words[name] == 1 for name in piece.names)
            ]
            for piece in dead:
                piece.children, piece.tags = [], []
            if not dead:
                break
        owner = {name: decl for decl in self.root.children for name in decl.names}
        live, todo = set(), [decl for decl in self.root.children if decl.kind == "entry"]
        while todo:
            decl = todo.pop()
            if id(decl) not in live:
                live.add(id(decl))
                todo += [owner[word] for word in WORD.findall(str(decl)) if word in owner]
        self.root.children = [decl for decl in self.root.children if id(decl) in live and str(decl)]
        declared = {name for decl in self.root.children for name in decl.names}
        self.dims = {name: value for name, value in self.dims.items() if name in declared}
        return self


def merged(programs):
    """One model of several programs, whose names get a suffix each: its text and its dims."""
    text, dims = "model drawn;\nimport nn;\n", {}
    for program in programs:
        suffix = f"_p{program.number}" if len(programs) > 1 else ""
        names = [name for decl in program.decls() for name in decl.names]
        # `0..d` is a range, `s.d` a field.
        pattern = re.compile(r"(?<!\w)(?<!(?<!\.)\.)(" + "|".join(sorted(names, key=len, reverse=True)) + r")\b")
        text += "".join(pattern.sub(rf"\g<1>{suffix}", str(decl)) for decl in program.decls())
        dims.update({name + suffix: value for name, value in program.dims.items()})
    if "tools." in text:
        text = text.replace("import nn;\n", "import nn;\nimport deep.tools;\n", 1)
    return text, dims


def tidy(text):
    """Breaks long lines at blocks, so that a person can read the program."""
    lines = []
    for line in text.splitlines():
        if len(line) < 100:
            lines.append(line)
            continue
        out, depth = "", 0
        for piece in re.split(r"(\{ | \}|; | => )", line):
            depth += {"{ ": 1, " }": -1}.get(piece, 0)
            newline = "\n" + "  " * depth
            out += {"{ ": "{" + newline, " }": newline + "}", "; ": ";" + newline}.get(piece, piece)
        lines += out.splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip()) + "\n"
