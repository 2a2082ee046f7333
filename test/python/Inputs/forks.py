"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import gc
import os
import signal
import traceback

import common
import dbc

# A forked process does not have the threads of a model: it is told so, and neither a run nor the end of the model waits for them.
# One model is gone there; one thread, and a model that is loaded there, compute.
several, one = dbc.load(common.model("tree"), vocab=20, threads=2), dbc.load(common.model("tree"), vocab=20)
leaves = [several.Leaf(i % 20) for i in range(400)]
wanted = several.code(leaves)
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        with common.raises(dbc.CallError, "tree: the model's 2 threads are not in this forked process: load the model here, or with "
                           "threads=1"):
            several.code(leaves)
        assert (one.code(leaves) == wanted).all()
        del several
        gc.collect()
        assert (dbc.load(common.model("tree"), vocab=20, threads=2).code(leaves) == wanted).all()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (several.code(leaves) == wanted).all()
