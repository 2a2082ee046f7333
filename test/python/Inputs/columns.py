"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import common
import dbc
import numpy as np
from common import raises

m = dbc.load(common.model("dense"))
leaf = lambda row: m.Leaf(x=x[row])
x = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
expected = m.code([m.Node(leaf(0), leaf(1)), leaf(2)])


def columns(**changes):
    tree = dict(kind=[0, 0, 1, 0], begin=[0, 3, 4], left=[0] * 4, right=[0, 0, 1, 0], x=x[[0, 1, 3, 2]])
    args = changes.pop("args", {"t": [2, 3]})
    tree.update(changes)
    return m.columns(2, {"Tree": {name: value for name, value in tree.items() if value is not None}}, args)


assert (m.code(columns()) == expected).all()
# Any integer type, order and stride; read-only; other floats; other byte orders.
floats = np.asfortranarray(x[[0, 1, 3, 2]])
frozen = x[[0, 1, 3, 2]]
frozen.flags.writeable = False
wide = np.zeros((8, 4), np.float32)
wide[::2] = frozen
for given in (floats, frozen, wide[::2], frozen.astype(np.float64), frozen.astype(">f4"), frozen.tolist()):
    assert (m.code(columns(x=given)) == expected).all()
for kind in (np.int8, np.uint16, np.int64, np.uint64, ">i4"):
    assert (m.code(columns(right=np.array([0, 9, 0, 9, 1, 9, 0], kind)[::2])) == expected).all()
assert (m.code(columns(kind=np.array([False, False, True, False]))) == expected).all()

# float32 is borrowed: a change is seen. What is structure is copied: it stays as it was checked.
right = np.array([0, 0, 1, 0], np.int32)
held = frozen.copy()
batch = columns(x=held, right=right)
assert (m.code(batch) == expected).all()
right[:] = 10**9
assert (m.code(batch) == expected).all()
held[:] = 0
assert not m.code(batch).any()
del held, right
assert not m.code(batch).any()  # the batch keeps what it borrows

# What does not fit.
for changes, message in [
    (dict(begin=None), "Tree: `begin` is missing: the first node of each input, then the number of nodes"),
    (dict(begin=[0, 4]), "`begin` has a number for each input, and one more"),
    (dict(kind=[0, 0, 1]), "`kind` has a number for each node"),
    (dict(kind=[0, 0, 300, 0]), "Tree: `kind`: a number is outside 0..255"),
    (dict(kind=["a"] * 4), "Tree: `kind`: expected an array of uint8 or bool, found one of <U1"),
    (dict(left=[0.5] * 4), "Tree: `left`: expected an array of int32, found one of float64"),
    (dict(left=[0, 0, 2**40, 0]), "Tree: `left`: an integer is outside the 32 bits that it has"),
    (dict(x=[1j] * 16), "Tree: `x`: expected an array of float32, found one of complex128"),
    (dict(y=[1]), "Tree has no column `y`; it has `x`, `left`, `right`"),
    (dict(args={"u": [1]}), "arguments has no column `u`; it has `t`, `g`, `y`"),
]:
    with raises(dbc.CallError, message):
        columns(**changes)
with raises(dbc.CallError, "the model has no data type `Bush`; it has `Tree`"):
    m.columns(1, {"Bush": {}})
for changes, message in [
    (dict(kind=None), "dense: borrow_nodes: Tree has several constructors, kinds must be given"),
    (dict(begin=[0, 5, 4]), "dense: borrow_nodes: begin of Tree falls at input 1"),
    (dict(begin=[0, -1, 4]), "dense: borrow_nodes: begin of Tree falls at input 0"),
    (dict(x=x[:3]), "dense: Tree: field `x`: 16 values are needed, 12 were given"),
]:
    with raises(dbc.CallError, message):
        m.code(columns(**changes))
for changes, field, what in [(dict(kind=[0, 0, 7, 0]), "", "constructor"), (dict(right=[0, 0, 3, 0]), "right", "input"), (dict(right=[0, 0, -5, 0]), "right", "")]:
    try:
        m.code(columns(**changes))
    except dbc.InputError as error:
        assert error.input == 0 and error.field == field and what in str(error), (str(error), error.field)
        assert (error.result[1] == expected[1]).all()
    else:
        raise AssertionError(changes)

# Lists: offsets and values that do not belong together are refused by the runs that read them.
f = dbc.load(common.model("fields"))


def lists(**changes):
    token = {"begin": [0, 1, 2], "word": [0, 1], "class": [3, 4], "flag": [True, False], "deps": ([0] * 3, []), "xs": ([0, 1, 2], [[1, 2], [3, 4]]),
             "ys": ([0, 1, 2], [0, 2, 3], [1, 2, 3]), **changes}
    return f.columns(2, {"Token": token}, {"t": [0, 1], "p.a": [1, 2], "p.b": [[1, 2], [3, 4]], "q.0": ([0] * 3, []), "q.1": ([0] * 3, [])})


assert f.report_(lists())[0].tolist() == [3, 7]
for changes, message in [
    (dict(xs=([0, 1, 2], [[1, 2], [3, 4], [5, 6]])), "`xs`: 4 values are needed, 6 were given"),
    (dict(xs=([0, 1, 2], [1, 2, 3])), "`xs`: 4 values are needed, 3 were given"),
    (dict(xs=([0, 1], [[1, 2], [3, 4]])), "`xs`: 3 offsets are needed, 2 were given"),
    (dict(ys=([0, 1, 2], [0, 2, 3], [1, 2, 3, 4])), "`ys`: 3 values are needed, 4 were given"),
    (dict(ys=([0, 1, 2], [0, 2, 3, 4], [1, 2, 3, 4])), "`ys`: 3 offsets are needed, 4 were given"),
]:
    batch = lists(**changes)
    with raises(dbc.CallError, "fields: Token: field " + message, code="bad_call"):
        f.report_(batch)
    assert f.load(batch) == [0, 1]  # which reads none of them
with raises(dbc.CallError, "Token: `xs` is a list: a tuple of 1 array(s) of offsets and one of values"):
    lists(xs=[[1, 2], [3, 4]])
