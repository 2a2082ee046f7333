"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import inspect
import os
import pathlib
import pickle
import sys

import common
import dbc
import numpy as np
from common import raises



def raised(use):
    """The InputError of a use."""
    try:
        use()
    except dbc.InputError as error:
        return error
    raise AssertionError


scratch = sys.argv[1]
tree = common.model("tree")
m = dbc.load(tree, vocab=20)
Leaf, Node = m.Leaf, m.Node

# Compiling.
try:
    dbc.load(tree)
except dbc.CompileError as error:
    assert error.code == "bad_model" and str(error) == error.diagnostics + "\nin Python: `-Dvocab=100` is `dbc.load(.., vocab=100)`"
    assert error.diagnostics.startswith(tree + ":2:5: error: dim `vocab` has no value [N5]"), error.diagnostics
else:
    raise AssertionError
# The program's options are those of dbc.load in its words.
assert dbc._compile.ARGUMENTS == {*inspect.signature(dbc.load).parameters} - {"more_dims"}
for name, text in [("options", "dim a, seed, lambda, b = 2 * a; entry e(x: f32[a, seed, lambda, b]) -> f32 { 1.0 }"), ("imports", "import nowhere;"),
                   ("doubles", "param w: f64; entry e() -> f32 { 1.0 }")]:
    with open(f"{scratch}/{name}.dyn", "w") as file:
        file.write(f"model {name}; {text}")
for source, options, said in [
    (scratch + "/options.dyn", {"b": 4}, ["`-Da=100` is `dbc.load(.., a=100)`", '`-Dseed=100` is `dbc.load(.., dims={"seed": 100})`',
                                          '`-Dlambda=100` is `dbc.load(.., dims={"lambda": 100})`', "`-Db` is `dbc.load(.., b=..)`"]),
    (scratch + "/imports.dyn", {}, ["`-I` is `dbc.load(.., include=..)`"]),
    (scratch + "/doubles.dyn", {}, ['`--real f64` is `dbc.load(.., real="f64")`']),
    (tree, {"vocab": 20, "e": 1}, ["`-De` is `dbc.load(.., e=..)`"]),
    (tree, {"vocab": 20, "gradients": "Tree.word"}, ["`--gradient` is `dbc.load(.., gradients=..)`", '`--mode train` is `dbc.load(.., mode="train")`']),
    (tree, {"vocab": 20, "gradients": "x", "mode": "train"}, ["`--gradient` is `dbc.load(.., gradients=..)`"]),
]:
    try:
        dbc.load(source, **options)
    except dbc.CompileError as error:
        assert str(error) == error.diagnostics + "\nin Python: " + ", ".join(said), str(error)
    else:
        raise AssertionError
with raises(dbc.CallError, "dim `vocab` is a number, not a `str`", code="bad_call"):
    dbc.load(tree, vocab="20")
for options, what in [
    ({"dims": 3}, "`dims` is a dict of numbers by name, not a `int`"),
    ({"dims": {"a=1": 3}}, "`dims` has names of dims, not 'a=1'"),
    ({"vocab": 10**30}, "dim `vocab` is outside the 64 bits that it has"),
    ({"mode": "learn"}, "`mode` is \"infer\" or \"train\", not 'learn'"),
    ({"real": 64}, '`real` is "f32" or "f64", not 64'),
    ({"recompute": "all"}, "`recompute` is \"none\", \"cheap\" or \"cells\", not 'all'"),
    ({"gradients": 3}, "`gradients` is names, not a `int`"),
    ({"gradients": [3]}, "`gradients` has names, not a `int`"),
    ({"include": 3}, "`include` is paths, not a `int`"),
]:
    with raises(dbc.CallError, what):
        dbc.load(tree, **options)
with raises(dbc.CallError, "`threads` is 1 to 1024, not 0"):
    dbc.load(tree, vocab=20, threads=0)
with raises(dbc.CallError, "`threads` is 1 to 1024, not a `float`"):
    dbc.load(tree, vocab=20, threads=2.5)
with raises(dbc.CallError, "`seed` is 0 to 2**64 - 1, not -1"):
    dbc.load(tree, vocab=20, seed=-1)
with raises(dbc.CallError, "`seed` is 0 to 2**64 - 1, not -1"):
    m.set_dropout(-1)
with raises(dbc.CallError, "`step` is 0 to 2**63 - 1, not a `float`"):
    m.set_dropout(1, 1.5)
try:
    dbc.load(os.fsdecode(b"caf\xe9.dyn"))
except dbc.CompileError as error:
    assert str(error) == "dbc: error: `caf\\xe9.dyn` cannot be read: No such file or directory", str(error)
else:
    raise AssertionError
kept = os.environ.pop("DBC_EXECUTABLE")
os.environ["DBC_EXECUTABLE"] = "/nowhere/dbc"
with raises(dbc.CompileError, "DBC_EXECUTABLE is `/nowhere/dbc`, which is no program"):
    dbc.load(tree, vocab=20)
os.environ["DBC_EXECUTABLE"] = kept

# What is no batch, no weights and no gradient.
with raises(dbc.CallError, "a batch is a sequence of inputs, such as a list of dicts, not a dict"):
    m.code({"t": Leaf(word=3)})
with raises(dbc.WeightsError, "tree: weights are a dict of arrays or the path of a file, not a `ndarray`"):
    m.set_weights(np.zeros(3))
with raises(dbc.CallError, "a step takes the gradients that `value_and_grad` gave, not a `int`"):
    dbc.Adam(m).step(1)

# Arguments of other types, and too many or too few: named as they were written.
optimizer = dbc.SGD(m)
for use, what in [
    (lambda: m.share_subtrees(1), "`on` is True or False, not a `int`"),
    (lambda: m.columns(-1), "`inputs` is 0 to 2**31 - 1, not -1"),
    (lambda: m.columns(2**31), "`inputs` is 0 to 2**31 - 1, not 2147483648"),
    (lambda: m.columns(1, [1]), "`data` is a dict of arrays by name, not a `list`"),
    (lambda: m.columns(1, {"Tree": 3}), "`Tree` is a dict of arrays by name, not a `int`"),
    (lambda: m.columns(1, args=3), "`args` is a dict of arrays by name, not a `int`"),
    (lambda: dbc.Adam(3), "an optimizer is of a `dbc.Model`, not a `int`"),
    (lambda: dbc.Adam(m, lr="x"), "`lr` is a number, not a `str`"),
    (lambda: setattr(optimizer, "momentum", True), "`momentum` is a number, not a `bool`"),
    (lambda: setattr(optimizer, "lazy_rows", None), "`lazy_rows` is True or False, not a `NoneType`"),
    (lambda: optimizer.freeze(3), "`name` is that of a parameter, not a `int`"),
    (lambda: optimizer.freeze("W", 1), "`frozen` is True or False, not a `int`"),
    (lambda: optimizer.set_weight_decay("W", None), "`weight_decay` is a number, not a `NoneType`"),
    (lambda: optimizer.set_lr_scale("W", [1]), "`factor` is a number, not a `list`"),
    (lambda: dbc.write_stub(m.code, "x"), "a stub is of a `dbc.Model`, not a `Entry`"),
    (lambda: dbc.Batch(3), "a batch is made by the `batch` of an entry, or by the `columns` of a model"),
    (lambda: dbc.Entry(1, 2, 3, 4), "entries are made by dbc.load"),
]:
    with raises(dbc.CallError, what):
        use()
for use, what in [
    (lambda: m.code(), "Entry.__call__() missing 1 required positional argument: 'inputs'"),
    (lambda: m.code([], 1), "Entry.__call__() takes 2 positional arguments but 3 were given"),
    (lambda: m.code.batch(), "Entry.batch() missing 1 required positional argument: 'inputs'"),
]:
    with raises(TypeError, what):
        use()
optimizer.lr, optimizer.nesterov = np.float64(0.25), np.True_
assert optimizer.lr == 0.25 and optimizer.nesterov is True

# Constructors.
with raises(TypeError, "Leaf.__init__() got an unexpected keyword argument 'wrd'"):
    Leaf(wrd=3)
with raises(TypeError, "`Tree` is a data type: a node is made by one of its constructors"):
    m.Tree()
for value, what in [(20, "index 20 is outside 0..19"), (-1, "index -1 is outside 0..19"), (10**30, f"index {10**30} is outside 0..19"),
                    ("3", "expected an index[20], found a `str`"), (True, "expected an index[20], found a `bool`"), (1.0, "expected an index[20], found a `float`"),
                    (None, "expected an index[20], found a `NoneType`")]:
    with raises(dbc.InputError, "tree: Leaf: field `word`: " + what, field="word", input=None, node=None, code="bad_input"):
        Leaf(word=value)
with raises(dbc.InputError, "tree: Node: field `left`: expected a `Tree`, found an `int`", field="left"):
    Node(left=3)
assert isinstance(Leaf(np.int64(3)), m.Tree) and repr(Node(left=Leaf(3))) == "Node(left=<Leaf>)"

# What a node has become since then: in a batch it is looked at again.
bad = Leaf(word=1)
good = Node(left=Leaf(1), right=Leaf(2))
where = "tree: input 1: Tree node 2 (Leaf): field `word`: "
for value, what in [("x", "expected an index[20], found a `str`"), (False, "expected an index[20], found a `bool`"), (2**31, "an integer is outside the 32 bits that it has"),
                    (-(10**40), "an integer is outside the 32 bits that it has"), ([1], "expected an index[20], found a `list`"), (20, "index 20 is outside 0..19"),
                    (np.int64(-1), "index -1 is outside 0..19")]:
    bad.word = value
    with raises(dbc.InputError, where + what, input=1, node=2, field="word", object=bad):
        m.code([good, Node(left=Leaf(1), right=bad)])
with raises(dbc.InputError, "tree: input 0: Tree node 0 (Node): field `right` is not given, at tree.dyn:11:16", node=0, field="right"):
    m.code([Node(left=Leaf(1))])
loop = Node(left=Leaf(1))
loop.right = loop
with raises(dbc.InputError, "tree: input 0: Tree node 0 (Node): a value needs itself: encode(Tree node 0) -> encode(Tree node 0)", object=loop):
    m.code([loop])

# The other inputs are computed all the same, and each that is wrong has its error.
bad.word = 99
try:
    m.code([good, bad, loop, good])
except dbc.InputError as error:
    assert [each.input for each in error.errors] == [1, 2] and error.errors[0] is error
    assert (error.result[[0, 3]] == m.code([good, good])).all() and not error.result[[1, 2]].any()
else:
    raise AssertionError

# An error goes from process to process, as those of multiprocessing do; nodes stay where they are.
for error in (raised(lambda: m.code([good, bad, loop, good])), raised(lambda: Leaf(word="x")), raised(lambda: m.code([3]))):
    got = pickle.loads(pickle.dumps(error))
    assert type(got) is dbc.InputError and [str(each) for each in got.errors] == [str(each) for each in error.errors]
    assert [(each.input, each.node, each.field) for each in got.errors] == [(each.input, each.node, each.field) for each in error.errors]
    assert got.object is None and got.result is None and got.code == "bad_input"

# Where they give a node it is None: number 0 is another input's.
with open(scratch + "/itself.dyn", "w") as file:
    file.write("model itself; data T(word: index[3]); param E: f32[3]; entry e(t: T) -> (T, f32) { (t, E[t.word]) }")
itself = dbc.load(scratch + "/itself.dyn")
one, two = itself.T(1), itself.T(2)
two.word = 99
line = '{"nodes": [{"T": {"word": 0}}, {"T": {"word": %d}}], "args": {"t": 1}}\n'
for inputs, wanted in [([one, two, one], [one, None, one]), (line % 1 + line % 99 + "{", [1, None, None])]:
    try:
        itself.e(inputs)
    except dbc.InputError as error:
        assert error.result[0] == wanted, error.result
    else:
        raise AssertionError

# Inputs that are none.
f = dbc.load(common.model("fields"))
with raises(dbc.InputError, "tree: input 0: argument `t`: expected a `Tree`, found a `Token` of a model `fields` with other data types", input=0, field="t", node=None):
    m.code([f.Token(word=1)])
with raises(dbc.InputError, "fields: input 0: argument `o`: expected an `Other`, found a `Token`"):
    f.word([f.Token(word=1)])
with raises(dbc.InputError, "fields: input 0: argument `t`: expected a `Token`, found a `B` of `Other`"):
    f.load([f.B(a=1)])
for wrong in (3, None, good):
    with raises(TypeError, "a batch is a sequence of inputs"):
        m.code(wrong)
with raises(dbc.InputError, "tree: input 0: argument `t`: expected a `Tree`, found an `int`"):
    m.code(bytearray(b"abc"))
try:
    m.code("\ud800")
except UnicodeEncodeError:
    pass
else:
    raise AssertionError
for wrong, what in [([1, 2, 3], "`list` of 3"), ((1, 2), "`tuple` of 2"), (3, "`int`")]:
    found = "found an " if wrong == 3 else "found a "
    with raises(dbc.InputError, "fields: input 0: expected a tuple of the 3 arguments of `report`, or a dict of them, " + found + what):
        f.report_([wrong])
assert f.nothing([(), {}]).tolist() == [1, 1]
with raises(dbc.InputError, "fields: input 1: expected an empty tuple or dict, as `nothing` has no arguments, found a `list` of 0"):
    f.nothing([(), []])
with raises(dbc.InputError, "fields: input 0: `x` is no argument of `nothing`"):
    f.nothing([{"x": 1}])
with raises(dbc.InputError, "fields: input 0: `u` is no argument of `report`"):
    f.report_([{"u": 1}])
token = f.Token(word=1, flag=True, deps=[], xs=[], ys=[])
for pair, what in [(3, "expected a `Pair` with `a`, found an `int`"), ((1, 2, 3), "expected a `Pair` with `a`, found a `tuple` of 3"), ({"a": 1}, "expected a `Pair` with `b`, found a `dict` without it"),
                   ({"a": "1", "b": [1, 2]}, "expected a number, found a `str`"), ({"a": 1, "b": [1, 2], "c": 3}, "`c` is no field of `Pair`"),
                   ({"a": 1e39, "b": [1, 2]}, "a number is outside the 32 bits that it has"), ({"a": 1, "b": [1, 2, 3]}, "expected the shape [2], found [3]"),
                   ({"a": 1, "b": [[1, 2]]}, "expected the shape [2], found [1, 2]"), ({"a": 1, "b": ["x", "y"]}, "expected an array of float32, found one of <U1")]:
    field = "p.b" if "shape" in what or "array" in what or "`b`" in what else "p.a"
    with raises(dbc.InputError, f"fields: input 0: argument `{field}`: {what}", field=field):
        f.report_([(token, pair, [])])
for pairs, field, what in [([(token, 1), 3], "q.0`[1]", "expected a tuple of 2, found an `int`"), ([(token, 1), (1, 2, 3)], "q.0`[1]", "expected a tuple of 2, found a `tuple` of 3"),
                           ([(token, 1)] * 3 + [(token, "x")], "q.1`[3]", "expected a number, found a `str`")]:
    with raises(dbc.InputError, f"fields: input 0: argument `{field}: {what}", field=field[:3]):
        f.report_([(token, (1, [1, 2]), pairs)])
for name, value, what in [("deps", 3, "expected a list, found an `int`"), ("deps", "ab", "expected a list, found a `str`"), ("deps", [None], "[0]: expected a `Token`, found a `NoneType`"),
                          ("deps", [token, [token]], "[1]: expected a `Token`, found a `list` of 1"), ("xs", [[1, 2, 3]], "[0]: expected the shape [2], found [3]"), ("xs", np.zeros((2, 3)), "expected elements of the shape [2], found [3]"),
                          ("xs", np.float32(1), "expected a list, found a `numpy.float32`"), ("xs", np.ma.masked_array(np.zeros((1, 2), "f"), [[0, 1]]), "expected an array without a mask, found a masked one"),
                          ("ys", [[-1e300]], "[0][0]: a number is outside the 32 bits that it has"), ("ys", [[], [1, 2, "x"]], "[1][2]: expected a number, found a `str`"),
                          ("ys", [[], 3], "[1]: expected a list, found an `int`"), ("xs", [[1, 1e39]], "[0]: a number is outside the 32 bits that it has"), ("flag", 1, "expected a bool, found an `int`"),
                          ("class", np.zeros(2), "expected an int, found a `numpy.ndarray`")]:
    wrong = f.Token(word=1)
    setattr(wrong, name, value)
    what = what if what[0] == "[" else ": " + what
    with raises(dbc.InputError, f"fields: input 0: Token node 0: field `{name}`{what}", field=name, object=wrong):
        f.load([wrong])

# Inputs of any wrong shape fail alone, each with its error, whatever was read of them before; their batch may be run again.



def w(**fields):
    made = f.Token(word=1, class_=7, flag=True, deps=[], xs=[[1, 2], [3, 4]], ys=[[1], [2, 3]])
    for name, value in fields.items():
        setattr(made, name, value)
    return made


right = [w(), w(deps=[w()])]
wrong = [w(ys=[[1], [2, "x"]]), w(xs=[[1, 2, 3]]), w(deps=[w(), w(deps=[w(flag=3)])]), 3, w(deps=[3]), None, w(ys=[[1], 2])]
pair = (1, [2, 3])
mixed = [each for token in wrong for each in ((token, pair, []), (right[0], pair, [(right[1], 4)]))]
mixed += [(right[0], pair, [(right[0], 1), (right[1], "x")]), {"t": right[0], "p": pair, "q": []}, {"u": 1}, (right[1], pair, [(right[0], 5), (right[1], 6)])]
where = [1, 3, 5, 7, 9, 11, 13, 15, 17]
well = [mixed[number] for number in where]
batch = f.report_.batch(mixed)
for _ in range(2):
    try:
        f.report_(batch)
    except dbc.InputError as error:
        assert [each.input for each in error.errors] == sorted({*range(len(mixed))} - {*where}), [str(each) for each in error.errors]
        assert str(error.errors[0]) == "fields: input 0: Token node 0: field `ys`[1][1]: expected a number, found a `str`" and error.object is wrong[0]
        inner = error.errors[2]
        assert (inner.node, inner.field, inner.object) == (3, "flag", wrong[2].deps[1].deps[0]), str(inner)
        sums, pairs, firsts, lists, classes, flags = error.result
        one = f.report_(well)
        assert np.array_equal(sums[where], one[0]) and [lists[i][1].tolist() for i in where] == [each[1].tolist() for each in one[3]]
        assert [firsts[i].tolist() for i in where] == [each.tolist() for each in one[2]] and (classes[where] == 7).all() and flags[where].all()
        assert not sums[[each.input for each in error.errors]].any()
    else:
        raise AssertionError
assert len(batch) == len(mixed)

# A dict of the only argument is told from a record by its names.
with open(scratch + "/only.dyn", "w") as file:
    file.write("model only; record P { a: f32; } record Q { q: f32; } entry e(p: P) -> f32 { p.a } entry g(q: Q) -> f32 { q.q } "
               "entry h(x: f32[2]) -> f32 { sum(x) } entry l(xs: [f32]) -> f32 { sum(x in xs) x }")
only = dbc.load(scratch + "/only.dyn")
assert only.e([{"a": 3}, {"p": {"a": 4}}]).tolist() == [3, 4] and only.g([{"q": 3}]).tolist() == [3]
assert only.h([[1, 2], {"x": [3, 4]}]).tolist() == [3, 7] and only.l([{"xs": [1, 2]}, [3]]).tolist() == [3, 3]
assert (m.code([{"t": good}]) == m.code([good])).all()
for use, given, what in [(only.e, {"p": 1, "a": "x"}, "argument `p.a`: `p` is no field of `P`"), (only.h, {"y": 1}, "`y` is no argument of `h`"),
                         (only.h, {}, "argument `x` is not given"), (only.e, {"p": 3}, "argument `p.a`: expected a `P` with `a`, found an `int`")]:
    with raises(dbc.InputError, "only: input 0: " + what):
        use([given])


class Hostile:
    """An integer that changes the list in which it stands, or fails."""

    def __init__(self, act):
        self.act = act

    def __index__(self):
        return self.act()


numbers = [Hostile(lambda: numbers.clear() or 1)] * 100
assert f.both([([[1, 0], [0, 1]], numbers)])[1][0].tolist() == [1]
with raises(ZeroDivisionError, "integer division or modulo by zero"):
    f.both([([[1, 0], [0, 1]], [Hostile(lambda: 1 // 0)])])

# Lines.
with raises(dbc.InputError, "tree: line 2: node 0 (Leaf): field `word`: 99 is out of range for index[20]", input=1, node=0, field="word"):
    m.code('{"nodes": [{"Leaf": {"word": 1}}], "args": {"t": 0}}\n{"nodes": [{"Leaf": {"word": 99}}], "args": {"t": 0}}')
with raises(dbc.InputError, r"tree: line 2: not valid JSON at byte 1: syntax error while parsing value - invalid literal; last read: '\xff'", input=1):
    m.code(b'{"nodes": [{"Leaf": {"word": 1}}], "args": {"t": 0}}\n\xff')
with raises(dbc.FileError, scratch + "/none: No such file or directory", code="io"):
    m.code.batch(pathlib.Path(scratch) / "none")
# A name is not a file's text; what is none stays a line that is wrong.
there = scratch + "/there"
with open(there, "w") as file:
    file.write("in.jsonl")  # whatever stands there is not looked at
for name in (there, "../in.jsonl", "in.jsonl", os.fsencode(there)):
    with raises(dbc.CallError, f"{name!r} is no JSON lines, but the name of a file: `pathlib.Path({os.fsdecode(name)!r})` is what stands in it"):
        m.code(name)
for line in ("in.json", "in.jsonl\n", "x" * 5000 + ".jsonl", "a\0b.json", pathlib.Path(there)):
    assert str(raised(lambda: m.code(line))).startswith("tree: line 1: not valid JSON at byte "), raised(lambda: m.code(line))
assert m.code("").shape == m.code(b"").shape == m.code("\n").shape == (0, 4)

# Weights.
weights = m.weights()
weights["W"] = weights["W"][:, :3]
weights["b"] = ["x"] * 4
weights["c"] = weights.pop("E")
before = m.code([good])
with raises(dbc.WeightsError, "tree: `E` is missing; `W` has the shape [4, 3], not [4, 8]; `b`: expected an array of float32, found one of <U1; `c` is no parameter",
            code="bad_weights"):
    m.set_weights(weights)
with raises(dbc.WeightsError, "tree: `b`: a number is outside the 32 bits that it has"):
    m.set_weights({**m.weights(), "b": [1, 2, 1e300, 4]})
with raises(dbc.WeightsError, "tree: `b` has a NaN"):
    m.set_weights({**m.weights(), "b": [1, 2, np.nan, 4]})
assert (m.code([good]) == before).all()
try:
    m.set_weights(scratch + "/none.safetensors")
except dbc.FileError as error:
    assert "none.safetensors" in str(error)
else:
    raise AssertionError

# Paths: of any bytes but zero, as a str, bytes or a pathlib.Path.
odd = os.fsdecode(os.fsencode(scratch) + b"/w\xff")
for path in (odd, os.fsencode(odd), pathlib.Path(odd)):
    m.save_weights(path)
    m.set_weights(path)
    dbc.load(tree, vocab=20, weights=path)
    optimizer = dbc.SGD(m)
    optimizer.save(path)
    optimizer.load(path)
    dbc.write_stub(m, path)
    os.remove(path)
library = scratch + "/library"
os.mkdir(library)
with open(library + "/there.dyn", "w") as file:
    file.write("module there; fn twice(x: f32) -> f32 { 2 * x }")
with open(scratch + "/here.dyn", "w") as file:
    file.write("model here; import there; entry e(x: f32) -> f32 { there.twice(x) }")
here = scratch + "/here.dyn"
for path, folders in [(here, library), (os.fsencode(here), os.fsencode(library)), (pathlib.Path(here), [pathlib.Path(library)])]:
    assert dbc.load(path, include=folders).e([2]).tolist() == [4]
with open(odd, "w") as file:
    file.write('{"nodes": [{"Leaf": {"word": 1}}], "args": {"t": 0}}')
assert (m.code(pathlib.Path(odd)) == m.code([Leaf(1)])).all()
with raises(dbc.FileError, scratch + "/w\\xff/none: Not a directory"):
    m.code(pathlib.Path(odd + "/none"))
zero = scratch + "/a\0b"
for use in (m.save_weights, m.set_weights, dbc.SGD(m).save, dbc.SGD(m).load, dbc.load, lambda path: dbc.load(tree, vocab=20, include=path),
            lambda path: dbc.write_stub(m, path), lambda path: m.code(pathlib.Path(path))):
    with raises(dbc.CallError, f"the path {zero!r} has a zero byte"):
        use(zero)
assert not os.path.exists(scratch + "/a")

# A model that is not for training, and batches of other code.
with raises(dbc.CallError, '`far` has no gradients: load the model with mode="train"'):
    m.far.value_and_grad([(good, [0] * 4)])
t = dbc.load(tree, vocab=20, mode="train")
with raises(dbc.CallError, "`code` has no gradients: it is no loss"):
    t.code.value_and_grad([good])
with open(scratch + "/still.dyn", "w") as file:
    file.write("model still; loss far(x: f32) { x * x }")
n = dbc.load(scratch + "/still.dyn", mode="train")
with raises(dbc.CallError, "`far` has no gradients: it depends on no param, and on no field or argument that `gradients` of dbc.load has named"):
    n.far.value_and_grad([2])
with raises(dbc.CallError, "the batch is of the model `tree`, compiled with other options or from another file"):
    t.code(m.code.batch([good]))
with raises(dbc.CallError, "`weights` has 3 numbers, but the batch has 1 input"):
    t.far.value_and_grad([(good, [0] * 4)], weights=[1, 2, 3])
with raises(dbc.CallError, "`weights`: expected an array of float32, found one of <U1"):
    t.far.value_and_grad([(good, [0] * 4)], weights=["x"])
