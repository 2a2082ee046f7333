"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import gc

import common
import dbc
from common import raises

# Fields that are called like what a constructor calls, or like what means something to Python.
w = dbc.load(common.model("words"))
assert w.e([w.A(type=1, int=2, float=0.5, bool=True), w.A(2, 3, 1, False)]).tolist() == [3.5, 6]
with raises(dbc.InputError, "words: A: field `type`: index 3 is outside 0..2", field="type"):
    w.A(type=3)
with raises(dbc.InputError, "words: A: field `bool`: expected a bool, found an `int`", field="bool"):
    w.A(bool=1)
given = dict(self__=1, self_=2, __x=3, __doc___=4, __init___=5, _type=6, lambda__=7, lambda_=8)
b = w.B(**given)
assert w.e([b]).tolist() == [1 + 4 + 12 + 32 + 80 + 192 + 448 + 1024]
attributes = ["self", "self_", "__x", "__doc___", "__init___", "_type", "lambda", "lambda_"]
assert [getattr(b, name) for name in attributes] == list(range(1, 9)), b
assert w.B.__match_args__ == (*attributes, "next")
setattr(b, "__x", 4)
assert w.e([b, w.B(*range(1, 9))]).tolist() == [1797, 1793]
with raises(dbc.InputError, "words: B: field `__x`: expected a number, found a `str`", field="__x"):
    w.B(__x="3")

# A node keeps what the next load of such a model goes by; one of a model with other data types is refused as that.
m = dbc.load(common.model("tree"), vocab=20)
x = m.Leaf(word=3)
before = m.code([x])
del m
gc.collect()
m = dbc.load(common.model("tree"), vocab=20)
assert (m.code([m.Node(left=x, right=m.Leaf(word=4))]) == m.code([m.Node(left=m.Leaf(3), right=m.Leaf(4))])).all()
assert (m.code([x]) == before).all() and type(x) is m.Leaf
other = dbc.load(common.model("tree"), vocab=21)
what = "expected a `Tree`, found a `Leaf` of a model `tree` with other data types"
with raises(dbc.InputError, "tree: input 0: argument `t`: " + what, field="t"):
    other.code([x])
with raises(dbc.InputError, "tree: Node: field `left`: " + what, field="left"):
    other.Node(left=x)

# A finite number is not made infinite.
for value in (1e39, -1e39, 10**400, 2.0**128 - 2.0**103):
    with raises(dbc.InputError, "words: A: field `float`: a number is outside the 32 bits that it has", field="float"):
        w.A(float=value)
assert [w.A(float=value).float for value in (3.4028235e38, -2)] == [3.4028235e38, -2]
