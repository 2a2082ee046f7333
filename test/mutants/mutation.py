# Valid models and what mutation makes of them. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import collections
import glob
import os
import random
import re
import sys

TOKEN = re.compile(
    r"(?P<space>(?:\s|//[^\n]*|/\*.*?\*/)*)"
    r"(?P<token>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\w+|->|=>|\.\.|\|\||&&|[=!<>]=|\S)?",
    re.S,
)
# Tokens that can stand for one another; further ones are numbers, names, or kinds of their own.
KINDS = {
    token: kind
    for kind, tokens in {
        "arithmetic": "+ - * / % @",
        "comparison": "== != < <= > >=",
        "logic": "&& ||",
        "truth": "true false",
        "function": "fn cell",
        "entry": "entry loss",
        "elementwise": "exp log sqrt abs sin cos tanh sigmoid relu gelu softplus square detach",
        "of two": "pow maximum minimum div",
        "reduction": "sum mean max min logsumexp argmax any all softmax log_softmax",
        "loop": "scan scan_back fold",
        "filled": "zeros ones fill iota",
        "scalar": "f32 int bool",
        **{word: word for word in "model module import dim const data record param layer let if else match in by while".split()},
    }.items()
    for token in tokens.split()
}
# What is drawn in the place of any token.
ANYTHING = "0 1 2 0.5 1e30 1e-30 1e39 2147483647 2147483648 9223372036854775808 axis _ $".split()
FOLDERS = ["examples/*", "test/models", "test/property", "test/lower", "test/robust/Inputs", "test/docs/support"]
HEADER = 3  # `model name ;` stays


def tokens(text):
    """(what stands before it, token) of each token."""
    return [(m["space"], m["token"]) for m in TOKEN.finditer(text) if m["token"]]


def kind(token):
    """Tokens of one kind can stand in the same places."""
    if token[0].isdigit():
        return "number"
    return KINDS.get(token) or ("name" if token[0].isalpha() or token[0] == "_" else token)


def joined(tokens):
    text = ""
    for space, token in tokens:
        # Two words that a deletion has made neighbours stay two.
        apart = space or (re.search(r"\w$", text) and re.match(r"\w", token))
        text += (space or " " if apart else "") + token
    return text + "\n"


class Model:
    """A valid model. `dims` are the numbers that the command line gives; `folder` is where its modules lie; a module has a
    `user`, a model that imports it."""

    def __init__(self, name, text, dims=None, folder="", user=None):
        self.name, self.tokens, self.dims, self.folder, self.user = name, tokens(text), dims or {}, folder, user


def unbound(text):
    """The dims that a text gives no number, which are those that the command line must bind."""
    words = [token for _, token in tokens(text)]
    dims, inside = [], False
    for before, word, after in zip(words, words[1:], words[2:]):
        inside = inside and before != ";" or before == "dim"
        if inside and before in ("dim", ",") and after in (",", ";") and kind(word) == "name":
            dims.append(word)
    return dims


def all_models(root, scratch):
    """The repository's own models. Those of the manual are written into `scratch`, where their modules are."""
    # What a test binds to show that it is refused stands behind `not`.
    given = lambda text: dict(re.findall(r"-D\s?(\w+)=(\d+)", re.sub(r"RUN: not .*", "", text)))
    models = []
    for folder in FOLDERS:
        for path in sorted(glob.glob(f"{root}/{folder}/*.dyn")):
            with open(path) as file:
                text = file.read()
            models.append(Model(os.path.relpath(path, root), text, given(text), os.path.dirname(path)))
    sys.path.append(f"{root}/test/docs")
    import reference

    with open(f"{root}/dsl/REFERENCE.md") as file:
        manual = reference.programs(list(reference.sectioned(file.read())), root, scratch)
        for program in manual:
            program.write()
            block = program.block
            if re.search(r"^model ", block.content, re.M) and (program.inputs or not program.printed):
                models.append(
                    Model(f"REFERENCE.md:{block.line}", block.content, given(block.info), program.folder)
                )
    return models


class Mutator:
    """Draws mutants; each depends on the seed and its own number alone."""

    def __init__(self, seed, models, root, scratch):
        self.seed, self.models, self.scratch = seed, models, scratch
        self.users = [model for model in models if "nn" in [token for _, token in model.tokens]]
        with open(f"{root}/dsl/lib/nn.dyn") as file:
            self.library = file.read()
        sys.path.append(f"{root}/test/property")
        from programs.tree import write_modules

        write_modules(scratch)

    def drawn(self, number):
        """A random program."""
        from programs.declarations import Declarations
        from programs.tree import merged

        text, dims = merged([Declarations(number, self.seed, collections.Counter()).program()])
        return Model(f"random program {number}", text, dims, self.scratch)

    def mutant(self, number):
        """(a model, what was done to it, the mutant's text)"""
        rng = random.Random(f"{self.seed}/{number}")
        way = rng.random()
        if way < 0.05:
            model = Model("nn.dyn", self.library, user=rng.choice(self.users))
        else:
            model = self.drawn(number) if way < 0.2 else rng.choice(self.models)
        tokens, done = list(model.tokens), []
        while not done or (len(tokens) > HEADER and rng.random() < 0.15):
            before = list(tokens)
            how = mutate(rng, tokens, rng.choice(self.models).tokens)
            if tokens != before:
                done.append(how)
        return model, done, joined(tokens)


def mutate(rng, tokens, others):
    """Changes `tokens`, a model's tokens, in place, by those of another one too; says how."""
    at = rng.randrange(HEADER, len(tokens))
    space, token = tokens[at]
    way, weight = zip(*WAYS)
    way = rng.choices(way, weight)[0]
    way(rng, tokens, at, others)
    return f"{way.__name__} at `{token}`"


def end_of_phrase(tokens, at):
    """Where what stands before a comma, a semicolon or a closing bracket ends, or a place not far behind."""
    depth = 0
    for end in range(at, min(len(tokens), at + 40)):
        token = tokens[end][1]
        depth += (token in "([{") - (token in ")]}")
        if depth < 0 or (depth == 0 and token in ",;"):
            break
    return end


#---- Ways to change a model: each changes `tokens` at a place, by tokens of `others` ----


def delete(rng, tokens, at, others):
    del tokens[at]


def delete_phrase(rng, tokens, at, others):
    del tokens[at : end_of_phrase(tokens, at)]


def repeat(rng, tokens, at, others):
    tokens[at:at] = tokens[at : at + rng.randint(1, 6)]


def swap(rng, tokens, at, others):
    """With the next one."""
    tokens[at : at + 2] = tokens[at : at + 2][::-1]


def exchange(rng, tokens, at, others):
    """With one of its kind anywhere."""
    places = [i for i in range(HEADER, len(tokens)) if kind(tokens[i][1]) == kind(tokens[at][1])]
    to = rng.choice(places)
    (one, a), (two, b) = tokens[at], tokens[to]
    tokens[at], tokens[to] = (one, b), (two, a)


def move(rng, tokens, at, others):
    token = tokens.pop(at)
    tokens.insert(rng.randint(HEADER, len(tokens)), token)


def insert(rng, tokens, at, others):
    tokens.insert(at, (" ", rng.choice(tokens)[1]))


def insert_other(rng, tokens, at, others):
    tokens.insert(at, (" ", rng.choice(others)[1]))


def replace(rng, tokens, at, others):
    """By one of its kind."""
    alike = [token for _, token in tokens + others if kind(token) == kind(tokens[at][1])]
    tokens[at] = (tokens[at][0], rng.choice(alike))


def replace_near(rng, tokens, at, others):
    """By one of its kind not far away, before which or behind which stands the same."""
    near = range(max(HEADER, at - 80), min(at + 80, len(tokens) - 1))
    what = lambda i: kind(tokens[i][1]) if i < len(tokens) else ""
    alike = [
        tokens[i][1]
        for i in near
        if what(i) == what(at) and (what(i + 1) == what(at + 1) or what(i - 1) == what(at - 1))
    ]
    tokens[at] = (tokens[at][0], rng.choice([token for token in alike if token != tokens[at][1]] or [tokens[at][1]]))


def replace_by_anything(rng, tokens, at, others):
    tokens[at] = (tokens[at][0] or " ", rng.choice(ANYTHING))


def replace_phrase(rng, tokens, at, others):
    """What stands between brackets and commas by another such phrase, behind tokens of the same kinds."""
    begin = collections.defaultdict(list)
    for i in range(HEADER, len(tokens) - 1):
        if tokens[i][1] in ("(", "[", "{", ",", "=", ";", "=>"):
            begin[kind(tokens[i - 1][1]), tokens[i][1]].append(i + 1)
    one, two = rng.choices(rng.choice(list(begin.values()) or [[HEADER]]), k=2)
    tokens[one : end_of_phrase(tokens, one)] = tokens[two : end_of_phrase(tokens, two)]


def graft(rng, tokens, at, others):
    """A few tokens of another model in the place of one."""
    begin = rng.randrange(len(others))
    tokens[at : at + 1] = others[begin : begin + rng.randint(2, 8)]


WAYS = [
    (delete, 2),
    (delete_phrase, 3),
    (repeat, 1),
    (swap, 1),
    (exchange, 4),
    (move, 1),
    (insert, 1),
    (insert_other, 1),
    (replace, 3),
    (replace_near, 10),
    (replace_phrase, 12),
    (replace_by_anything, 1),
    (graft, 0.5),
]
