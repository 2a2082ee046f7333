"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import sys

sys.path.insert(0, sys.argv[1])

import common
import dbc

assert dbc.__file__.startswith(sys.argv[1])
m = dbc.load(common.model("tree"), vocab=20)
assert m.code([m.Leaf(3)]).shape == (1, 4) and m.report().data["model"] == "tree"
